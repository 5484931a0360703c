// SweepChart: what a corpus' figures would be at other values of tau, lambda or the window, with
// the present one marked.
#pragma once

#include <array>
#include <vector>

#include "core/analysis/sweep.h"
#include "ui/charts/plot_panel.h"

class QComboBox;

namespace cuset {

class SweepChart : public PlotPanel {
    Q_OBJECT

public:
    enum class Axis { tau, lambda, window }; // as SweepAxis
    Q_ENUM(Axis)

    explicit SweepChart(QWidget* parent = nullptr);

    // Of the points, those are drawn whose two other settings lie nearest to `current`.
    void setSweep(const std::vector<SweepPoint>& points, const MaskSettings& current);
    void setCurrent(const MaskSettings& current);
    void clear() { setSweep({}, current_); }
    void setAxis(Axis axis);
    Axis axis() const { return axis_; }

    bool isEmpty() const override { return points_.empty(); }
    ChartTable table() const override;

signals:
    // A point was clicked: the present settings with the chosen value of the axis.
    void settingsChosen(const cuset::MaskSettings& settings);

protected:
    void fillSeries() override;
    void paintFront(QPainter& painter) const override;
    void clicked(const QPointF& position) override;
    void hovered(const QPointF& position) override;
    void hoverEnded() override;
    QString tooltipAt(const QPointF& position) const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    static constexpr std::size_t figureCount = 4;
    void selectPoints();
    double place(double value) const; // on the x axis: log2 of lambda and window
    int nearest(double x) const; // index into shown_, -1 if there is none
    void choose(int index);

    std::vector<SweepPoint> points_;
    std::vector<SweepPoint> shown_; // along the axis, ascending
    MaskSettings current_;
    Axis axis_ = Axis::tau;
    int hovered_ = -1;
    QComboBox* axisBox_;
    std::array<QLineSeries*, figureCount> lines_{};
};

} // namespace cuset
