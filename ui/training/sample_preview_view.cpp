#include "ui/training/sample_preview_view.h"

#include <algorithm>
#include <cmath>

#include <QFontDatabase>
#include <QHelpEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolTip>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr std::size_t tokensATurn = 250;

// Line ends stay line ends; other control characters become visible.
QString shown(const std::string& bytes) {
    QString text;
    std::size_t begin = 0;
    const auto flush = [&](std::size_t end) {
        if (end > begin)
            text += visibleText(std::string_view(bytes).substr(begin, end - begin),
                                static_cast<int>(end - begin) + 8);
        begin = end + 1;
    };
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] == '\n' || bytes[i] == '\t') {
            flush(i);
            text += QLatin1Char(bytes[i]);
        }
    flush(bytes.size());
    return text;
}

} // namespace

SamplePreviewView::SamplePreviewView(QWidget* parent)
    : QWidget(parent)
    , head_(new QLabel(this))
    , legend_(new Legend(this))
    , text_(new QTextEdit(this)) {
    setWhatsThis(tr("What a run would train of this sample. The prompt is grey: it is read, not "
                    "trained. The darker a response token's colour, the more its loss weighs; "
                    "CUDA tokens are underlined. What the maximum length cuts off is struck out."));
    head_->setWordWrap(true);
    head_->setTextFormat(Qt::PlainText);
    text_->setReadOnly(true);
    text_->setFrameShape(QFrame::NoFrame);
    text_->setLineWrapMode(QTextEdit::NoWrap);
    text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text_->setAccessibleName(tr("What is trained"));
    text_->setUndoRedoEnabled(false);
    text_->viewport()->installEventFilter(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(head_);
    column->addWidget(legend_);
    column->addWidget(text_, 1);
    timer_.setInterval(0);
    connect(&timer_, &QTimer::timeout, this, &SamplePreviewView::addPiece);
    showProblem(tr("Choose a model and data to see what is trained."));
}

void SamplePreviewView::showProblem(const QString& text) {
    preview_.reset();
    timer_.stop();
    text_->clear();
    legend_->hide();
    head_->setText(text);
}

void SamplePreviewView::setPreview(std::shared_ptr<const SamplePreview> preview) {
    const int scroll =
        preview_ && preview_->id == preview->id ? text_->verticalScrollBar()->value() : 0;
    preview_ = std::move(preview);
    begin();
    addPiece();
    text_->verticalScrollBar()->setValue(scroll);
}

void SamplePreviewView::begin() {
    if (!preview_)
        return;
    double largest = 1;
    bool known = false;
    for (const PreviewToken& token : preview_->tokens)
        if (token.part == PreviewToken::Part::response && std::isfinite(token.weight)) {
            largest = std::max(largest, token.weight);
            known = true;
        }
    scale_ = ColorScale(ColorMap::Cividis, 0, largest);
    const QColor paper = palette().color(QPalette::Base);
    scale_.setPaper(
        paper, readableStrength(ColorMap::Cividis, paper, {palette().color(QPalette::Text)}, 0.75));
    legend_->setVisible(known);
    showLegend(largest);
    head_->setText(headline());
    text_->clear();
    ends_.clear();
    next_ = 0;
    timer_.start();
}

void SamplePreviewView::showLegend(double largest) {
    std::vector<Legend::Tick> ticks;
    for (const double value : scale_.ticks(4))
        ticks.push_back({value, QString::number(value, 'g', 3)});
    if (ticks.empty())
        ticks.push_back({largest, QString::number(largest, 'g', 3)});
    legend_->showScale(scale_, tr("weight in the loss"), ticks);
}

QString SamplePreviewView::headline() const {
    const SamplePreview& p = *preview_;
    QString text = tr("%1: %2 tokens read, %3 trained")
                       .arg(visibleText(p.id, 60))
                       .arg(p.context_tokens)
                       .arg(p.left_out ? 0 : p.response_tokens);
    if (p.cut_tokens > 0)
        text += tr(", %1 cut off").arg(p.cut_tokens);
    if (std::isfinite(p.sample_weight) && !p.left_out)
        text += tr("; w_n %1").arg(p.sample_weight, 0, 'f', 3);
    if (!p.note.empty())
        text += tr(". Left out: %1").arg(visibleText(p.note, 300));
    else if (!p.scored && !std::isfinite(p.sample_weight))
        text += tr(". The weights of this objective depend on the model's confidence: score the "
                   "samples with this model (F5) to see them.");
    return text;
}

QTextCharFormat SamplePreviewView::format(const PreviewToken& token) const {
    QTextCharFormat format;
    const QColor muted = palette().color(QPalette::PlaceholderText);
    switch (token.part) {
    case PreviewToken::Part::context:
        format.setForeground(muted);
        break;
    case PreviewToken::Part::cut:
        format.setForeground(muted);
        format.setFontStrikeOut(true);
        break;
    case PreviewToken::Part::response:
        if (std::isfinite(token.weight) && !preview_->left_out)
            format.setBackground(scale_.color(token.weight));
        format.setFontUnderline(token.cuda);
        break;
    }
    return format;
}

void SamplePreviewView::addPiece() {
    if (!preview_ || next_ >= preview_->tokens.size()) {
        timer_.stop();
        return;
    }
    QTextCursor cursor(text_->document());
    cursor.movePosition(QTextCursor::End);
    cursor.beginEditBlock();
    const std::size_t end = std::min(next_ + tokensATurn, preview_->tokens.size());
    for (; next_ < end; ++next_) {
        const PreviewToken& token = preview_->tokens[next_];
        cursor.insertText(shown(token.text), format(token));
        ends_.push_back(cursor.position());
    }
    cursor.endEditBlock();
}

QString SamplePreviewView::toolTip(std::size_t index) const {
    const PreviewToken& token = preview_->tokens[index];
    const QString text = visibleText(token.text, 60);
    if (token.part == PreviewToken::Part::context)
        return tr("%1\nread, not trained").arg(text);
    if (token.part == PreviewToken::Part::cut)
        return tr("%1\nbeyond the maximum length: not seen").arg(text);
    QString tip = text;
    if (std::isfinite(token.confidence))
        tip += tr("\nconfidence %1").arg(token.confidence, 0, 'f', 4);
    if (std::isfinite(token.weight))
        tip += tr("\nweight in the loss %1").arg(token.weight, 0, 'g', 4);
    if (token.cuda)
        tip += tr("\nin a kernel body or launch configuration");
    return tip;
}

bool SamplePreviewView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == text_->viewport() && event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int position = text_->cursorForPosition(help->pos()).position();
        const auto found = std::upper_bound(ends_.begin(), ends_.end(), position);
        if (preview_ && found != ends_.end())
            QToolTip::showText(
                help->globalPos(),
                plainToolTip(toolTip(static_cast<std::size_t>(found - ends_.begin()))), text_);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void SamplePreviewView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && preview_)
        begin();
}

} // namespace cuset
