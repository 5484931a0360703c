// The view inside a PlotPanel: paints the panel's layers around Qt Charts' curves and turns mouse
// events into clicks, drags, zooms and pans. Ground, curves and what lies behind them are kept as a
// picture, so that a moved mark costs only itself.
#pragma once

#include <QPixmap>
#include <QtCharts/QChartView>

namespace cuset {

class PlotPanel;

class PlotView : public QChartView {
    Q_OBJECT

public:
    PlotView(QChart* chart, PlotPanel* panel);

    // Something below the marks is another.
    void forgetCurves();

protected:
    void paintEvent(QPaintEvent* event) override;
    void drawBackground(QPainter* painter, const QRectF& area) override;
    void drawForeground(QPainter* painter, const QRectF& area) override;
    void resizeEvent(QResizeEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    enum class Drag { none, undecided, panel, band, pan };
    void finishBand();
    void drawCurves();

    PlotPanel* panel_;
    QPixmap curves_; // null: to be drawn
    bool curvesOnly_ = false;
    Drag drag_ = Drag::none;
    QPointF pressedAt_, movedTo_;
    double panFrom_ = 0, panTo_ = 1;
};

} // namespace cuset
