// DataMapChart: samples by mean confidence over the checkpoints against its variability
// (Swayamdipta et al. 2020), coloured by the share of tokens that are the model's first choice.
#pragma once

#include <memory>

#include "core/analysis/data_map.h"
#include "ui/charts/plot_panel.h"

namespace cuset {

class DataMapChart : public PlotPanel {
    Q_OBJECT
public:
    explicit DataMapChart(QWidget* parent = nullptr);

    void setMap(std::shared_ptr<const DataMap> map); // null: nothing to show
    // The sample that is marked: an index of the first set (DataMapPoint::index), -1 for none.
    void setMarkedSample(int index);
    // The point nearest to a place of plotWidget(), within reach of a pointer; -1 for none.
    int pointAt(const QPointF& position) const;

    bool isEmpty() const override { return !map_ || map_->samples.empty(); }
    ChartTable table() const override;

signals:
    void sampleClicked(int index);

protected:
    void fillSeries() override;
    void paintFront(QPainter& painter) const override;
    void clicked(const QPointF& position) override;
    void hovered(const QPointF& position) override;
    void hoverEnded() override;
    QString tooltipAt(const QPointF& position) const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QPointF placeOf(const DataMapPoint& point) const;
    double radius() const;
    void paintRegions(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;

    std::shared_ptr<const DataMap> map_;
    int marked_ = -1;
    int hovered_ = -1; // in map_->samples
};

} // namespace cuset
