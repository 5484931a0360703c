#include "ui/editor/heat_ruler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QMouseEvent>
#include <QPainter>

#include "ui/editor/color_scale.h"

namespace cuset {

HeatRuler::HeatRuler(QWidget* parent)
    : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(tr("Overview of the whole sample"));
    setToolTip(tr("The whole sample, a colour a line. Click to go there. The bar at the left marks "
                  "kernels, the "
                  "bracket the lowest window."));
}

QSize HeatRuler::sizeHint() const {
    return {fontMetrics().height() * 2, fontMetrics().height() * 6};
}

void HeatRuler::setLines(std::vector<Line> lines) {
    if (lines == lines_)
        return;
    lines_ = std::move(lines);
    update();
}

void HeatRuler::setVisibleLines(int first, int count) {
    if (first == firstVisible_ && count == visibleCount_)
        return;
    firstVisible_ = first;
    visibleCount_ = count;
    update();
}

void HeatRuler::setSelectedLine(int line) {
    if (std::exchange(selectedLine_, line) != line)
        update();
}

void HeatRuler::setLowestWindow(int firstLine, int lastLine) {
    if (firstLine == lowestFirst_ && lastLine == lowestLast_)
        return;
    lowestFirst_ = firstLine;
    lowestLast_ = lastLine;
    update();
}

qreal HeatRuler::yOfLine(int line) const {
    // Short samples are not stretched: a line is at most as high as in the code.
    const qreal lineHeight = std::min<qreal>(
        static_cast<qreal>(height()) / static_cast<qreal>(std::max<std::size_t>(lines_.size(), 1)),
        fontMetrics().height());
    return line * lineHeight;
}

int HeatRuler::lineAt(qreal y) const {
    const qreal lineHeight = yOfLine(1);
    return std::clamp(static_cast<int>(y / lineHeight), 0,
                      std::max(0, static_cast<int>(lines_.size()) - 1));
}

void HeatRuler::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (lines_.empty())
        return;
    const SeriesColors colors = seriesColors(palette());
    const qreal barWidth = width() * 0.12;
    const qreal left = width() * 0.22;
    const qreal right = width() * 0.86;
    const QColor kernelColor =
        mixed(palette().color(QPalette::Text), palette().color(QPalette::Base), 0.35);
    const qreal pixel = 1.0 / devicePixelRatioF();
    const qreal end = yOfLine(static_cast<int>(lines_.size()));
    const qreal step = std::max(pixel, yOfLine(1));
    for (qreal y = 0; y < end - pixel / 2; y += step) {
        const auto first = static_cast<std::size_t>(lineAt(y + pixel / 4));
        const auto last = static_cast<std::size_t>(
            std::max<int>(static_cast<int>(first), lineAt(y + step - pixel / 4)));
        const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto line =
            std::max_element(begin, lines_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                             [](const Line& a, const Line& b) { return a.salience < b.salience; });
        if (line->color.isValid())
            painter.fillRect(QRectF(left, y, right - left, step), line->color);
        if (line->kernel)
            painter.fillRect(QRectF(0, y, barWidth, step), kernelColor);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    if (lowestFirst_ >= 0) {
        painter.setPen(QPen(colors.warning, std::max(1.5, barWidth * 0.6)));
        const qreal x = width() - barWidth;
        const qreal top = yOfLine(lowestFirst_) + 1;
        const qreal bottom = std::max(yOfLine(lowestLast_ + 1) - 1, top + 3);
        painter.drawPolyline(
            QPolygonF{{x - barWidth, top}, {x, top}, {x, bottom}, {x - barWidth, bottom}});
    }
    QColor frame = palette().color(QPalette::Text);
    frame.setAlpha(150);
    painter.setPen(QPen(frame, 1));
    painter.setBrush(Qt::NoBrush);
    const int lastVisible =
        std::min(firstVisible_ + visibleCount_, static_cast<int>(lines_.size()));
    painter.drawRoundedRect(
        QRectF(left - 2, yOfLine(firstVisible_) + 0.5, right - left + 4,
               std::max(3.0, yOfLine(lastVisible) - yOfLine(firstVisible_) - 1)),
        2, 2);
    if (selectedLine_ >= 0) {
        painter.setPen(QPen(colors.accent, 2));
        const qreal y = yOfLine(selectedLine_) + yOfLine(1) / 2;
        painter.drawLine(QPointF(left - 3, y), QPointF(right + 3, y));
    }
}

void HeatRuler::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && !lines_.empty())
        emit lineClicked(lineAt(event->position().y()));
}

void HeatRuler::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) && !lines_.empty())
        emit lineClicked(lineAt(event->position().y()));
}

} // namespace cuset
