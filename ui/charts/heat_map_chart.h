// HeatMapChart: a figure over two settings as a grid of coloured cells with a colour bar; a click
// picks a cell.
#pragma once

#include <vector>

#include "ui/charts/chart_panel.h"
#include "ui/editor/color_scale.h"

namespace cuset {

struct HeatMap {
    QString xTitle, yTitle, valueTitle;
    std::vector<double> x; // [X] of the columns, ascending
    std::vector<double> y; // [Y] of the rows, ascending; the first row is drawn at the bottom
    std::vector<double> values; // [Y,X]; what is not finite is drawn as an empty cell
};

class HeatMapChart : public ChartPanel {
    Q_OBJECT

public:
    explicit HeatMapChart(QWidget* parent = nullptr);

    // A map whose values do not fill its grid is taken as empty.
    void setHeatMap(HeatMap map);
    void clear() { setHeatMap({}); }
    // Frames the cell nearest to these settings.
    void setCurrent(double x, double y);
    QRectF cellRect(int column, int row) const;

    bool isEmpty() const override { return map_.values.empty(); }
    ChartTable table() const override;
    void paintChart(QPainter& painter) const override;

signals:
    void cellClicked(int column, int row);
    void cellHovered(int column, int row); // also by the keys; -1, -1 when the pointer leaves
    // The context menu over a cell is about to open: actions may be added.
    void cellMenuRequested(QMenu* menu, int column, int row);

protected:
    void styleChanged() override { update(); }
    QString tooltipAt(const QPointF& position) const override;
    void addMenuActions(QMenu& menu) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Cell {
        int column = -1, row = -1;
        bool operator==(const Cell&) const = default;
    };
    int columns() const { return static_cast<int>(map_.x.size()); }
    int rows() const { return static_cast<int>(map_.y.size()); }
    double valueAt(const Cell& cell) const;
    Cell cellAt(const QPointF& position) const;
    QRectF plotRect() const;
    void paintCells(QPainter& painter) const;
    void paintFrame(QPainter& painter, const Cell& cell, const QColor& color) const;
    void paintTitles(QPainter& painter) const;
    void paintColorBar(QPainter& painter) const;

    HeatMap map_;
    ColorScale scale_;
    double currentX_, currentY_;
    Cell cursor_, hovered_;
};

} // namespace cuset
