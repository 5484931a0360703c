#include "ui/charts/heat_map_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "ui/charts/axis_ticks.h"
#include "ui/charts/chart_header.h"

namespace cuset {
namespace {

int nearestIndex(const std::vector<double>& places, double value) {
    if (!std::isfinite(value) || places.empty())
        return -1;
    const auto closer = [value](double a, double b) {
        return std::abs(a - value) < std::abs(b - value);
    };
    return static_cast<int>(std::min_element(places.begin(), places.end(), closer)
                            - places.begin());
}

double widestLabel(const QFontMetricsF& metrics, const std::vector<double>& values) {
    double widest = 0;
    for (const double value : values)
        widest = std::max(widest, metrics.horizontalAdvance(numberText(value, 4)));
    return widest;
}

} // namespace

HeatMapChart::HeatMapChart(QWidget* parent)
    : ChartPanel(tr("What-if surface"), parent)
    , currentX_(std::nan(""))
    , currentY_(std::nan("")) {
    setEmptyText(tr("Score samples, then run a sweep"));
    setMouseTracking(true);
}

void HeatMapChart::setHeatMap(HeatMap map) {
    map_ = std::move(map);
    if (map_.x.empty() || map_.values.size() / map_.x.size() != map_.y.size()
        || map_.values.size() % map_.x.size() != 0)
        map_ = {};
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : map_.values)
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    if (!(low <= high))
        low = high = 0;
    scale_ = ColorScale(ColorMap::Cividis, low, high > low ? high : low + 1);
    cursor_ = hovered_ = {};
    setAccessibleDescription(isEmpty() ? emptyText()
                                       : tr("%1 over %2 and %3, %4 by %5 cells, from %6 to %7")
                                             .arg(map_.valueTitle, map_.xTitle, map_.yTitle)
                                             .arg(columns())
                                             .arg(rows())
                                             .arg(numberText(low), numberText(high)));
    update();
}

void HeatMapChart::setCurrent(double x, double y) {
    currentX_ = x;
    currentY_ = y;
    update();
}

double HeatMapChart::valueAt(const Cell& cell) const {
    return map_.values[static_cast<std::size_t>(cell.row) * map_.x.size()
                       + static_cast<std::size_t>(cell.column)];
}

QRectF HeatMapChart::plotRect() const {
    const QFontMetricsF metrics(labelFont());
    const double line = metrics.height();
    const double left = widestLabel(metrics, map_.y) + line * 0.8;
    const double top = headerHeight(labelFont());
    const double bar = line * 1.6 + metrics.horizontalAdvance(QStringLiteral("0.0000"));
    return {left, top, std::max(1.0, width() - left - bar),
            std::max(1.0, height() - top - line * 2.4)};
}

QRectF HeatMapChart::cellRect(int column, int row) const {
    const QRectF plot = plotRect();
    const double wide = plot.width() / std::max(1, columns());
    const double high = plot.height() / std::max(1, rows());
    return {plot.left() + column * wide, plot.bottom() - (row + 1) * high, wide, high};
}

HeatMapChart::Cell HeatMapChart::cellAt(const QPointF& position) const {
    const QRectF plot = plotRect();
    if (isEmpty() || !plot.contains(position))
        return {};
    const auto index = [](double share, int count) {
        return std::clamp(static_cast<int>(share * count), 0, count - 1);
    };
    return {index((position.x() - plot.left()) / plot.width(), columns()),
            index((plot.bottom() - position.y()) / plot.height(), rows())};
}

void HeatMapChart::paintCells(QPainter& painter) const {
    const QFontMetricsF metrics(labelFont());
    painter.setFont(labelFont());
    const double gap = columns() * rows() <= 400 ? penWidth() / 2 : 0;
    painter.setRenderHint(QPainter::Antialiasing, gap > 0);
    for (int row = 0; row < rows(); ++row)
        for (int column = 0; column < columns(); ++column) {
            const QRectF cell = cellRect(column, row).adjusted(gap, gap, -gap, -gap);
            const double value = valueAt({column, row});
            if (!std::isfinite(value)) {
                paintHatch(painter, cell, theme().grid, em() * 0.5, penWidth());
                continue;
            }
            const QColor fill = scale_.color(value);
            painter.fillRect(cell, fill);
            const QString text = numberText(value, 3);
            if (metrics.horizontalAdvance(text) > cell.width() * 0.9
                || metrics.height() > cell.height())
                continue;
            const bool white = contrastRatio(Qt::white, fill) > contrastRatio(Qt::black, fill);
            painter.setPen(white ? Qt::white : Qt::black);
            painter.drawText(cell, Qt::AlignCenter, text);
        }
    painter.setRenderHint(QPainter::Antialiasing);
}

void HeatMapChart::paintFrame(QPainter& painter, const Cell& cell, const QColor& color) const {
    if (cell.column < 0 || cell.row < 0)
        return;
    const double inset = penWidth();
    const QRectF frame = cellRect(cell.column, cell.row).adjusted(inset, inset, -inset, -inset);
    // Two strokes: one of them stands out on any colour of the map.
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().background, penWidth() * 4));
    painter.drawRect(frame);
    painter.setPen(QPen(color, penWidth() * 2));
    painter.drawRect(frame);
}

void HeatMapChart::paintTitles(QPainter& painter) const {
    const QFontMetricsF metrics(labelFont());
    const QRectF plot = plotRect();
    const double line = metrics.height();
    painter.setPen(theme().muted);
    double usedTo = -line;
    for (int column = 0; column < columns(); ++column) {
        const QString text = numberText(map_.x[static_cast<std::size_t>(column)], 4);
        const double width = metrics.horizontalAdvance(text);
        const double x = cellRect(column, 0).center().x() - width / 2;
        if (x < usedTo + line * 0.4)
            continue;
        usedTo = x + width;
        painter.drawText(QPointF(x, plot.bottom() + line * 0.2 + metrics.ascent()), text);
    }
    double lowest = std::numeric_limits<double>::infinity();
    for (int row = 0; row < rows(); ++row) {
        const QString text = numberText(map_.y[static_cast<std::size_t>(row)], 4);
        const double y = cellRect(0, row).center().y();
        if (y > lowest - line)
            continue;
        lowest = y;
        painter.drawText(QPointF(plot.left() - line * 0.3 - metrics.horizontalAdvance(text),
                                 y + (metrics.ascent() - metrics.descent()) / 2),
                         text);
    }
    painter.setPen(theme().text);
    painter.drawText(QRectF(plot.left(), plot.bottom() + line * 1.2, plot.width(), line),
                     Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(map_.xTitle, Qt::ElideRight, plot.width()));
    paintHeader(painter, QRectF(0, 0, width(), line), labelFont(), penWidth(), map_.yTitle,
                theme().text, {{map_.valueTitle, theme().text}});
}

void HeatMapChart::paintColorBar(QPainter& painter) const {
    const QFontMetricsF metrics(labelFont());
    const QRectF plot = plotRect();
    const double line = metrics.height();
    const QRectF bar(plot.right() + line * 0.5, plot.top(), line * 0.6, plot.height());
    constexpr int steps = 64;
    QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
    for (int i = 0; i <= steps; ++i)
        gradient.setColorAt(static_cast<double>(i) / steps,
                            scale_.colorAt(static_cast<double>(i) / steps));
    painter.fillRect(bar, gradient);
    painter.setPen(theme().muted);
    const int most = static_cast<int>(plot.height() / (1.6 * line));
    for (const AxisTick& tick : linearTicks(scale_.low(), scale_.high(), most)) {
        const double share = (tick.value - scale_.low()) / (scale_.high() - scale_.low());
        const double y = bar.bottom() - share * bar.height();
        painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + line * 0.2, y));
        painter.drawText(
            QPointF(bar.right() + line * 0.3, y + (metrics.ascent() - metrics.descent()) / 2),
            tick.label);
    }
}

void HeatMapChart::paintChart(QPainter& painter) const {
    const QRectF area({0, 0}, QSizeF(size()));
    if (isEmpty())
        return paintEmptyState(painter, area);
    painter.fillRect(area, theme().background);
    paintCells(painter);
    paintTitles(painter);
    paintColorBar(painter);
    paintFrame(painter, {nearestIndex(map_.x, currentX_), nearestIndex(map_.y, currentY_)},
               theme().marker);
    paintFrame(painter, hovered_, theme().text);
    if (hasFocus())
        paintFrame(painter, cursor_, palette().color(QPalette::Highlight));
}

// The cell under the pointer, else the one that the keys are on.
void HeatMapChart::addMenuActions(QMenu& menu) {
    const Cell cell = hovered_.column >= 0 ? hovered_ : cursor_;
    if (cell.column >= 0)
        emit cellMenuRequested(&menu, cell.column, cell.row);
}

void HeatMapChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintChart(painter);
}

void HeatMapChart::mousePressEvent(QMouseEvent* event) {
    const Cell cell = cellAt(event->position());
    if (event->button() != Qt::LeftButton || cell.column < 0)
        return;
    setFocus(Qt::MouseFocusReason);
    cursor_ = cell;
    update();
    emit cellClicked(cell.column, cell.row);
}

void HeatMapChart::mouseMoveEvent(QMouseEvent* event) {
    const Cell cell = cellAt(event->position());
    if (cell == hovered_)
        return;
    hovered_ = cell;
    update();
    emit cellHovered(cell.column, cell.row);
}

void HeatMapChart::leaveEvent(QEvent*) {
    hovered_ = {};
    update();
    emit cellHovered(-1, -1);
}

void HeatMapChart::keyPressEvent(QKeyEvent* event) {
    if (isEmpty()) {
        event->ignore();
        return;
    }
    Cell cell = cursor_.column >= 0 ? cursor_
                                    : Cell{std::max(0, nearestIndex(map_.x, currentX_)),
                                           std::max(0, nearestIndex(map_.y, currentY_))};
    switch (event->key()) {
    case Qt::Key_Left:
        --cell.column;
        break;
    case Qt::Key_Right:
        ++cell.column;
        break;
    case Qt::Key_Up:
        ++cell.row;
        break;
    case Qt::Key_Down:
        --cell.row;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        emit cellClicked(cell.column, cell.row);
        break;
    default:
        event->ignore();
        return;
    }
    cursor_ = {std::clamp(cell.column, 0, columns() - 1), std::clamp(cell.row, 0, rows() - 1)};
    update();
    emit cellHovered(cursor_.column, cursor_.row);
}

void HeatMapChart::focusInEvent(QFocusEvent*) {
    update();
}
void HeatMapChart::focusOutEvent(QFocusEvent*) {
    update();
}

QString HeatMapChart::tooltipAt(const QPointF& position) const {
    const Cell cell = cellAt(position);
    if (cell.column < 0)
        return tr("%1 over %2 and %3; click a cell to use it")
            .arg(map_.valueTitle, map_.xTitle, map_.yTitle);
    return tr("%1 %2, %3 %4: %5 %6\nclick to use these settings")
        .arg(map_.xTitle, numberText(map_.x[static_cast<std::size_t>(cell.column)], 4), map_.yTitle,
             numberText(map_.y[static_cast<std::size_t>(cell.row)], 4), map_.valueTitle,
             numberText(valueAt(cell), 4));
}

ChartTable HeatMapChart::table() const {
    ChartTable table{{map_.xTitle, map_.yTitle, map_.valueTitle}, {}};
    for (int row = 0; row < rows(); ++row)
        for (int column = 0; column < columns(); ++column)
            table.rows.push_back({csvNumber(map_.x[static_cast<std::size_t>(column)]),
                                  csvNumber(map_.y[static_cast<std::size_t>(row)]),
                                  csvNumber(valueAt({column, row}))});
    return table;
}

} // namespace cuset
