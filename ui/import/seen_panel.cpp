#include "ui/import/seen_panel.h"

#include <optional>
#include <utility>

#include <QEvent>
#include <QShowEvent>
#include <QTextCursor>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

const QString channel = QStringLiteral("what the model sees");
constexpr int runUnits = 1 << 24;

struct Seen {
    std::shared_ptr<const ModelView> model;
    SeenSequence sequence;
};

// The row's sample: the data's, or what a score file keeps of it.
Sample sampleAt(const Workspace& workspace, int row) {
    const std::string id = workspace.sampleId(row).toStdString();
    if (workspace.dataset())
        for (const Sample& sample : workspace.dataset()->samples)
            if (sample.id == id)
                return sample;
    Sample sample;
    sample.id = id;
    sample.prompt = workspace.prompt(row);
    sample.response = workspace.response(row);
    return sample;
}

// Line ends stay line ends; everything else that cannot be seen is made visible.
QString shown(const std::string& bytes) {
    QString out;
    const QString text = QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
    const QStringList lines = text.split(QLatin1Char('\n'));
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (i > 0)
            out += QLatin1Char('\n');
        out += visibleText(lines[i].toStdString(), runUnits);
    }
    return out;
}

} // namespace

SeenPanel::SeenPanel(Workspace* workspace, SelectionState* selection, JobRunner* pool,
                     Options options, QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , selection_(selection)
    , pool_(pool)
    , options_(std::move(options)) {
    setWhatsThis(tr("The prompt as the chat template renders it, with control tokens framed, and "
                    "the response. Shaded tokens are scored and trained; the others are context."));
    summary_ = new QLabel(this);
    summary_->setTextFormat(Qt::PlainText);
    summary_->setWordWrap(true);
    summary_->setAccessibleName(tr("What the model sees, in numbers"));
    view_ = new QPlainTextEdit(this);
    view_->setReadOnly(true);
    view_->setFrameShape(QFrame::NoFrame);
    view_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    view_->setAccessibleName(tr("What the model sees"));
    QFont font = view_->font();
    font.setFamily(QStringLiteral("monospace"));
    font.setStyleHint(QFont::Monospace);
    view_->setFont(font);
    const int gap = fontMetrics().height() / 3;
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(gap, gap, gap, gap);
    column->setSpacing(gap);
    column->addWidget(summary_);
    column->addWidget(view_, 1);
    connect(workspace_, &Workspace::samplesReset, this, &SeenPanel::refresh);
    connect(workspace_, &Workspace::modelChanged, this, &SeenPanel::refresh);
    connect(selection_, &SelectionState::sampleChanged, this, &SeenPanel::refresh);
    refresh();
}

void SeenPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void SeenPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

void SeenPanel::say(const QString& text) {
    summary_->setText(text);
    view_->clear();
}

void SeenPanel::refresh() {
    if (!isVisible())
        return;
    pool_->abandon(channel);
    const int row = selection_->sample();
    if (!workspace_->model())
        return say(tr("Open a model to see what it makes of the sample (Ctrl+M)."));
    if (row < 0 || row >= workspace_->sampleCount())
        return say(tr("Open samples and choose one."));
    const QString path = QString::fromStdString(workspace_->model()->path);
    if (path != modelPath_)
        model_.reset();
    modelPath_ = path;
    pool_->start(
        channel,
        [model = model_, path = path.toStdString(), sample = sampleAt(*workspace_, row),
         options = options_()](RunControl&) {
            Seen seen{model ? model : std::make_shared<const ModelView>(path), {}};
            seen.sequence = seen.model->see(sample, options);
            return seen;
        },
        [this](JobOutcome<Seen> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                say(QString::fromUtf8(error->what()));
            if (auto* seen = std::get_if<0>(&outcome)) {
                model_ = std::move(seen->model);
                present(seen->sequence);
            }
        });
}

void SeenPanel::present(const SeenSequence& seen) {
    std::int64_t scored = 0;
    for (const SeenToken& token : seen.tokens)
        scored += token.response;
    QStringList parts{
        tr("%1 tokens, %2 scored")
            .arg(countText(static_cast<std::int64_t>(seen.tokens.size())), countText(scored)),
        tr("template: %1").arg(visibleText(seen.template_source, 60)),
        tr("begin tokens: %1").arg(seen.begin_tokens)};
    if (seen.begin_tokens > 1)
        parts += tr("DOUBLED BOS: the template and the tokenizer both add one");
    if (seen.cut_tokens > 0)
        parts += tr("%1 tokens cut off at the end").arg(countText(seen.cut_tokens));
    if (seen.dropped_bytes > 0)
        parts += tr("%1 bytes have no token").arg(countText(seen.dropped_bytes));
    if (seen.plain_controls > 0)
        parts += tr("%1 words like control tokens are text").arg(countText(seen.plain_controls));
    if (seen.reasoning_tokens > 0)
        parts += tr("%1 scored tokens are reasoning").arg(countText(seen.reasoning_tokens));
    summary_->setText(parts.join(QStringLiteral(" \u00b7 ")));

    // One run of characters for tokens of a kind that follow one another: few pieces for Qt.
    view_->clear();
    QTextCursor cursor(view_->document());
    const QPalette colors = palette();
    QTextCharFormat context;
    context.setForeground(colors.color(QPalette::PlaceholderText));
    QTextCharFormat response;
    response.setForeground(colors.color(QPalette::Text));
    QColor shade = colors.color(QPalette::Highlight);
    shade.setAlpha(40);
    response.setBackground(shade);
    QTextCharFormat control;
    control.setForeground(colors.color(QPalette::HighlightedText));
    control.setBackground(colors.color(QPalette::Highlight));
    cursor.beginEditBlock();
    std::string run;
    const SeenToken* last = nullptr;
    const auto flush = [&] {
        if (last != nullptr)
            cursor.insertText(shown(run),
                              last->special        ? control
                                  : last->response ? response
                                                   : context);
        run.clear();
    };
    for (const SeenToken& token : seen.tokens) {
        if (last != nullptr && (last->special || token.special || last->response != token.response))
            flush();
        run += token.bytes;
        last = &token;
    }
    flush();
    cursor.endEditBlock();
    view_->moveCursor(QTextCursor::Start);
}

} // namespace cuset
