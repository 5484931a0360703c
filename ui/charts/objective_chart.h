// ObjectiveChart: the weight of every token of one sample under each of the six objectives, one
// lane an objective, all on one scale, with each one's total push beside it.
#pragma once

#include <vector>

#include "core/analysis/objective_weights.h"
#include "ui/charts/plot_panel.h"

namespace cuset {

class ObjectiveChart : public PlotPanel {
    Q_OBJECT

public:
    explicit ObjectiveChart(QWidget* parent = nullptr);

    // The zoom is kept while the number of tokens stays the same.
    void setObjectives(SampleObjectives objectives);
    void clear() { setObjectives({}); }
    // The lane that is drawn strong: the objective whose push is shown elsewhere.
    void setChosen(TokenObjective objective);
    // Marks a token with a vertical line; -1 for none. Scrolls a zoomed view to it.
    void setMarkedToken(int token);
    int markedToken() const { return marked_; }
    int tokenAt(const QPointF& position) const; // -1 outside the plot
    TokenObjective laneAt(const QPointF& position) const;

    bool isEmpty() const override { return tokens() == 0; }
    ChartTable table() const override;

signals:
    void tokenClicked(int token);
    void tokenHovered(int token); // -1 when the pointer leaves

protected:
    void fillSeries() override;
    void paintBehind(QPainter& painter) const override;
    void paintFront(QPainter& painter) const override;
    void clicked(const QPointF& position) override;
    void hovered(const QPointF& position) override;
    void hoverEnded() override;
    QString tooltipAt(const QPointF& position) const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    int tokens() const { return static_cast<int>(objectives_.weights[0].size()); }
    double laneBase(int lane) const { return token_objective_count - 1 - lane; }
    double laneHeight(float weight) const; // within its lane
    void setHovered(int token);

    SampleObjectives objectives_;
    float most_ = 1; // the largest weight
    TokenObjective chosen_ = TokenObjective::cuset;
    int marked_ = -1;
    int hovered_ = -1;
    std::array<QLineSeries*, token_objective_count> lines_{};
};

} // namespace cuset
