#include "ui/editor/legend.h"

#include <algorithm>

#include <QPainter>
#include <QStringList>

namespace cuset {

Legend::Legend(QWidget* parent)
    : QWidget(parent) {
    setAccessibleName(tr("Legend of the token colours"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Legend::showScale(const ColorScale& scale, const QString& unit,
                       const std::vector<Tick>& ticks) {
    if (swatches_.empty() && scale == scale_ && unit == unit_ && ticks == ticks_)
        return;
    scale_ = scale;
    unit_ = unit;
    ticks_ = ticks;
    swatches_.clear();
    setAccessibleDescription(
        tr("%1 from %2 to %3")
            .arg(unit, QString::number(scale.low()), QString::number(scale.high())));
    updateGeometry();
    update();
}

void Legend::showSwatches(const std::vector<Swatch>& swatches) {
    if (swatches == swatches_)
        return;
    swatches_ = swatches;
    ticks_.clear();
    QStringList labels;
    for (const Swatch& swatch : swatches)
        labels += swatch.label;
    setAccessibleDescription(labels.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

QSize Legend::sizeHint() const {
    const QFontMetrics metrics = fontMetrics();
    return {metrics.horizontalAdvance(QLatin1Char('0')) * 44,
            metrics.height() * 2 + metrics.height() / 4};
}

QSize Legend::minimumSizeHint() const {
    return {fontMetrics().horizontalAdvance(QLatin1Char('0')) * 24, sizeHint().height()};
}

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (swatches_.empty())
        paintScale(painter);
    else
        paintSwatches(painter);
}

void Legend::paintScale(QPainter& painter) {
    const QFontMetrics metrics = fontMetrics();
    const qreal letter = metrics.horizontalAdvance(QLatin1Char('0'));
    const qreal unitWidth = metrics.horizontalAdvance(unit_) + letter;
    const QRectF bar(unitWidth + letter, metrics.height() * 0.25,
                     std::min<qreal>(width() - unitWidth - 4 * letter, letter * 48),
                     metrics.height() * 0.75);
    QLinearGradient gradient(bar.topLeft(), bar.topRight());
    for (int step = 0; step <= 32; ++step)
        gradient.setColorAt(step / 32.0, scale_.colorAt(step / 32.0));
    painter.setPen(QPen(seriesColors(palette()).grid, 1));
    painter.setBrush(gradient);
    painter.drawRoundedRect(bar, 2, 2);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(
        QRectF(0, bar.top() - metrics.height(), unitWidth, bar.height() + 2 * metrics.height()),
        Qt::AlignRight | Qt::AlignVCenter, unit_);
    for (const Tick& tick : ticks_) {
        const qreal x =
            bar.left() + bar.width() * (tick.value - scale_.low()) / (scale_.high() - scale_.low());
        painter.drawLine(QPointF(x, bar.bottom()),
                         QPointF(x, bar.bottom() + metrics.height() * 0.15));
        painter.drawText(QRectF(x - 4 * letter, bar.bottom() + metrics.height() * 0.15, 8 * letter,
                                metrics.height()),
                         Qt::AlignHCenter | Qt::AlignTop, tick.label);
    }
}

void Legend::paintSwatches(QPainter& painter) {
    const QFontMetrics metrics = fontMetrics();
    const qreal gap = metrics.horizontalAdvance(QLatin1Char('0'));
    const qreal side = metrics.height() * 0.8;
    qreal x = gap;
    qreal y = metrics.height() * 0.1;
    for (const Swatch& swatch : swatches_) {
        const qreal wanted = side + gap * 0.6 + metrics.horizontalAdvance(swatch.label);
        if (x + wanted > width() && x > gap) {
            x = gap;
            y += metrics.height() * 1.1;
        }
        const QRectF box(x, y + metrics.height() * 0.1, side, side);
        painter.setPen(QPen(seriesColors(palette()).mutedText, 1));
        painter.setBrush(swatch.color);
        painter.drawRoundedRect(box, 2, 2);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(QPointF(x + side + gap * 0.6, y + metrics.ascent()), swatch.label);
        x += wanted + gap * 1.6;
    }
}

} // namespace cuset
