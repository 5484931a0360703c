#include "ui/charts/window_chart.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QtCharts/QLineSeries>

#include "ui/charts/decimator.h"

namespace cuset {
namespace {

constexpr double narrowestView = 8; // tokens

QString count(std::int64_t value) {
    return QLocale(QLocale::English).toString(qlonglong(value));
}
QString fixed(double value) {
    return QString::number(value, 'f', 3);
}

} // namespace

WindowChart::WindowChart(QWidget* parent)
    : PlotPanel(tr("Window confidence"), parent)
    , line_(addLine())
    , afterLine_(addLine()) {
    setZoomable(true);
}

void WindowChart::setWindowMeans(std::vector<float> means, double neutralMean, int windowLength,
                                 int minimumAt, std::vector<float> after) {
    if (after.size() != means.size())
        after.clear();
    const bool sameNeutral =
        neutralMean == neutralMean_ || (std::isnan(neutralMean) && std::isnan(neutralMean_));
    if (sameNeutral && windowLength == windowLength_ && minimumAt == minimumAt_ && means == means_
        && after == after_)
        return; // most moves of a threshold
    const bool sameTokens = means.size() == means_.size();
    means_ = std::move(means);
    after_ = std::move(after);
    neutralMean_ = neutralMean;
    windowLength_ = windowLength;
    const int tokens = static_cast<int>(means_.size());
    const auto known = [tokens](int token) { return token >= 0 && token < tokens ? token : -1; };
    minimumAt_ = known(minimumAt);
    marked_ = known(marked_);
    hovered_ = known(hovered_);
    lowCount_ = std::count_if(means_.begin(), means_.end(), [this](float m) { return isLow(m); });
    // Half a token of room on both sides keeps a single token off the frame.
    setXRange(-0.5, std::max(0, tokens - 1) + 0.5, narrowestView, sameTokens);
    updateTexts();
    rebuild();
}

void WindowChart::clear() {
    setWindowMeans({}, std::nan(""), 0, -1);
}

void WindowChart::setMarkedToken(int token) {
    if (token < 0 || token >= static_cast<int>(means_.size()))
        token = -1;
    if (token == marked_)
        return;
    marked_ = token;
    const double width = visibleTo() - visibleFrom();
    if (token >= 0 && (token < visibleFrom() || token > visibleTo()))
        showRange(token - width / 2, token + width / 2);
    repaintPlot();
}

void WindowChart::setPickedTokens(std::vector<int> tokens, const QColor& color) {
    if (tokens == picked_ && color == pickedColor_)
        return;
    picked_ = std::move(tokens);
    pickedColor_ = color;
    repaintPlot();
}

bool WindowChart::hasNeutral() const {
    return std::isfinite(neutralMean_);
}

bool WindowChart::isLow(float mean) const {
    return hasNeutral() && mean < neutralMean_;
}

void WindowChart::updateTexts() {
    if (isEmpty()) {
        setAccessibleDescription(emptyText());
        return;
    }
    QString text = tr("%1 tokens, windows of %2; %3 windows below the neutral mean %4")
                       .arg(count(static_cast<std::int64_t>(means_.size())), count(windowLength_),
                            count(lowCount_), numberText(neutralMean_));
    if (minimumAt_ >= 0)
        text += tr("; minimum %1 at token %2")
                    .arg(fixed(means_[static_cast<std::size_t>(minimumAt_)]))
                    .arg(minimumAt_);
    setAccessibleDescription(text);
}

void WindowChart::fillSeries() {
    PlotAxis x{tr("token")};
    x.whole = true;
    setAxes(x, {tr("mean confidence, l = %1").arg(windowLength_)});
    std::vector<HeaderItem> header;
    if (hasNeutral())
        header.push_back(
            {tr("neutral mean %1").arg(fixed(neutralMean_)), theme().neutral, Qt::DashLine});
    if (!after_.empty()) {
        header.push_back({tr("before"), theme().line, Qt::SolidLine});
        header.push_back({tr("after"), theme().marker, Qt::DotLine});
    }
    setHeader(std::move(header));
    setYRange(0, 1);
    const auto begin = static_cast<std::int64_t>(std::floor(visibleFrom()));
    const auto end = static_cast<std::int64_t>(std::ceil(visibleTo())) + 1;
    drawn_.clear();
    for (const std::int64_t i : decimateRange(means_, begin, end, columns()))
        drawn_.emplace_back(static_cast<double>(i), means_[static_cast<std::size_t>(i)]);
    line_->setPen(QPen(theme().line, penWidth()));
    line_->setPointsVisible(drawn_.size() <= 2);
    line_->setMarkerSize(em() * 0.5);
    line_->setColor(theme().line);
    line_->replace(QList<QPointF>(drawn_.begin(), drawn_.end()));
    QList<QPointF> after;
    for (const std::int64_t i : after_.empty() ? std::vector<std::int64_t>()
                                               : decimateRange(after_, begin, end, columns()))
        after.append({static_cast<double>(i), after_[static_cast<std::size_t>(i)]});
    afterLine_->setPen(QPen(theme().marker, penWidth() * 1.3, Qt::DotLine));
    afterLine_->replace(after);
}

void WindowChart::paintBehind(QPainter& painter) const {
    if (!hasNeutral() || drawn_.empty())
        return;
    // The area between the neutral mean and the curve where it lies below, and a strip along the
    // axis: seen without colour too.
    painter.save();
    painter.setClipRect(plotRect());
    const double level = toPosition(0, neutralMean_).y();
    const double bottom = plotRect().bottom();
    QPolygonF below;
    below << QPointF(toPosition(drawn_.front().x(), 0).x(), level);
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
        const QPointF point = drawn_[i];
        if (i > 0 && (drawn_[i - 1].y() < neutralMean_) != (point.y() < neutralMean_)) {
            const QPointF before = drawn_[i - 1];
            const double share = (neutralMean_ - before.y()) / (point.y() - before.y());
            below << toPosition(before.x() + share * (point.x() - before.x()), neutralMean_);
        }
        below << toPosition(point.x(), std::min(point.y(), neutralMean_));
    }
    below << QPointF(toPosition(drawn_.back().x(), 0).x(), level);
    painter.setPen(Qt::NoPen);
    QColor shade = theme().low;
    shade.setAlphaF(theme().dark ? 0.4f : 0.3f);
    painter.setBrush(shade);
    painter.drawPolygon(below);
    painter.setBrush(theme().low);
    const double half = 0.5 * plotRect().width() / (visibleTo() - visibleFrom());
    const double strip = em() * 0.3;
    for (std::size_t i = 0; i < drawn_.size();) {
        std::size_t end = i;
        while (end < drawn_.size() && drawn_[end].y() < neutralMean_)
            ++end;
        if (end > i) {
            const double from = toPosition(drawn_[i].x(), 0).x() - half;
            const double to = toPosition(drawn_[end - 1].x(), 0).x() + half;
            painter.drawRect(QRectF(from, bottom - strip, std::max(to - from, 1.0), strip));
        }
        i = std::max(end, i + 1);
    }
    painter.restore();
}

void WindowChart::paintMark(QPainter& painter, int token, bool strong) const {
    if (token < 0 || token < visibleFrom() || token > visibleTo())
        return;
    const float mean = means_[static_cast<std::size_t>(token)];
    const QPointF at = toPosition(token, std::isfinite(mean) ? mean : 0);
    painter.setPen(QPen(theme().marker, penWidth() * (strong ? 1.5 : 0.8),
                        strong ? Qt::SolidLine : Qt::DotLine));
    painter.drawLine(QPointF(at.x(), plotRect().top()), QPointF(at.x(), plotRect().bottom()));
    if (!std::isfinite(mean))
        return;
    painter.setBrush(strong ? theme().marker : theme().background);
    painter.drawEllipse(at, em() * 0.25, em() * 0.25);
    painter.setBrush(Qt::NoBrush);
}

void WindowChart::paintMinimum(QPainter& painter) const {
    if (minimumAt_ < 0 || minimumAt_ < visibleFrom() || minimumAt_ > visibleTo())
        return;
    const double mean = means_[static_cast<std::size_t>(minimumAt_)];
    if (!std::isfinite(mean))
        return;
    const QPointF at = toPosition(minimumAt_, mean);
    const double size = em() * 0.35;
    painter.setPen(QPen(theme().background, penWidth()));
    painter.setBrush(theme().low);
    painter.drawPolygon(QPolygonF{{at.x(), at.y() - size},
                                  {at.x() + size, at.y()},
                                  {at.x(), at.y() + size},
                                  {at.x() - size, at.y()}});
    painter.setBrush(Qt::NoBrush);
    const QString label = tr("min %1 at %2").arg(fixed(mean)).arg(minimumAt_);
    const bool roomBelow = plotRect().bottom() - at.y() > em() * 2;
    const QPointF anchor(at.x(), at.y() + (roomBelow ? size : -size));
    paintLabel(painter, placeLabel(label, anchor, roomBelow ? Qt::AlignBottom : Qt::AlignTop),
               label, theme().low);
}

// Tokens that share a column of pixels are one tick.
void WindowChart::paintPicked(QPainter& painter) const {
    const double top = plotRect().top();
    const double width =
        std::max(plotRect().width() / std::max(1.0, visibleTo() - visibleFrom()), penWidth());
    double drawnTo = -1;
    for (const int token : picked_) {
        if (token < visibleFrom() || token > visibleTo())
            continue;
        const double x = toPosition(token, 0).x() - width / 2;
        if (x + width < drawnTo + 0.5)
            continue;
        painter.fillRect(QRectF(x, top, width, em() * 0.4), pickedColor_);
        drawnTo = x + width;
    }
}

void WindowChart::paintFront(QPainter& painter) const {
    paintPicked(painter);
    if (hasNeutral()) {
        const double y = toPosition(0, neutralMean_).y();
        painter.setPen(QPen(theme().neutral, penWidth() * 1.3, Qt::DashLine));
        painter.drawLine(QPointF(plotRect().left(), y), QPointF(plotRect().right(), y));
    }
    paintMark(painter, marked_, true);
    if (hovered_ != marked_)
        paintMark(painter, hovered_, false);
    paintMinimum(painter);
}

int WindowChart::tokenAt(const QPointF& position) const {
    if (isEmpty() || !plotRect().adjusted(-1, -1, 1, 1).contains(position))
        return -1;
    const auto last = static_cast<std::int64_t>(means_.size()) - 1;
    const double half = 0.5 * (visibleTo() - visibleFrom()) / plotRect().width();
    const double middle = toValues(position).x();
    const auto nearest = std::clamp<std::int64_t>(std::llround(middle), 0, last);
    const auto first =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(middle - half)), 0, last);
    const auto end =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(middle + half)), 0, last);
    std::int64_t lowest = nearest;
    for (std::int64_t i = first; i <= end; ++i)
        if (means_[static_cast<std::size_t>(i)] < means_[static_cast<std::size_t>(lowest)])
            lowest = i;
    return static_cast<int>(lowest);
}

void WindowChart::clicked(const QPointF& position) {
    const int token = tokenAt(position);
    if (token < 0)
        return;
    setMarkedToken(token);
    emit tokenClicked(token);
}

void WindowChart::setHovered(int token) {
    if (token == hovered_)
        return;
    hovered_ = token;
    repaintPlot();
    emit tokenHovered(token);
}

void WindowChart::hovered(const QPointF& position) {
    setHovered(tokenAt(position));
}

void WindowChart::hoverEnded() {
    setHovered(-1);
}

QString WindowChart::tooltipAt(const QPointF& position) const {
    QString text;
    const int token = tokenAt(position);
    if (token >= 0) {
        const double mean = means_[static_cast<std::size_t>(token)];
        text = tr("token %1: mean confidence of its window %2\n").arg(token).arg(numberText(mean));
        if (!after_.empty())
            text +=
                tr("after: %1\n")
                    .arg(numberText(static_cast<double>(after_[static_cast<std::size_t>(token)])));
    }
    text += tr("%1 windows of %2 tokens, %3 below the neutral mean\n")
                .arg(count(static_cast<std::int64_t>(means_.size())), count(windowLength_),
                     count(lowCount_));
    return text
        + tr("Eq. 6: mean of c over tokens t − ⌊l/2⌋ .. t + ⌈l/2⌉ − 1; Eq. 7: its minimum is the "
             "sample's C\nwheel or drag zooms, Shift+drag pans, double click resets");
}

void WindowChart::keyPressEvent(QKeyEvent* event) {
    const int step = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
    const int last = static_cast<int>(means_.size()) - 1;
    const bool left = event->key() == Qt::Key_Left;
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    const int start = marked_ >= 0 ? marked_ : std::max(0, minimumAt_);
    if (isEmpty() || !(left || enter || event->key() == Qt::Key_Right))
        return PlotPanel::keyPressEvent(event);
    setMarkedToken(enter || marked_ < 0 ? start
                                        : std::clamp(start + (left ? -step : step), 0, last));
    emit tokenClicked(marked_);
}

ChartTable WindowChart::table() const {
    ChartTable table{{QStringLiteral("token"), QStringLiteral("window_mean_confidence"),
                      QStringLiteral("below_neutral_mean")},
                     {}};
    if (!after_.empty())
        table.header += QStringLiteral("window_mean_confidence_after");
    table.rows.reserve(means_.size());
    for (std::size_t i = 0; i < means_.size(); ++i) {
        table.rows.push_back(
            {QString::number(i), csvNumber(means_[i]), QString::number(isLow(means_[i]) ? 1 : 0)});
        if (!after_.empty())
            table.rows.back() += csvNumber(after_[i]);
    }
    return table;
}

} // namespace cuset
