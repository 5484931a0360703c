// LossChart: figures of training runs over steps, raw and smoothed. Points are appended while a run
// goes on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ui/charts/plot_panel.h"

class QTimer;

namespace cuset {

class LossChart : public PlotPanel {
    Q_OBJECT

public:
    explicit LossChart(QWidget* parent = nullptr);

    // The figure's name, and its unit if it has one.
    void setYTitle(const QString& title);
    // Returns the number of the new series. `color` and `style` are numbers of the theme's, -1 for
    // those of a series of its own.
    int addSeries(const QString& name, int color = -1, int style = -1);
    // What each line style stands for where colours tell runs apart: shown instead of the series'
    // names. Empty for none.
    void setStyleKeys(const QStringList& keys);
    int seriesCount() const { return static_cast<int>(series_.size()); }
    // Appends one point or several; steps ascend. A step that is not above the last one ends what
    // was there from it on: a resumed run goes over those steps again. The view follows in the next
    // turn of the event loop.
    void append(int series, double step, double value);
    void append(int series, std::span<const double> steps, std::span<const double> values);
    void setSeriesVisible(int series, bool visible);
    void clearSeries(int series);
    void clear();

    // Weight s in [0, 1) of what came before in the exponential mean m = s m + (1 - s) v, corrected
    // for its start at 0 (division by 1 - s^n); 0 shows the raw values alone.
    void setSmoothing(double weight);
    double smoothing() const { return smoothing_; }
    void setLogAxis(bool log);
    // The smoothed values of a series, [P]; NaN where the value is not finite.
    std::vector<double> smoothed(int series) const;

    bool isEmpty() const override;
    ChartTable table() const override;

protected:
    void fillSeries() override;
    void paintFront(QPainter& painter) const override;
    void hovered(const QPointF& position) override;
    void hoverEnded() override;
    QString tooltipAt(const QPointF& position) const override;
    void addMenuActions(QMenu& menu) override;

private:
    struct Series {
        QString name;
        int color = 0, style = 0;
        std::vector<double> steps, values, smooth; // [P]
        double mean = 0, weight = 0; // the smoothing's state after the last point
        bool visible = true;
        QLineSeries* raw = nullptr;
        QLineSeries* curve = nullptr;
    };
    void appendPoint(Series& series, double step, double value);
    void smoothAgain(Series& series) const;
    void smoothOne(Series& series, double value) const;
    void changed();
    QList<QPointF> drawnPoints(const Series& series, const std::vector<double>& values) const;
    std::int64_t nearestPoint(const Series& series, double step) const;
    double shownStep(double near) const;

    std::vector<Series> series_;
    QTimer* refresh_;
    QString yTitle_;
    QStringList styleKeys_;
    double smoothing_ = 0.95;
    double hoveredStep_;
    bool log_ = false;
};

} // namespace cuset
