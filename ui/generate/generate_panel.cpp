#include "ui/generate/generate_panel.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/io/sample_writer.h"
#include "ui/state/native_path.h"

namespace cuset {

GeneratePanel::GeneratePanel(Workspace* workspace, SelectionState* selection, JobRunner* pool,
                             QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , selection_(selection)
    , pool_(pool) {
    setWhatsThis(tr("Writes an answer to a prompt with the open model, each token coloured by the "
                    "model's own confidence. With an adapter the answers of base and adapter "
                    "stand side by side. Compile marks what nvcc says in the code."));
    split_ = new QSplitter(this);
    split_->setChildrenCollapsible(false);
    split_->addWidget(buildPrompt());
    split_->setStretchFactor(0, 2);
    const int gap = fontMetrics().height() / 3;
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(gap, gap, gap, gap);
    layout->addWidget(split_);
    connect(prompt_, &QPlainTextEdit::textChanged, this, &GeneratePanel::updateButtons);
    connect(selection_, &SelectionState::sampleChanged, this, &GeneratePanel::updateButtons);
    connect(workspace_, &Workspace::samplesReset, this, &GeneratePanel::updateButtons);
    updateButtons();
}

AnswerView* GeneratePanel::answer(int variant) {
    AnswerView*& view = answers_[static_cast<std::size_t>(variant)];
    if (view)
        return view;
    view = new AnswerView(variant == 0 ? tr("first") : tr("second"), pool_, this);
    view->setColorMap(map_);
    connect(view, &AnswerView::saveRequested, this, [this, variant] { chooseFile(variant); });
    connect(view, &AnswerView::failed, this, &GeneratePanel::failed);
    split_->addWidget(view);
    split_->setStretchFactor(split_->indexOf(view), 3);
    // What is added to a splitter that is shown gets little of it: everything by its factor again.
    QList<int> sizes{2 * split_->width()};
    sizes.resize(split_->count(), 3 * split_->width());
    split_->setSizes(sizes);
    return view;
}

void GeneratePanel::showEvent(QShowEvent* event) {
    answer(0);
    QWidget::showEvent(event);
}

QWidget* GeneratePanel::buildPrompt() {
    auto* side = new QWidget(this);
    const int gap = fontMetrics().height() / 3;
    auto* label = new QLabel(tr("&Prompt"), side);
    prompt_ = new QPlainTextEdit(side);
    prompt_->setPlaceholderText(tr("Write a CUDA kernel that \u2026"));
    prompt_->setTabChangesFocus(true);
    prompt_->setAccessibleName(tr("Prompt"));
    label->setBuddy(prompt_);
    use_ = new QToolButton(side);
    use_->setText(tr("Use the sample's"));
    use_->setToolTip(tr("Take the prompt of the selected sample, with its whole conversation"));
    connect(use_, &QToolButton::clicked, this, &GeneratePanel::usePromptOfSample);
    generate_ = new QToolButton(side);
    generate_->setText(tr("Generate"));
    generate_->setToolTip(tr("Write an answer (Ctrl+Return)"));
    generate_->setShortcut(QKeySequence(QStringLiteral("Ctrl+Return")));
    connect(generate_, &QToolButton::clicked, this, &GeneratePanel::generateRequested);
    stop_ = new QToolButton(side);
    stop_->setText(tr("Stop"));
    stop_->setToolTip(tr("Stop; what is written stays (Esc)"));
    connect(stop_, &QToolButton::clicked, this, &GeneratePanel::stopRequested);
    hint_ = new QLabel(side);
    hint_->setWordWrap(true);
    hint_->setForegroundRole(QPalette::PlaceholderText);
    hint_->setText(tr("Open a model first (Ctrl+M)."));
    auto* head = new QHBoxLayout;
    head->addWidget(label, 1);
    head->addWidget(use_);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(gap);
    buttons->addWidget(generate_);
    buttons->addWidget(stop_);
    buttons->addWidget(hint_, 1);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(gap);
    column->addLayout(head);
    column->addWidget(prompt_, 1);
    column->addWidget(buildOptions());
    column->addLayout(buttons);
    return side;
}

QWidget* GeneratePanel::buildOptions() {
    auto* box = new QWidget(this);
    const GenerateOptions defaults;
    temperature_ = new QDoubleSpinBox(box);
    temperature_->setRange(0, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setToolTip(tr("0: always the most probable token"));
    topP_ = new QDoubleSpinBox(box);
    topP_->setRange(0.01, 1);
    topP_->setSingleStep(0.05);
    topP_->setToolTip(tr("Sample among the most probable tokens that hold this probability"));
    seed_ = new QSpinBox(box);
    seed_->setRange(0, std::numeric_limits<int>::max());
    seed_->setToolTip(tr("The same seed writes the same answer"));
    maxTokens_ = new QSpinBox(box);
    maxTokens_->setRange(1, 1 << 20);
    maxTokens_->setToolTip(tr("The longest answer, in tokens"));
    setOptions(defaults);
    adapter_ = new QComboBox(box);
    adapter_->setAccessibleName(tr("Adapter"));
    adapter_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    adapter_->setMinimumContentsLength(12);
    adapter_->setToolTip(tr("A LoRA adapter to put on the model: a checkpoint of the run that is "
                            "compared, or any PEFT folder"));
    setAdapters({});
    connect(adapter_, &QComboBox::activated, this, [this](int index) {
        if (index == adapter_->count() - 1)
            chooseAdapter();
        updateButtons();
    });
    beside_ = new QCheckBox(tr("&Base beside it"), box);
    beside_->setToolTip(tr("Write the answer without the adapter too, side by side"));
    beside_->setChecked(true);
    auto* numbers = new QHBoxLayout;
    const int gap = fontMetrics().height() / 3;
    numbers->setSpacing(gap);
    const auto field = [&](const QString& name, QWidget* editor, QHBoxLayout* row) {
        auto* label = new QLabel(name, box);
        label->setBuddy(editor);
        row->addWidget(label);
        row->addWidget(editor, 1);
    };
    field(tr("&Temperature"), temperature_, numbers);
    field(tr("Top-&p"), topP_, numbers);
    auto* more = new QHBoxLayout;
    more->setSpacing(gap);
    field(tr("&Seed"), seed_, more);
    field(tr("To&kens"), maxTokens_, more);
    auto* last = new QHBoxLayout;
    last->setSpacing(gap);
    field(tr("&Adapter"), adapter_, last);
    last->addWidget(beside_);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(gap);
    for (QHBoxLayout* row : {numbers, more, last})
        column->addLayout(row);
    return box;
}

void GeneratePanel::setOptions(const GenerateOptions& options) {
    temperature_->setValue(options.temperature);
    topP_->setValue(options.top_p);
    seed_->setValue(static_cast<int>(options.seed));
    maxTokens_->setValue(options.max_tokens);
}

void GeneratePanel::setAdapters(const std::vector<GenerateRequest::Variant>& adapters) {
    const QString chosen = adapter_->currentData().toString();
    adapter_->clear();
    adapter_->addItem(tr("none"), QString());
    for (const GenerateRequest::Variant& each : adapters)
        adapter_->addItem(visibleText(each.title.toStdString(), 60), each.adapter);
    if (!chosen.isEmpty() && adapter_->findData(chosen) < 0)
        adapter_->addItem(visibleText(QFileInfo(chosen).fileName().toStdString(), 60), chosen);
    adapter_->addItem(tr("Choose a folder\u2026"), QString());
    adapter_->setCurrentIndex(chosen.isEmpty() ? 0 : adapter_->findData(chosen));
}

void GeneratePanel::chooseAdapter() {
    const QString path = QFileDialog::getExistingDirectory(this, tr("Choose a LoRA adapter"));
    if (path.isEmpty()) {
        adapter_->setCurrentIndex(0);
        return;
    }
    int index = adapter_->findData(path);
    if (index < 0) {
        index = adapter_->count() - 1;
        adapter_->insertItem(index, visibleText(QFileInfo(path).fileName().toStdString(), 60),
                             path);
    }
    adapter_->setCurrentIndex(index);
}

void GeneratePanel::chooseNewestAdapter() {
    const bool any = !adapter_->itemData(1).toString().isEmpty();
    adapter_->setCurrentIndex(any ? 1 : 0);
    updateButtons();
}

void GeneratePanel::setPrompt(const QString& prompt) {
    prompt_->setPlainText(prompt);
}

void GeneratePanel::usePromptOfSample() {
    const int row = selection_->sample();
    if (row < 0 || row >= workspace_->sampleCount())
        return;
    taken_ = Sample();
    if (const auto& dataset = workspace_->dataset();
        dataset && row < static_cast<int>(dataset->samples.size()))
        taken_ = dataset->samples[static_cast<std::size_t>(row)];
    taken_.prompt = workspace_->prompt(row);
    const auto shown = workspace_->prompt(row);
    prompt_->setPlainText(QString::fromUtf8(shown.data(), static_cast<qsizetype>(shown.size())));
    takenText_ = prompt_->toPlainText();
}

// The sample's own conversation as long as nobody changed its text.
GenerateRequest GeneratePanel::request() const {
    GenerateRequest request;
    const QString text = prompt_->toPlainText();
    if (!takenText_.isEmpty() && text == takenText_)
        request.sample = taken_;
    else
        request.sample.prompt = text.toStdString();
    request.sample.id.clear();
    request.sample.response.clear();
    request.sample.prepared = {};
    request.options.temperature = temperature_->value();
    request.options.top_p = topP_->value();
    request.options.seed = static_cast<std::uint64_t>(seed_->value());
    request.options.max_tokens = maxTokens_->value();
    const QString adapter = adapter_->currentData().toString();
    if (adapter.isEmpty() || beside_->isChecked())
        request.variants.push_back({tr("Base model"), {}});
    if (!adapter.isEmpty())
        request.variants.push_back({tr("With %1").arg(adapter_->currentText()), adapter});
    return request;
}

void GeneratePanel::setState(bool canRun, bool running) {
    canRun_ = canRun;
    running_ = running;
    updateButtons();
}

void GeneratePanel::setColorMap(ColorMap map) {
    map_ = map;
    for (AnswerView* view : answers_)
        if (view)
            view->setColorMap(map);
}

bool GeneratePanel::isSettled() const {
    return std::all_of(answers_.begin(), answers_.end(),
                       [](const AnswerView* view) { return !view || view->isSettled(); });
}

void GeneratePanel::startVariant(int variant, const QString& title) {
    if (variant == 0) {
        asked_ = request().sample;
        if (AnswerView* other = answers_[1]) {
            other->clear();
            other->hide();
        }
    }
    answer(variant)->show();
    answer(variant)->start(title);
}

void GeneratePanel::endVariant(int variant, const QString& why) {
    answer(variant)->end(why);
}

void GeneratePanel::updateButtons() {
    const int row = selection_->sample();
    use_->setEnabled(row >= 0 && row < workspace_->sampleCount()
                     && !workspace_->prompt(row).empty());
    generate_->setEnabled(canRun_ && !running_ && !prompt_->toPlainText().isEmpty());
    stop_->setEnabled(running_);
    hint_->setVisible(!canRun_);
    beside_->setEnabled(!adapter_->currentData().toString().isEmpty());
}

// Beside the open data by default: their file is offered, so that the answer joins them.
void GeneratePanel::chooseFile(int variant) {
    QString start = QStringLiteral("generated.jsonl");
    if (!workspace_->datasetPaths().isEmpty()) {
        const QFileInfo file(workspace_->datasetPaths().first());
        start = file.suffix() == QLatin1String("jsonl")
            ? file.absoluteFilePath()
            : file.absolutePath() + QLatin1Char('/') + start;
    }
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Add the answer to samples"), start, tr("JSON Lines (*.jsonl)"), nullptr,
        QFileDialog::DontConfirmOverwrite); // it is added to, not replaced
    if (!path.isEmpty())
        saveTo(variant, path);
}

void GeneratePanel::saveTo(int variant, const QString& path) {
    Sample sample = asked_;
    sample.response = answer(variant)->answer().text;
    try {
        const std::string id = append_sample(nativePath(path), sample);
        emit saved(path, QString::fromStdString(id));
    } catch (const Error& error) {
        emit failed(QString::fromUtf8(error.what()));
    }
}

} // namespace cuset
