// RunCharts: the figures of the selected runs by step, small multiples that follow live. Points are
// handed to the charts in pieces, so that a run of 100,000 steps never holds the window up.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include <QGridLayout>
#include <QScrollArea>
#include <QTimer>

#include "ui/charts/loss_chart.h"
#include "ui/training/run_follower.h"

namespace cuset {

class RunCharts : public QScrollArea {
    Q_OBJECT
public:
    explicit RunCharts(QWidget* parent = nullptr);

    // Draws these runs over one another. They tell of new points themselves.
    void setRuns(const std::vector<RunFollower*>& runs);
    void setSmoothing(double weight);
    double smoothing() const { return smoothing_; }
    void setLogAxis(bool log); // of the losses and the gradient norm
    bool isSettled() const { return waiting_.empty(); }
    std::vector<LossChart*> charts() const;
    // Points that a chart has of a run's first curve; for tests.
    std::size_t pointCount(int chart, int run) const;

signals:
    void exported(const QString& path);
    void exportFailed(const QString& text);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Curve {
        QString name; // added to the run's where a chart has several
        double StepEvent::*step = nullptr;
        double EvaluationEvent::*evaluation = nullptr;
    };
    struct Figure {
        QString title, explanation;
        std::vector<Curve> curves;
        bool smoothed = true;
        bool mayBeLog = false;
        LossChart* chart = nullptr;
    };
    // One chart's share of a run's points, from these places on.
    struct Piece {
        std::size_t run = 0, figure = 0;
        std::size_t step = 0, evaluation = 0;
    };
    void addFigure(Figure figure);
    void addSeries(const Figure& figure) const;
    void enqueue(std::size_t run, std::size_t firstStep, std::size_t firstEvaluation);
    void feed();
    void feedPiece(const Piece& piece);
    void place();

    std::vector<Figure> figures_;
    std::vector<RunFollower*> runs_;
    std::deque<Piece> waiting_;
    QTimer timer_;
    QGridLayout* grid_;
    double smoothing_ = 0.9;
    int columns_ = 0;
};

} // namespace cuset
