#include "ui/charts/chart_header.h"

#include <algorithm>

#include <QFontMetricsF>
#include <QPainter>
#include <QPen>

namespace cuset {
namespace {

bool hasSample(const HeaderItem& item) {
    return item.line.has_value() || item.bar != HeaderItem::Bar::none;
}

void paintSample(QPainter& painter, const HeaderItem& item, const QRectF& area, double penWidth) {
    if (item.line) {
        painter.setPen(QPen(item.color, penWidth * 1.5, *item.line));
        painter.drawLine(QPointF(area.left(), area.center().y()),
                         QPointF(area.right(), area.center().y()));
        return;
    }
    const double side = area.height() * 0.7;
    const QRectF bar(area.right() - side, area.center().y() - side / 2, side, side);
    QColor fill = item.color;
    const bool hatched = item.bar == HeaderItem::Bar::hatched;
    if (hatched)
        fill.setAlphaF(0.35f);
    painter.fillRect(bar, fill);
    if (hatched)
        paintHatch(painter, bar, item.color, side / 2, penWidth);
}

} // namespace

double headerHeight(const QFont& font) {
    return QFontMetricsF(font).height() * 1.6;
}

void paintHeader(QPainter& painter, const QRectF& area, const QFont& font, double penWidth,
                 const QString& title, const QColor& titleColor,
                 const std::vector<HeaderItem>& items) {
    const QFontMetricsF metrics(font);
    const double line = metrics.height();
    const double gap = line * 0.8;
    const double baseline = area.top() + line * 0.25 + metrics.ascent();
    const auto sampleWidth = [line](const HeaderItem& item) {
        return !hasSample(item) ? 0.0 : item.line ? line * 1.7 : line;
    };
    double wanted = 0;
    for (const HeaderItem& item : items)
        wanted += metrics.horizontalAdvance(item.text) + sampleWidth(item) + gap;
    const double full = area.width() - gap;
    const double shortest = std::min(line * 3, metrics.horizontalAdvance(title));
    const double titleRoom =
        std::clamp(full - wanted, shortest, std::max(shortest, metrics.horizontalAdvance(title)));
    // What each item must give up where even the short title leaves too little room.
    const double over = std::max(0.0, wanted + titleRoom - full);
    const double each = items.empty() ? 0 : over / static_cast<double>(items.size());
    painter.setFont(font);
    double x = area.left() + full;
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
        const double width = metrics.horizontalAdvance(item->text);
        const QString text = over > 0
            ? metrics.elidedText(item->text, Qt::ElideRight, std::max(line, width - each))
            : item->text;
        x -= metrics.horizontalAdvance(text);
        // A bar's sample says the colour; a dark one would be hard to read as text.
        painter.setPen(item->bar == HeaderItem::Bar::none ? item->color : titleColor);
        painter.drawText(QPointF(x, baseline), text);
        const double sample = sampleWidth(*item);
        if (sample > 0)
            paintSample(painter, *item,
                        QRectF(x - sample, area.top() + line * 0.25, sample - line * 0.25, line),
                        penWidth);
        x -= sample + gap;
    }
    painter.setPen(titleColor);
    const double left = area.left() + line * 0.4;
    painter.drawText(QPointF(left, baseline),
                     metrics.elidedText(title, Qt::ElideRight, std::max(0.0, x - left + gap / 2)));
}

void paintHatch(QPainter& painter, const QRectF& area, const QColor& color, double spacing,
                double penWidth) {
    if (area.isEmpty() || spacing <= 0)
        return;
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    painter.setPen(QPen(color, penWidth));
    for (double x = area.left() - area.height(); x < area.right(); x += spacing)
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x + area.height(), area.top()));
    painter.restore();
}

} // namespace cuset
