#include "ui/charts/plot_view.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "ui/charts/plot_panel.h"

namespace cuset {

PlotView::PlotView(QChart* chart, PlotPanel* panel)
    : QChartView(chart, panel)
    , panel_(panel) {
    setFrameShape(QFrame::NoFrame);
    setRenderHint(QPainter::Antialiasing);
    setFocusPolicy(Qt::NoFocus);
    setMouseTracking(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(scene(), &QGraphicsScene::changed, this, &PlotView::forgetCurves);
}

void PlotView::forgetCurves() {
    curves_ = QPixmap();
    viewport()->update();
}

void PlotView::drawCurves() {
    const QSizeF size = QSizeF(viewport()->size()) * devicePixelRatioF();
    curves_ = QPixmap(size.toSize());
    curves_.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&curves_);
    painter.setRenderHint(QPainter::Antialiasing);
    curvesOnly_ = true;
    render(&painter, QRectF(viewport()->rect()), viewport()->rect());
    curvesOnly_ = false;
}

void PlotView::paintEvent(QPaintEvent*) {
    if (curves_.isNull() || curves_.deviceIndependentSize() != QSizeF(viewport()->size())
        || curves_.devicePixelRatio() != devicePixelRatioF())
        drawCurves();
    QPainter painter(viewport());
    painter.drawPixmap(0, 0, curves_);
    painter.setRenderHint(QPainter::Antialiasing);
    drawForeground(&painter, QRectF(viewport()->rect()));
}

void PlotView::drawBackground(QPainter* painter, const QRectF&) {
    panel_->paintGround(*painter);
    if (!panel_->isEmpty())
        panel_->paintBehind(*painter);
}

void PlotView::drawForeground(QPainter* painter, const QRectF&) {
    if (curvesOnly_)
        return;
    if (panel_->isEmpty()) {
        panel_->paintEmptyState(*painter, QRectF(QPointF(), QSizeF(panel_->chartSize())));
        return;
    }
    panel_->paintAxes(*painter);
    panel_->paintFront(*painter);
    if (drag_ == Drag::band) {
        const QRectF plot = panel_->plotRect();
        const double left = std::clamp(pressedAt_.x(), plot.left(), plot.right());
        const double right = std::clamp(movedTo_.x(), plot.left(), plot.right());
        QColor fill = palette().color(QPalette::Highlight);
        fill.setAlphaF(0.25f);
        painter->fillRect(
            QRectF(QPointF(left, plot.top()), QPointF(right, plot.bottom())).normalized(), fill);
    }
}

void PlotView::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    panel_->rebuild();
}

bool PlotView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        panel_->showTooltip(help->globalPos(), help->pos());
        return true;
    }
    if (event->type() == QEvent::Leave)
        panel_->hoverEnded();
    return QChartView::viewportEvent(event);
}

void PlotView::mousePressEvent(QMouseEvent* event) {
    const bool left = event->button() == Qt::LeftButton;
    const bool middle = event->button() == Qt::MiddleButton;
    if (panel_->isEmpty() || !(left || middle) || drag_ != Drag::none)
        return;
    panel_->setFocus(Qt::MouseFocusReason);
    pressedAt_ = movedTo_ = event->position();
    panFrom_ = panel_->visibleFrom();
    panTo_ = panel_->visibleTo();
    const bool pan = middle || event->modifiers().testFlag(Qt::ShiftModifier);
    if (pan && panel_->zoomable_)
        drag_ = Drag::pan;
    else if (left)
        drag_ = panel_->pressed(event->position()) ? Drag::panel : Drag::undecided;
}

void PlotView::mouseMoveEvent(QMouseEvent* event) {
    movedTo_ = event->position();
    const QRectF plot = panel_->plotRect();
    switch (drag_) {
    case Drag::none:
        if (!panel_->isEmpty())
            panel_->hovered(movedTo_);
        break;
    case Drag::undecided:
        if (panel_->zoomable_
            && std::abs(movedTo_.x() - pressedAt_.x()) >= QApplication::startDragDistance())
            drag_ = Drag::band;
        break;
    case Drag::panel:
        panel_->dragged(movedTo_);
        break;
    case Drag::band:
        panel_->repaintPlot();
        break;
    case Drag::pan: {
        const double shift =
            (pressedAt_.x() - movedTo_.x()) / std::max(1.0, plot.width()) * (panTo_ - panFrom_);
        panel_->showRange(panFrom_ + shift, panTo_ + shift);
        break;
    }
    }
}

void PlotView::mouseReleaseEvent(QMouseEvent* event) {
    movedTo_ = event->position();
    const Drag ended = drag_;
    drag_ = Drag::none;
    if (ended == Drag::panel)
        panel_->released(movedTo_);
    else if (ended == Drag::band)
        finishBand();
    else if (ended == Drag::undecided && panel_->plotRect().contains(pressedAt_))
        panel_->clicked(pressedAt_);
}

void PlotView::finishBand() {
    const double first = panel_->toValues(pressedAt_).x();
    const double second = panel_->toValues(movedTo_).x();
    panel_->showRange(std::min(first, second), std::max(first, second));
    panel_->repaintPlot();
}

void PlotView::mouseDoubleClickEvent(QMouseEvent*) {
    if (panel_->zoomable_)
        panel_->resetZoom();
}

void PlotView::wheelEvent(QWheelEvent* event) {
    if (!panel_->zoomable_ || panel_->isEmpty()) {
        event->ignore();
        return;
    }
    const QPoint turned = event->angleDelta();
    const bool sideways = event->modifiers().testFlag(Qt::ShiftModifier)
        || std::abs(turned.x()) > std::abs(turned.y());
    const double notches = (sideways && turned.x() != 0 ? turned.x() : turned.y()) / 120.0;
    if (sideways) {
        const double shift = -0.1 * notches * (panel_->visibleTo() - panel_->visibleFrom());
        panel_->showRange(panel_->visibleFrom() + shift, panel_->visibleTo() + shift);
    } else {
        panel_->zoomAbout(panel_->toValues(event->position()).x(), std::pow(0.8, notches));
    }
    event->accept();
}

void PlotView::contextMenuEvent(QContextMenuEvent* event) {
    panel_->contextMenuEvent(event);
}

} // namespace cuset
