#include "ui/charts/token_bar_chart.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include "core/data/token_labels.h"
#include "ui/charts/axis_ticks.h"
#include "ui/charts/chart_header.h"

namespace cuset {
namespace {

constexpr double longestLabel = 6; // lines of text
constexpr double widestColumn = 4.5; // lines of text
constexpr qsizetype labelLetters = 24;

QString labelNames(quint16 labels) {
    QStringList names;
    if (labels & kernel_bit)
        names << TokenBarChart::tr("kernel body");
    if (labels & launch_bit)
        names << TokenBarChart::tr("launch configuration");
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (labels & kind_bit(static_cast<SensitiveKind>(kind))) {
            const auto name = sensitive_kind_names[static_cast<std::size_t>(kind)];
            names << QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()))
                         .replace(u'_', u' ');
        }
    return names.isEmpty() ? TokenBarChart::tr("neutral") : names.join(QStringLiteral(", "));
}

} // namespace

QString visibleTokenText(const QString& text) {
    if (text.isEmpty())
        return QString(QChar(0x2205));
    QString shown;
    for (const char32_t c : text.toStdU32String()) {
        if (c == U' ')
            shown += QChar(0x00b7);
        else if (c == U'\n')
            shown += QChar(0x21b5);
        else if (c == U'\t')
            shown += QChar(0x2192);
        else if (c < 0x20)
            shown += QChar(static_cast<char16_t>(0x2400 + c));
        else if (c == 0x7f)
            shown += QChar(0x2421);
        else if (QChar::isPrint(c) && QChar::category(c) != QChar::Other_Format)
            shown += QString::fromUcs4(&c, 1);
        else
            shown += QStringLiteral("<%1>").arg(static_cast<uint>(c), 4, 16, QChar(u'0'));
    }
    return shown;
}

TokenBarChart::TokenBarChart(QWidget* parent)
    : ChartPanel(tr("Token confidence"), parent)
    , scroll_(new QScrollBar(Qt::Horizontal, this)) {
    setMouseTracking(true);
    scroll_->setFocusPolicy(Qt::NoFocus);
    scroll_->setAccessibleName(tr("Scroll through the tokens"));
    scroll_->hide();
    connect(scroll_, &QScrollBar::valueChanged, this, qOverload<>(&QWidget::update));
}

void TokenBarChart::setTokens(std::vector<TokenBar> tokens, double mean) {
    const bool sameTokens =
        std::equal(tokens.begin(), tokens.end(), bars_.begin(), bars_.end(),
                   [](const TokenBar& a, const TokenBar& b) { return a.token == b.token; });
    bars_ = std::move(tokens);
    mean_ = mean;
    shown_.clear();
    std::int64_t sensitive = 0;
    for (const TokenBar& bar : bars_) {
        // A label shows a few letters at most: a huge token must not cost more.
        shown_.push_back(visibleTokenText(bar.label.left(labelLetters)));
        sensitive += is_cuda_sensitive(bar.labels) ? 1 : 0;
    }
    hovered_ = -1;
    if (!sameTokens) {
        marked_ = -1;
        fit_ = fit_ == Fit::own ? Fit::labels : fit_;
        scroll_->setValue(0);
    }
    setAccessibleDescription(isEmpty() ? emptyText()
                                       : tr("%1 tokens, %2 of them sensitive, mean confidence %3")
                                             .arg(bars_.size())
                                             .arg(sensitive)
                                             .arg(numberText(mean_)));
    layoutBars();
}

QSize TokenBarChart::chartSize() const {
    return {width(), height() - (scroll_->isHidden() ? 0 : scroll_->sizeHint().height())};
}

double TokenBarChart::labelledSlot() const {
    return em() * 1.05;
}

double TokenBarChart::narrowestSlot() const {
    const double count = static_cast<double>(std::max<std::size_t>(1, bars_.size()));
    return std::max(1.0 / devicePixelRatioF(), plot_.width() / count);
}

void TokenBarChart::layoutBars() {
    const QFontMetricsF metrics(labelFont());
    const double line = metrics.height();
    const double left = metrics.horizontalAdvance(QStringLiteral("0.00")) + line * 0.8;
    const double top = headerHeight(labelFont());
    plot_ = QRectF(left, top, std::max(1.0, width() - left - line * 0.8), 1);
    const double room = plot_.width() / static_cast<double>(std::max<std::size_t>(1, bars_.size()));
    if (fit_ == Fit::labels)
        slot_ = std::clamp(room, labelledSlot(), line * widestColumn);
    else if (fit_ == Fit::all)
        slot_ = std::min(narrowestSlot(), line * widestColumn);
    const double total = slot_ * static_cast<double>(bars_.size());
    scroll_->setVisible(total > plot_.width() + 0.5);
    const int barHeight = scroll_->sizeHint().height();
    scroll_->setGeometry(0, height() - barHeight, width(), barHeight);
    scroll_->setPageStep(static_cast<int>(plot_.width()));
    scroll_->setSingleStep(std::max(1, static_cast<int>(slot_ * 3)));
    scroll_->setRange(0, std::max(0, static_cast<int>(std::ceil(total - plot_.width()))));
    double longest = 0;
    for (const QString& text : shown_) {
        longest = std::max(longest, metrics.horizontalAdvance(text));
        if (longest > longestLabel * line)
            break;
    }
    const double height = chartSize().height();
    upright_ = longest + line * 0.4 > slot_;
    labelHeight_ = slot_ < labelledSlot() * 0.95 ? 0
        : upright_ ? std::min({longest + line * 0.2, longestLabel * line, height * 0.38})
                   : line;
    const double below = line * 0.8 + labelHeight_;
    plot_.setHeight(std::max(1.0, height - top - below));
    update();
}

void TokenBarChart::setSlot(double width, double anchor) {
    const double place = (anchor - plot_.left() + scroll_->value()) / slot_;
    slot_ = std::clamp(width, std::min(narrowestSlot(), em() * widestColumn), em() * widestColumn);
    fit_ = Fit::own;
    layoutBars();
    scroll_->setValue(static_cast<int>(place * slot_ - (anchor - plot_.left())));
}

void TokenBarChart::fitAll() {
    fit_ = Fit::all;
    layoutBars();
}

void TokenBarChart::fitLabels() {
    fit_ = Fit::labels;
    layoutBars();
}

double TokenBarChart::yOf(double confidence) const {
    return plot_.bottom() - std::clamp(confidence, 0.0, 1.0) * plot_.height();
}

QRectF TokenBarChart::columnOf(int bar) const {
    return {plot_.left() + bar * slot_ - scroll_->value(), plot_.top(), slot_, plot_.height()};
}

int TokenBarChart::barAt(const QPointF& position) const {
    if (isEmpty() || position.x() < plot_.left() || position.x() >= plot_.right()
        || position.y() < plot_.top() || position.y() > chartSize().height())
        return -1;
    const auto bar = static_cast<int>((position.x() - plot_.left() + scroll_->value()) / slot_);
    return bar < static_cast<int>(bars_.size()) ? bar : -1;
}

void TokenBarChart::markBar(int bar) {
    marked_ = bar;
    const double from = bar * slot_;
    if (from < scroll_->value())
        scroll_->setValue(static_cast<int>(from - plot_.width() / 4));
    else if (from + slot_ > scroll_->value() + plot_.width())
        scroll_->setValue(static_cast<int>(from + slot_ - plot_.width() * 3 / 4));
    update();
}

void TokenBarChart::setMarkedToken(int token) {
    const auto bar = std::find_if(bars_.begin(), bars_.end(),
                                  [token](const TokenBar& b) { return b.token == token; });
    const int index = bar == bars_.end() ? -1 : static_cast<int>(bar - bars_.begin());
    if (index == marked_)
        return;
    if (index >= 0)
        return markBar(index);
    marked_ = -1;
    update();
}

void TokenBarChart::setPickedLabels(quint16 labels) {
    if (labels == picked_)
        return;
    picked_ = labels;
    update();
}

void TokenBarChart::paintAxis(QPainter& painter) const {
    const QFontMetricsF metrics(labelFont());
    painter.setFont(labelFont());
    const int most = static_cast<int>(plot_.height() / (1.6 * em()));
    for (const AxisTick& tick : linearTicks(0, 1, most)) {
        const double y = yOf(tick.value);
        painter.setPen(QPen(theme().grid, penWidth() / 2));
        painter.drawLine(QPointF(plot_.left(), y), QPointF(plot_.right(), y));
        painter.setPen(theme().muted);
        painter.drawText(QPointF(plot_.left() - em() * 0.3 - metrics.horizontalAdvance(tick.label),
                                 y + (metrics.ascent() - metrics.descent()) / 2),
                         tick.label);
    }
}

void TokenBarChart::paintBar(QPainter& painter, int bar) const {
    const TokenBar& token = bars_[static_cast<std::size_t>(bar)];
    const QRectF column = columnOf(bar);
    const double strip = em() * 0.3;
    const bool sensitive = is_cuda_sensitive(token.labels);
    if (bar == marked_ || bar == hovered_) {
        QColor plate = theme().marker;
        plate.setAlphaF(0.12f); // faint: a full column must not read as a full bar
        painter.fillRect(column.adjusted(0, 0, 0, strip), plate);
    }
    const double gap = slot_ > 3 ? slot_ * 0.1 : 0;
    // The strip below the axis says "sensitive" even where bars are too short or thin for a hatch.
    if (sensitive)
        painter.fillRect(
            QRectF(column.left() + gap / 2, plot_.bottom() + penWidth() / 2, slot_ - gap, strip),
            theme().sensitive);
    if (!std::isfinite(token.confidence))
        return;
    QRectF body = column.adjusted(gap, 0, -gap, 0);
    body.setTop(yOf(token.confidence));
    QColor fill = sensitive ? theme().sensitive : theme().neutral;
    const bool hatched = sensitive && body.width() >= em() * 0.4;
    const bool back = picked_ != 0 && (token.labels & picked_) == 0;
    fill.setAlphaF(back ? 0.15f : hatched ? 0.35f : 0.85f);
    painter.fillRect(body, fill);
    if (hatched && !back) {
        paintHatch(painter, body, theme().sensitive, em() * 0.45, penWidth());
        painter.setPen(QPen(theme().sensitive, penWidth()));
        painter.drawRect(body);
    }
    if (bar == marked_) {
        painter.setPen(QPen(theme().marker, penWidth() * 2));
        painter.drawRect(body);
    }
    if (std::isfinite(token.compared)) {
        // A stem from the bar's end to the other value, and a cap there: seen without colour.
        const double y = yOf(token.compared);
        const double middle = column.center().x();
        painter.setPen(QPen(theme().text, penWidth() * 1.3));
        painter.drawLine(QPointF(middle, body.top()), QPointF(middle, y));
        painter.drawLine(QPointF(column.left() + gap, y), QPointF(column.right() - gap, y));
    }
}

void TokenBarChart::paintLabel(QPainter& painter, int bar) const {
    const QFontMetricsF metrics(labelFont());
    const bool sensitive = is_cuda_sensitive(bars_[static_cast<std::size_t>(bar)].labels);
    const double room = upright_ ? labelHeight_ : slot_ - em() * 0.2;
    const QString text =
        metrics.elidedText(shown_[static_cast<std::size_t>(bar)], Qt::ElideRight, room);
    const double middle = columnOf(bar).center().x();
    const double top = plot_.bottom() + em() * 0.45;
    painter.setPen(sensitive ? theme().sensitive : theme().text);
    if (!upright_) {
        painter.drawText(
            QPointF(middle - metrics.horizontalAdvance(text) / 2, top + metrics.ascent()), text);
        return;
    }
    painter.save();
    painter.translate(middle, top);
    painter.rotate(-90);
    painter.drawText(
        QPointF(-metrics.horizontalAdvance(text), (metrics.ascent() - metrics.descent()) / 2),
        text);
    painter.restore();
}

void TokenBarChart::paintMeanAndHeader(QPainter& painter) const {
    std::vector<HeaderItem> items{
        {tr("sensitive"), theme().sensitive, {}, HeaderItem::Bar::hatched},
        {tr("neutral"), theme().neutral, {}, HeaderItem::Bar::plain}};
    if (std::isfinite(mean_)) {
        painter.setPen(QPen(theme().text, penWidth() * 1.3, Qt::DashLine));
        painter.drawLine(QPointF(plot_.left(), yOf(mean_)), QPointF(plot_.right(), yOf(mean_)));
        items.push_back(
            {tr("mean %1").arg(QString::number(mean_, 'f', 3)), theme().text, Qt::DashLine});
    }
    if (std::any_of(bars_.begin(), bars_.end(),
                    [](const TokenBar& b) { return std::isfinite(b.compared); }))
        items.push_back({tr("after"), theme().text, Qt::SolidLine});
    paintHeader(painter, QRectF(QPointF(), QSizeF(chartSize())), labelFont(), penWidth(),
                tr("confidence"), theme().text, items);
}

void TokenBarChart::paintChart(QPainter& painter) const {
    const QRectF area({0, 0}, QSizeF(chartSize()));
    if (isEmpty())
        return paintEmptyState(painter, area);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(area, theme().background);
    paintAxis(painter);
    const int first = std::max(0, static_cast<int>(scroll_->value() / slot_));
    const int end = std::min(static_cast<int>(bars_.size()),
                             static_cast<int>((scroll_->value() + plot_.width()) / slot_) + 1);
    painter.save();
    painter.setClipRect(QRectF(plot_.left(), 0, plot_.width(), area.height()));
    for (int bar = first; bar < end; ++bar)
        paintBar(painter, bar);
    painter.setFont(labelFont());
    for (int bar = first; labelHeight_ > 0 && bar < end; ++bar)
        paintLabel(painter, bar);
    painter.restore();
    painter.setPen(QPen(hasFocus() ? palette().color(QPalette::Highlight) : theme().frame,
                        hasFocus() ? penWidth() : penWidth() / 2));
    painter.drawLine(plot_.bottomLeft(), plot_.bottomRight());
    painter.drawLine(plot_.bottomLeft(), plot_.topLeft());
    if (hasFocus())
        painter.drawRect(plot_);
    paintMeanAndHeader(painter);
}

void TokenBarChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintChart(painter);
}

void TokenBarChart::resizeEvent(QResizeEvent*) {
    layoutBars();
}

void TokenBarChart::setHovered(int bar) {
    if (bar == hovered_)
        return;
    hovered_ = bar;
    update();
    emit tokenHovered(bar < 0 ? -1 : bars_[static_cast<std::size_t>(bar)].token);
}

void TokenBarChart::mousePressEvent(QMouseEvent* event) {
    const int bar = barAt(event->position());
    if (event->button() != Qt::LeftButton || bar < 0)
        return;
    setFocus(Qt::MouseFocusReason);
    markBar(bar);
    emit tokenClicked(bars_[static_cast<std::size_t>(bar)].token);
}

void TokenBarChart::mouseMoveEvent(QMouseEvent* event) {
    setHovered(barAt(event->position()));
}

void TokenBarChart::leaveEvent(QEvent*) {
    setHovered(-1);
}

void TokenBarChart::wheelEvent(QWheelEvent* event) {
    const QPoint turned = event->angleDelta();
    const int amount = std::abs(turned.x()) > std::abs(turned.y()) ? turned.x() : turned.y();
    if (event->modifiers().testFlag(Qt::ControlModifier))
        setSlot(slot_ * std::pow(1.25, amount / 120.0), event->position().x());
    else
        scroll_->setValue(scroll_->value() - amount * scroll_->singleStep() / 120);
    event->accept();
}

void TokenBarChart::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(bars_.size()) - 1;
    int target = -1;
    switch (event->key()) {
    case Qt::Key_Left:
        target = std::max(0, marked_ - 1);
        break;
    case Qt::Key_Right:
        target = std::min(last, marked_ + 1);
        break;
    case Qt::Key_Home:
        target = 0;
        break;
    case Qt::Key_End:
        target = last;
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return setSlot(slot_ * 1.25, plot_.center().x());
    case Qt::Key_Minus:
        return setSlot(slot_ * 0.8, plot_.center().x());
    case Qt::Key_0:
        return fitLabels();
    default:
        break;
    }
    if (isEmpty() || target < 0) {
        event->ignore();
        return;
    }
    markBar(target);
    emit tokenClicked(bars_[static_cast<std::size_t>(target)].token);
}

void TokenBarChart::focusInEvent(QFocusEvent*) {
    update();
}
void TokenBarChart::focusOutEvent(QFocusEvent*) {
    update();
}

QString TokenBarChart::tooltipAt(const QPointF& position) const {
    QString text;
    const int bar = barAt(position);
    if (bar >= 0) {
        const TokenBar& token = bars_[static_cast<std::size_t>(bar)];
        QString confidence = numberText(token.confidence);
        if (std::isfinite(token.compared))
            confidence += tr(", after %1").arg(numberText(token.compared));
        text =
            tr("token %1: %2\nconfidence %3\n%4\n")
                .arg(token.token)
                .arg(visibleTokenText(token.label.left(200)), confidence, labelNames(token.labels));
    }
    return text
        + tr("Eq. 1: c = p(token | what came before)\n%1 tokens, mean %2; Ctrl+wheel changes the "
             "width")
              .arg(bars_.size())
              .arg(numberText(mean_));
}

void TokenBarChart::addMenuActions(QMenu& menu) {
    menu.addAction(tr("Show &all bars"), this, &TokenBarChart::fitAll);
    menu.addAction(tr("Show &labels"), this, &TokenBarChart::fitLabels);
}

ChartTable TokenBarChart::table() const {
    ChartTable table{{QStringLiteral("token"), QStringLiteral("text"), QStringLiteral("confidence"),
                      QStringLiteral("sensitive"), QStringLiteral("labels")},
                     {}};
    const bool compared = std::any_of(bars_.begin(), bars_.end(),
                                      [](const TokenBar& b) { return std::isfinite(b.compared); });
    if (compared)
        table.header += QStringLiteral("confidence_after");
    for (const TokenBar& bar : bars_) {
        table.rows.push_back({QString::number(bar.token), bar.label, csvNumber(bar.confidence),
                              QString::number(is_cuda_sensitive(bar.labels) ? 1 : 0),
                              QString::number(bar.labels)});
        if (compared)
            table.rows.back() += csvNumber(bar.compared);
    }
    return table;
}

} // namespace cuset
