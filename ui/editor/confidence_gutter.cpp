#include "ui/editor/confidence_gutter.h"

#include <algorithm>
#include <array>
#include <utility>

#include <QCoreApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

struct ModeText {
    GutterMode mode;
    const char* key;
    const char* title;
};

constexpr std::array<ModeText, gutterModeCount> modes{{
    {{false, TextUnit::line, Aggregate::mean}, "none", QT_TRANSLATE_NOOP("Gutter", "none")},
    {{true, TextUnit::token, Aggregate::mean},
     "token",
     QT_TRANSLATE_NOOP("Gutter", "lowest token")},
    {{true, TextUnit::line, Aggregate::mean},
     "line-mean",
     QT_TRANSLATE_NOOP("Gutter", "line, mean")},
    {{true, TextUnit::line, Aggregate::minimum},
     "line-minimum",
     QT_TRANSLATE_NOOP("Gutter", "line, minimum")},
    {{true, TextUnit::statement, Aggregate::mean},
     "statement-mean",
     QT_TRANSLATE_NOOP("Gutter", "statement, mean")},
    {{true, TextUnit::statement, Aggregate::minimum},
     "statement-minimum",
     QT_TRANSLATE_NOOP("Gutter", "statement, minimum")},
    {{true, TextUnit::window, Aggregate::mean},
     "window-mean",
     QT_TRANSLATE_NOOP("Gutter", "window, mean")},
    {{true, TextUnit::region, Aggregate::mean},
     "region-mean",
     QT_TRANSLATE_NOOP("Gutter", "region, mean")},
    {{true, TextUnit::region, Aggregate::minimum},
     "region-minimum",
     QT_TRANSLATE_NOOP("Gutter", "region, minimum")},
}};

QString text(const char* source) {
    return QCoreApplication::translate("Gutter", source);
}

QString unitTitle(TextUnit unit) {
    switch (unit) {
    case TextUnit::token:
        return text(QT_TRANSLATE_NOOP("Gutter", "Lowest token of the line"));
    case TextUnit::line:
        return text(QT_TRANSLATE_NOOP("Gutter", "Line"));
    case TextUnit::statement:
        return text(QT_TRANSLATE_NOOP("Gutter", "Statement"));
    case TextUnit::window:
        return text(QT_TRANSLATE_NOOP("Gutter", "Lowest window around a token of the line"));
    case TextUnit::region:
        break;
    }
    return text(QT_TRANSLATE_NOOP("Gutter", "Region"));
}

} // namespace

GutterMode gutterMode(int index) {
    return modes[static_cast<std::size_t>(index)].mode;
}

QString gutterModeKey(const GutterMode& mode) {
    const auto found = std::ranges::find(modes, mode, &ModeText::mode);
    return QString::fromLatin1(found == modes.end() ? modes.front().key : found->key);
}

GutterMode gutterModeFor(const QString& key) {
    for (const ModeText& each : modes)
        if (key == QLatin1String(each.key))
            return each.mode;
    return {};
}

QString gutterModeTitle(const GutterMode& mode) {
    const auto found = std::ranges::find(modes, mode, &ModeText::mode);
    return text(found == modes.end() ? modes.front().title : found->title);
}

ConfidenceGutter::ConfidenceGutter(CodeView* code, QWidget* parent)
    : QWidget(parent)
    , code_(code) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setAccessibleName(tr("Confidence of each line"));
    setWhatsThis(tr("A bar a line: the longer, the surer the model is of the line, or of the least "
                    "sure token, statement, window or region on it. View > Gutter chooses what it "
                    "shows. Click to go to the lowest token of what the bar stands for."));
    connect(code_, &CodeView::viewportChanged, this, qOverload<>(&QWidget::update));
}

QSize ConfidenceGutter::sizeHint() const {
    return {fontMetrics().horizontalAdvance(QLatin1Char('0')) * 4, fontMetrics().height() * 6};
}

void ConfidenceGutter::setMode(const GutterMode& mode) {
    mode_ = mode;
    setVisible(mode_.shown);
    measure();
}

void ConfidenceGutter::setFigures(const std::shared_ptr<const TokenFigures>& figures) {
    // Only the window of the thresholds matters here.
    const bool same = figures && figures_ && figures->index() == figures_->index()
        && &figures->scores() == &figures_->scores()
        && (mode_.unit != TextUnit::window
            || (figures->settings().window == figures_->settings().window
                && figures->settings().whole_if_short == figures_->settings().whole_if_short));
    figures_ = figures;
    if (!same)
        measure();
}

void ConfidenceGutter::setColors(const ColorScale& scale) {
    if (scale == scale_)
        return;
    scale_ = scale;
    update();
}

void ConfidenceGutter::measure() {
    lines_.clear();
    if (figures_ && mode_.shown)
        lines_ = line_confidences(figures_->scores().response(figures_->index()),
                                  {figures_->spans(), figures_->confidence(), figures_->labels()},
                                  mode_.unit, mode_.how, figures_->settings());
    update();
}

int ConfidenceGutter::lineAt(int y) const {
    const int height = std::max(1, code_->textHeight(0));
    return code_->firstVisibleLine() + y / height;
}

QString ConfidenceGutter::description(int line) const {
    if (line < 0 || line >= static_cast<int>(lines_.size())
        || lines_[static_cast<std::size_t>(line)].tokens == 0)
        return {};
    const SpanConfidence& unit = lines_[static_cast<std::size_t>(line)];
    const int first = code_->lineOfByte(unit.span.begin) + 1;
    const int last = code_->lineOfByte(std::max(unit.span.begin, unit.span.end - 1)) + 1;
    QString where =
        first == last ? tr("line %1").arg(first) : tr("lines %1\u2013%2").arg(first).arg(last);
    return tr("%1 (%2): mean c %3, lowest %4, %n tokens", nullptr, unit.tokens)
        .arg(unitTitle(mode_.unit), where)
        .arg(static_cast<double>(unit.mean), 0, 'f', 3)
        .arg(static_cast<double>(unit.minimum), 0, 'f', 3);
}

// Scintilla's lines are equally high, and no line is wrapped or folded.
void ConfidenceGutter::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const int lineHeight = std::max(1, code_->textHeight(0));
    const int bottom = code_->viewport()->height();
    const qreal margin = width() * 0.1;
    const qreal full = width() - 2 * margin;
    const QColor edge =
        mixed(palette().color(QPalette::Text), palette().color(QPalette::Base), 0.5);
    int line = code_->firstVisibleLine();
    for (int y = 0; y < bottom && line < static_cast<int>(lines_.size()); y += lineHeight, ++line) {
        const SpanConfidence& unit = lines_[static_cast<std::size_t>(line)];
        if (unit.tokens == 0)
            continue;
        const double value = static_cast<double>(unit.confidence(mode_.how));
        const QRectF bar(margin, y + lineHeight * 0.22, std::max(1.0, full * value),
                         lineHeight * 0.56);
        painter.fillRect(bar, scale_.color(value));
        painter.fillRect(QRectF(bar.right() - 1.5, bar.top(), 1.5, bar.height()), edge);
    }
}

bool ConfidenceGutter::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString words = description(lineAt(help->pos().y()));
    if (words.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), plainToolTip(words), this);
    return true;
}

void ConfidenceGutter::mousePressEvent(QMouseEvent* event) {
    const int line = lineAt(static_cast<int>(event->position().y()));
    if (event->button() != Qt::LeftButton || description(line).isEmpty())
        return;
    const SpanConfidence& unit = lines_[static_cast<std::size_t>(line)];
    const auto first = figures_->confidence().begin() + unit.first_token;
    const auto lowest = std::min_element(first, first + unit.tokens);
    const auto token = static_cast<std::size_t>(lowest - figures_->confidence().begin());
    code_->goToByte(figures_->spans()[token].begin);
}

} // namespace cuset
