#include "ui/generate/answer_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QDateTime>
#include <QEvent>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "core/cuda/token_labels.h"
#include "ui/editor/region_layer.h"

namespace cuset {
namespace {

constexpr int showInterval = 33; // ms: a frame of text at a time
constexpr int regionInterval = 200; // ms between looks for CUDA regions
constexpr double wantedStrength = 0.62;
constexpr int listedMessages = 5; // rows of the list

// Low confidence beside an error is what is looked for: the least confident token of the line.
QString lowestOfLine(const Answer& answer, const CodeView& code, int line) {
    int lowest = -1;
    for (int t = 0; t < static_cast<int>(answer.tokens.size()); ++t) {
        const ByteSpan span = answer.spans[static_cast<std::size_t>(t)];
        const auto text = std::string_view(answer.text)
                              .substr(static_cast<std::size_t>(span.begin),
                                      static_cast<std::size_t>(span.size()));
        if (text.find_first_not_of(" \t\r\n") == std::string_view::npos
            || code.lineOfByte(span.begin) != line)
            continue;
        if (lowest < 0
            || answer.tokens[static_cast<std::size_t>(t)].confidence
                < answer.tokens[static_cast<std::size_t>(lowest)].confidence)
            lowest = t;
    }
    if (lowest < 0)
        return {};
    const AnswerToken& token = answer.tokens[static_cast<std::size_t>(lowest)];
    return AnswerView::tr("lowest c of the line %1 at \u201c%2\u201d")
        .arg(static_cast<double>(token.confidence), 0, 'f', 2)
        .arg(visibleText(token.bytes, 20).trimmed());
}

} // namespace

AnswerView::AnswerView(const QString& name, JobRunner* pool, QWidget* parent)
    : QWidget(parent)
    , pool_(pool)
    , regionChannel_(QStringLiteral("answer regions %1").arg(name))
    , compileChannel_(QStringLiteral("compile %1").arg(name)) {
    build(name);
    showTimer_.setSingleShot(true);
    showTimer_.setInterval(showInterval);
    connect(&showTimer_, &QTimer::timeout, this, &AnswerView::showText);
    regionTimer_.setSingleShot(true);
    regionTimer_.setInterval(regionInterval);
    connect(&regionTimer_, &QTimer::timeout, this, &AnswerView::findRegions);
    code_->setToolTipSource([this](int byte) { return describe(byte); });
    connect(messages_, &QListWidget::currentRowChanged, this, [this](int row) {
        if (!compiled_ || row < 0 || row >= static_cast<int>(compiled_->messages.size()))
            return;
        const int line = compiled_->messages[static_cast<std::size_t>(row)].line - 1;
        if (line >= 0 && line < code_->lineCount())
            code_->scrollToLine(line);
    });
    connect(compile_, &QToolButton::clicked, this, &AnswerView::compile);
    connect(save_, &QToolButton::clicked, this, &AnswerView::saveRequested);
    updateButtons();
}

void AnswerView::build(const QString& name) {
    title_ = new QLabel(this);
    title_->setTextFormat(Qt::PlainText);
    title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    figures_ = new QLabel(this);
    figures_->setTextFormat(Qt::PlainText);
    figures_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    figures_->setForegroundRole(QPalette::PlaceholderText);
    code_ = new CodeView(this);
    code_->setAccessibleName(tr("Answer, %1").arg(name));
    code_->setWhatsThis(tr("What the model writes. Each token is coloured by the probability the "
                           "model gave it; CUDA regions are underlined, compiler messages stand "
                           "below their lines."));
    const auto button = [this](const QString& text, const QString& help) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setToolTip(help);
        made->setFocusPolicy(Qt::TabFocus);
        return made;
    };
    compile_ = button(tr("Compile"),
                      tr("Check the CUDA source in the answer with nvcc -c, in a temporary folder. "
                         "Nothing of it is run."));
    save_ = button(tr("Save as sample\u2026"),
                   tr("Add prompt and answer to a JSON Lines file of samples"));
    verdict_ = new QLabel(this);
    verdict_->setTextFormat(Qt::PlainText);
    verdict_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    messages_ = new QListWidget(this);
    messages_->setAccessibleName(tr("Compiler messages, %1").arg(name));
    messages_->setTextElideMode(Qt::ElideRight);
    messages_->setUniformItemSizes(true);
    messages_->setFrameShape(QFrame::NoFrame);
    messages_->setMaximumHeight(fontMetrics().lineSpacing() * listedMessages
                                + fontMetrics().height());
    messages_->hide();

    const int gap = fontMetrics().height() / 3;
    auto* head = new QHBoxLayout;
    head->setSpacing(gap);
    head->addWidget(title_, 1);
    head->addWidget(compile_);
    head->addWidget(save_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(gap / 2);
    column->addLayout(head);
    column->addWidget(figures_);
    column->addWidget(code_, 1);
    column->addWidget(verdict_);
    column->addWidget(messages_);
}

void AnswerView::clear() {
    start({});
    running_ = false;
    updateButtons();
}

void AnswerView::start(const QString& title) {
    pool_->abandon(regionChannel_);
    regionTimer_.stop();
    regionsDue_ = false;
    clearCompiled();
    answer_ = Answer();
    answer_.title = title;
    shownBytes_ = 0;
    running_ = true;
    startedAt_ = 0;
    title_->setText(visibleText(title.toStdString(), 80));
    code_->setResponse({});
    showFigures();
    updateButtons();
}

void AnswerView::add(AnswerToken token) {
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (startedAt_ == 0)
        startedAt_ = now;
    answer_.seconds = static_cast<double>(now - startedAt_) / 1000;
    answer_.add(std::move(token));
    if (!showTimer_.isActive())
        showTimer_.start();
}

void AnswerView::end(const QString& why) {
    answer_.ending = why;
    running_ = false;
    showTimer_.stop();
    showText();
    regionTimer_.stop();
    findRegions();
    updateButtons();
}

void AnswerView::setColorMap(ColorMap map) {
    map_ = map;
    paint();
}

// Appends what has come since, and goes on showing the end if it was in sight.
void AnswerView::showText() {
    const bool atEnd = code_->firstVisibleLine() + code_->visibleLines() >= code_->lineCount() - 1;
    code_->appendResponse(
        std::string_view(answer_.text).substr(static_cast<std::size_t>(shownBytes_)));
    shownBytes_ = static_cast<int>(answer_.text.size());
    paint();
    showFigures();
    if (atEnd)
        code_->scrollToLine(code_->lineCount());
    regionsDue_ = true;
    if (!regionTimer_.isActive() && !pool_->isRunning(regionChannel_))
        regionTimer_.start();
}

void AnswerView::paint() {
    const QPalette colors = code_->palette();
    const QColor paper = colors.color(QPalette::Base);
    scale_ = ColorScale(map_, 0, 1);
    scale_.setPaper(paper, readableStrength(map_, paper, code_->textColors(), wantedStrength));
    std::vector<QColor> painted;
    painted.reserve(answer_.tokens.size());
    for (const AnswerToken& token : answer_.tokens)
        painted.push_back(scale_.color(static_cast<double>(token.confidence)));
    code_->paintTokens(answer_.spans, painted);
}

void AnswerView::findRegions() {
    regionsDue_ = false;
    if (answer_.text.empty())
        return;
    struct Found {
        CudaStructure structure;
        std::vector<LabelBits> labels;
    };
    const int bytes = static_cast<int>(answer_.text.size());
    pool_->start(
        regionChannel_,
        [text = answer_.text, spans = answer_.spans](RunControl&) {
            Found found;
            found.structure = find_cuda_structure(text);
            found.labels = label_tokens(found.structure, spans);
            return found;
        },
        [this, bytes](JobOutcome<Found> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* found = std::get_if<0>(&outcome)) {
                answer_.labels = std::move(found->labels);
                showRegions(found->structure, bytes);
                showFigures();
            }
            if (regionsDue_ && !regionTimer_.isActive())
                regionTimer_.start();
        });
}

void AnswerView::showRegions(const CudaStructure& structure, int bytes) {
    code_->setRegions(regionMarks(structure, {}, bytes));
    code_->setIslands(islandMarks(structure));
}

void AnswerView::showFigures() {
    const auto number = [](double value) {
        return std::isfinite(value) ? QString::number(value, 'f', 3) : QStringLiteral("\u2013");
    };
    if (answer_.tokens.empty()) {
        figures_->setText(answer_.ending);
        return;
    }
    const Answer::Means means = answer_.means();
    QString text = tr("%n tokens", nullptr, static_cast<int>(answer_.tokens.size()));
    if (answer_.seconds > 0.2)
        text += tr(", %1/s").arg(static_cast<double>(answer_.tokens.size()) / answer_.seconds, 0,
                                 'f', 1);
    text += tr("; c %1, sensitive %2, neutral %3")
                .arg(number(means.all), number(means.sensitive), number(means.neutral));
    if (!answer_.ending.isEmpty())
        text += QStringLiteral("; ") + answer_.ending;
    figures_->setText(text);
    figures_->setToolTip(plainToolTip(
        text + QLatin1Char('\n')
        + tr("Means of the probability that the model gave its own tokens: all, CUDA-sensitive, "
             "neutral")));
}

void AnswerView::updateButtons() {
    static const bool hasCompiler = !find_nvcc().empty();
    const bool some = !running_ && !answer_.text.empty();
    compile_->setVisible(hasCompiler);
    compile_->setEnabled(some);
    save_->setEnabled(some);
}

void AnswerView::clearCompiled() {
    pool_->abandon(compileChannel_);
    compiled_.reset();
    messages_->clear();
    messages_->hide();
    verdict_->hide();
    code_->setLineMessages({});
}

void AnswerView::compile() {
    if (running_ || answer_.text.empty())
        return;
    clearCompiled();
    verdict_->setText(tr("Compiling\u2026"));
    verdict_->show();
    compile_->setEnabled(false);
    pool_->start(
        compileChannel_,
        [text = answer_.text](RunControl& control) {
            return check_compiles(text, CompileOptions{}, control);
        },
        [this](JobOutcome<CompileResult> outcome) {
            updateButtons();
            verdict_->hide();
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* result = std::get_if<0>(&outcome)) {
                compiled_ = std::move(*result);
                showCompiled(*compiled_);
            }
        });
}

void AnswerView::showCompiled(const CompileResult& result) {
    const auto errors = std::count_if(
        result.messages.begin(), result.messages.end(), [](const CompilerMessage& message) {
            return message.severity == CompilerMessage::Severity::error;
        });
    const auto others = static_cast<int>(result.messages.size() - static_cast<std::size_t>(errors));
    const SeriesColors series = seriesColors(palette());
    QPalette colors = verdict_->palette();
    colors.setColor(
        QPalette::WindowText,
        readableOn(result.ok ? series.neutral : series.warning, palette().color(QPalette::Window)));
    verdict_->setPalette(colors);
    verdict_->setText((result.ok
                           ? tr("Compiles")
                           : tr("Does not compile: %n errors", nullptr, static_cast<int>(errors)))
                      + (others > 0 ? tr(", %n warnings", nullptr, others) : QString())
                      + tr("; nvcc -c took %1 s").arg(result.seconds, 0, 'f', 1));
    verdict_->show();
    std::vector<LineMessage> lines;
    for (const CompilerMessage& message : result.messages) {
        const bool error = message.severity == CompilerMessage::Severity::error;
        const QString text = visibleText(message.text, 400);
        QString row = message.line > 0
            ? tr("line %1  %2: %3").arg(message.line).arg(error ? tr("error") : tr("warning"), text)
            : tr("%1: %2").arg(error ? tr("error") : tr("warning"), text);
        if (message.line > 0) {
            const QString lowest = lowestOfLine(answer_, *code_, message.line - 1);
            if (!lowest.isEmpty())
                row += tr("   (%1)").arg(lowest);
            lines.push_back({message.line - 1, text, error});
        }
        auto* item = new QListWidgetItem(row, messages_);
        item->setToolTip(plainToolTip(row));
    }
    code_->setLineMessages(lines);
    messages_->setVisible(messages_->count() > 0);
}

bool AnswerView::isSettled() const {
    return !running_ && !regionTimer_.isActive() && !showTimer_.isActive()
        && !pool_->isRunning(regionChannel_) && !pool_->isRunning(compileChannel_);
}

QString AnswerView::describe(int byte) const {
    const int at = byte < 0 ? -1 : answer_.tokenAt(byte);
    if (at < 0)
        return {};
    const AnswerToken& token = answer_.tokens[static_cast<std::size_t>(at)];
    QString text = tr("p %1   H %2 nats   rank %3")
                       .arg(static_cast<double>(token.confidence), 0, 'f', 3)
                       .arg(static_cast<double>(token.entropy), 0, 'f', 2)
                       .arg(token.rank);
    for (const AnswerToken::Alternative& other : token.alternatives)
        text += QStringLiteral("\n%1  %2")
                    .arg(static_cast<double>(other.probability), 0, 'f', 3)
                    .arg(other.text);
    return text;
}

void AnswerView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    // The code view gets its new palette after this widget.
    if (event->type() == QEvent::PaletteChange && code_)
        QMetaObject::invokeMethod(
            this,
            [this] {
                paint();
                if (compiled_) {
                    messages_->clear();
                    showCompiled(*compiled_);
                }
            },
            Qt::QueuedConnection);
}

} // namespace cuset
