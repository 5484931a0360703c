#include "ui/charts/plot_panel.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QGraphicsLayout>
#include <QKeyEvent>
#include <QLegend>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>
#include <QtCharts/QChart>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>

#include "ui/charts/plot_view.h"

namespace cuset {

PlotPanel::PlotPanel(const QString& name, QWidget* parent)
    : ChartPanel(name, parent)
    , chart_(new QChart)
    , chartX_(new QValueAxis)
    , chartY_(new QValueAxis) {
    chart_->setBackgroundVisible(false);
    chart_->setMargins(QMargins());
    chart_->layout()->setContentsMargins(0, 0, 0, 0);
    chart_->legend()->hide();
    for (QValueAxis* axis : {chartX_, chartY_})
        axis->setVisible(false);
    chart_->addAxis(chartX_, Qt::AlignBottom);
    chart_->addAxis(chartY_, Qt::AlignLeft);
    view_ = new PlotView(chart_, this);
    layout_ = new QVBoxLayout(this);
    layout_->setContentsMargins(0, 0, 0, 0);
    layout_->setSpacing(0);
    layout_->addWidget(view_);
}

void PlotPanel::addControls(QWidget* controls) {
    layout_->insertWidget(0, controls);
}

void PlotPanel::attachSeries(QAbstractSeries* series) {
    chart_->addSeries(series);
    series->attachAxis(chartX_);
    series->attachAxis(chartY_);
}

void PlotPanel::removeSeries(QAbstractSeries* series) {
    chart_->removeSeries(series);
    delete series;
}

QLineSeries* PlotPanel::addLine() {
    auto* line = new QLineSeries;
    attachSeries(line);
    return line;
}

QWidget* PlotPanel::plotWidget() const {
    return view_->viewport();
}

QSize PlotPanel::chartSize() const {
    return view_->size();
}

void PlotPanel::paintChart(QPainter& painter) const {
    const QRect area(QPoint(), view_->viewport()->size());
    painter.setRenderHint(QPainter::Antialiasing);
    view_->render(&painter, QRectF(area), area);
}

QPointF PlotPanel::toPosition(double x, double y) const {
    return {plot_.left() + (x - from_) / (to_ - from_) * plot_.width(),
            plot_.bottom() - (y - bottom_) / (top_ - bottom_) * plot_.height()};
}

QPointF PlotPanel::toValues(const QPointF& position) const {
    return {from_ + (position.x() - plot_.left()) / plot_.width() * (to_ - from_),
            bottom_ + (plot_.bottom() - position.y()) / plot_.height() * (top_ - bottom_)};
}

void PlotPanel::setAxes(const PlotAxis& x, const PlotAxis& y) {
    xAxis_ = x;
    yAxis_ = y;
}

void PlotPanel::setXRange(double low, double high, double narrowest, bool keepZoom) {
    const bool follow = !keepZoom || !isZoomed();
    low_ = low;
    high_ = high > low ? high : low + 1;
    narrowest_ = std::min(narrowest, high_ - low_);
    const double from = follow ? low_ : std::clamp(from_, low_, high_ - narrowest_);
    const double to = follow ? high_ : std::clamp(to_, from + narrowest_, high_);
    from_ = from;
    to_ = to;
    chartX_->setRange(from_, to_);
}

void PlotPanel::setYRange(double low, double high) {
    bottom_ = low;
    top_ = high > low ? high : low + 1;
    chartY_->setRange(bottom_, top_);
}

void PlotPanel::setHeader(std::vector<HeaderItem> items) {
    header_ = std::move(items);
}

int PlotPanel::columns() const {
    return std::max(1, static_cast<int>(std::ceil(plot_.width() * view_->devicePixelRatioF())));
}

void PlotPanel::showRange(double from, double to) {
    if (!std::isfinite(from) || !std::isfinite(to))
        return;
    double width = std::clamp(to - from, narrowest_, high_ - low_);
    const double middle = (from + to) / 2;
    from = std::clamp(middle - width / 2, low_, high_ - width);
    if (from == from_ && from + width == to_)
        return;
    from_ = from;
    to_ = from + width;
    chartX_->setRange(from_, to_);
    rebuild();
}

void PlotPanel::zoomAbout(double x, double factor) {
    x = std::clamp(x, from_, to_);
    const double width = std::clamp((to_ - from_) * factor, narrowest_, high_ - low_);
    const double share = (x - from_) / (to_ - from_);
    showRange(x - share * width, x + (1 - share) * width);
}

void PlotPanel::resetZoom() {
    showRange(low_, high_);
}

void PlotPanel::rebuild() {
    layoutPlot();
    if (!isEmpty()) {
        fillSeries();
        layoutPlot(); // the labels of a new y range may need another margin
    }
    view_->forgetCurves();
}

void PlotPanel::repaintPlot() {
    view_->viewport()->update();
}

void PlotPanel::layoutPlot() {
    const QFontMetricsF metrics(labelFont());
    const double line = metrics.height();
    double widest = metrics.horizontalAdvance(QStringLiteral("0.00"));
    for (const AxisTick& tick : yTicks())
        widest = std::max(widest, metrics.horizontalAdvance(tick.label));
    const QSizeF size = chartSize();
    const double left = widest + line * 0.8;
    const double top = headerHeight(labelFont());
    const double right = line * 0.8;
    const double bottom = line * 2.4;
    plot_ = QRectF(left, top, std::max(1.0, size.width() - left - right),
                   std::max(1.0, size.height() - top - bottom));
    if (chart_->plotArea() != plot_)
        chart_->setPlotArea(plot_);
}

std::vector<AxisTick> PlotPanel::xTicks() const {
    if (!xAxis_.fixedTicks.empty())
        return xAxis_.fixedTicks;
    const int most = static_cast<int>(plot_.width() / (4.5 * em()));
    return xAxis_.log ? logTicks(from_, to_, most) : linearTicks(from_, to_, most, xAxis_.whole);
}

std::vector<AxisTick> PlotPanel::yTicks() const {
    if (!yAxis_.fixedTicks.empty())
        return yAxis_.fixedTicks;
    const int most = static_cast<int>(plot_.height() / (1.6 * em()));
    return yAxis_.log ? logTicks(bottom_, top_, most)
                      : linearTicks(bottom_, top_, most, yAxis_.whole);
}

void PlotPanel::paintGround(QPainter& painter) const {
    painter.fillRect(QRectF(QPointF(), QSizeF(chartSize())), theme().background);
    if (isEmpty())
        return;
    painter.setPen(QPen(theme().grid, penWidth() / 2));
    for (const AxisTick& tick : yTicks()) {
        const double y = toPosition(from_, tick.value).y();
        painter.drawLine(QPointF(plot_.left(), y), QPointF(plot_.right(), y));
    }
}

void PlotPanel::paintAxes(QPainter& painter) const {
    const QFontMetricsF metrics(labelFont());
    const double line = metrics.height();
    painter.setFont(labelFont());
    painter.setPen(QPen(hasFocus() ? palette().color(QPalette::Highlight) : theme().frame,
                        hasFocus() ? penWidth() : penWidth() / 2));
    painter.drawLine(plot_.bottomLeft(), plot_.bottomRight());
    painter.drawLine(plot_.bottomLeft(), plot_.topLeft());
    if (hasFocus()) {
        painter.drawLine(plot_.topRight(), plot_.bottomRight());
        painter.drawLine(plot_.topLeft(), plot_.topRight());
    }
    const double mark = line * 0.25;
    double usedTo = -line;
    for (const AxisTick& tick : xTicks()) {
        const double x = toPosition(tick.value, bottom_).x();
        if (x < plot_.left() - 1 || x > plot_.right() + 1)
            continue;
        painter.setPen(QPen(theme().frame, penWidth() / 2));
        painter.drawLine(QPointF(x, plot_.bottom()), QPointF(x, plot_.bottom() + mark));
        const double width = metrics.horizontalAdvance(tick.label);
        const double at =
            std::clamp(x - width / 2, 0.0, std::max(0.0, chartSize().width() - width));
        if (at < usedTo + line * 0.4)
            continue;
        usedTo = at + width;
        painter.setPen(theme().muted);
        painter.drawText(QPointF(at, plot_.bottom() + mark + metrics.ascent()), tick.label);
    }
    for (const AxisTick& tick : yTicks()) {
        const double y = toPosition(from_, tick.value).y();
        const double width = metrics.horizontalAdvance(tick.label);
        painter.setPen(theme().muted);
        painter.drawText(QPointF(plot_.left() - line * 0.3 - width,
                                 y + (metrics.ascent() - metrics.descent()) / 2),
                         tick.label);
    }
    painter.setPen(theme().text);
    const QString title = metrics.elidedText(xAxis_.title, Qt::ElideRight, plot_.width());
    painter.drawText(QRectF(plot_.left(), plot_.bottom() + mark + line, plot_.width(), line),
                     Qt::AlignRight | Qt::AlignVCenter, title);
    paintHeader(painter, QRectF(QPointF(), QSizeF(chartSize())), labelFont(), penWidth(),
                yAxis_.title, theme().text, header_);
}

QRectF PlotPanel::placeLabel(const QString& text, const QPointF& anchor, Qt::Alignment side) const {
    const QFontMetricsF metrics(labelFont());
    const double gap = metrics.height() * 0.3;
    const QSizeF size(metrics.horizontalAdvance(text) + gap, metrics.height());
    QRectF place(anchor, size);
    if (side & Qt::AlignLeft)
        place.moveRight(anchor.x() - gap);
    else if (side & Qt::AlignRight)
        place.moveLeft(anchor.x() + gap);
    else
        place.moveLeft(anchor.x() - size.width() / 2);
    if (side & Qt::AlignTop)
        place.moveBottom(anchor.y() - gap);
    else if (side & Qt::AlignBottom)
        place.moveTop(anchor.y() + gap);
    else
        place.moveTop(anchor.y() - size.height() / 2);
    place.moveLeft(std::clamp(place.left(), plot_.left(),
                              std::max(plot_.left(), plot_.right() - size.width())));
    place.moveTop(std::clamp(place.top(), plot_.top(),
                             std::max(plot_.top(), plot_.bottom() - size.height())));
    return place;
}

void PlotPanel::paintLabel(QPainter& painter, const QRectF& place, const QString& text,
                           const QColor& color) const {
    QColor plate = theme().background;
    plate.setAlphaF(0.85f);
    painter.fillRect(place, plate);
    painter.setFont(labelFont());
    painter.setPen(color);
    painter.drawText(place, Qt::AlignCenter, text);
}

void PlotPanel::addMenuActions(QMenu& menu) {
    if (zoomable_)
        menu.addAction(tr("&Reset zoom"), this, &PlotPanel::resetZoom)->setEnabled(isZoomed());
}

void PlotPanel::keyPressEvent(QKeyEvent* event) {
    const double width = to_ - from_;
    if (!zoomable_ || isEmpty()) {
        event->ignore();
        return;
    }
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomAbout((from_ + to_) / 2, 0.8);
    case Qt::Key_Minus:
        return zoomAbout((from_ + to_) / 2, 1.25);
    case Qt::Key_0:
        return resetZoom();
    case Qt::Key_PageUp:
        return showRange(from_ - width / 2, to_ - width / 2);
    case Qt::Key_PageDown:
        return showRange(from_ + width / 2, to_ + width / 2);
    default:
        event->ignore();
    }
}

void PlotPanel::focusInEvent(QFocusEvent*) {
    repaintPlot();
}
void PlotPanel::focusOutEvent(QFocusEvent*) {
    repaintPlot();
}

} // namespace cuset
