#include "ui/shell/model_panel.h"

#include <QFile>
#include <QVBoxLayout>

#include "core/base/message.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

const QString memoryChannel = QStringLiteral("memory");

QString safe(const std::string& text) {
    return visibleText(text, 200);
}

} // namespace

ModelPanel::ModelPanel(Workspace* workspace, JobRunner* pool, QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , pool_(pool) {
    setWhatsThis(tr("The open model, the memory it needs, and how it scores. The lower part says "
                    "where the scores that are "
                    "shown come from."));
    build();
    connect(workspace_, &Workspace::modelChanged, this, &ModelPanel::showModel);
    connect(workspace_, &Workspace::scoresChanged, this, &ModelPanel::showProvenance);
    connect(dtype_, &QComboBox::currentTextChanged, this, &ModelPanel::estimateMemory);
    connect(maxLength_, &QSpinBox::valueChanged, this, &ModelPanel::estimateMemory);
    for (QComboBox* box : {template_, response_})
        connect(box, &QComboBox::currentTextChanged, this, &ModelPanel::optionsChanged);
    connect(maxLength_, &QSpinBox::valueChanged, this, &ModelPanel::optionsChanged);
    showModel();
    showProvenance();
}

void ModelPanel::build() {
    const auto label = [this](const QString& name) {
        auto* l = new QLabel(this);
        l->setTextFormat(Qt::PlainText);
        l->setWordWrap(true);
        l->setTextInteractionFlags(Qt::TextSelectableByMouse);
        l->setAccessibleName(name);
        return l;
    };
    model_ = label(tr("Model"));
    proof_ = new ProofBadge(workspace_, this);
    memory_ = label(tr("Memory"));
    provenance_ = label(tr("Where the scores come from"));
    device_ = new QComboBox(this);
    device_->setEditable(true);
    device_->addItems({QStringLiteral("auto"), QStringLiteral("cpu"), QStringLiteral("cuda")});
    device_->setToolTip(plainToolTip(tr("auto: a CUDA device if there is one")));
    dtype_ = new QComboBox(this);
    dtype_->addItems({QStringLiteral("auto"), QStringLiteral("float32"), QStringLiteral("bfloat16"),
                      QStringLiteral("float16")});
    dtype_->setToolTip(plainToolTip(tr(
        "float32 is the reference. bfloat16 is faster and moves single confidences by up to 0.12; "
        "auto takes it where the processor has it.")));
    template_ = new QComboBox(this);
    template_->setEditable(true);
    template_->addItems({QStringLiteral("auto"), QStringLiteral("none")});
    template_->setToolTip(plainToolTip(
        tr("auto: the model's own chat template; none: the prompt as it stands; or a Jinja file")));
    response_ = new QComboBox(this);
    response_->addItem(tr("whole response"), QStringLiteral("whole"));
    response_->addItem(tr("without its reasoning"), QStringLiteral("answer"));
    response_->addItem(tr("only the code in it"), QStringLiteral("code"));
    response_->setToolTip(plainToolTip(
        tr("What is scored: the whole response; all but its reasoning (<think>); or only the CUDA, "
           "C and C++ source in it (fences, after reasoning, inside Python strings). The rest is "
           "context")));
    topK_ = new QSpinBox(this);
    topK_->setRange(0, 64);
    topK_->setToolTip(plainToolTip(tr("How many alternatives are kept for each token")));
    maxLength_ = new QSpinBox(this);
    maxLength_->setRange(1, 1 << 20);
    maxLength_->setSingleStep(1024);
    maxLength_->setKeyboardTracking(false);
    maxLength_->setToolTip(plainToolTip(
        tr("Tokens of prompt and response together; longer responses are cut at their end")));
    auto* form = new QFormLayout;
    form->addRow(tr("Device"), device_);
    form->addRow(tr("Type"), dtype_);
    form->addRow(tr("Template"), template_);
    form->addRow(tr("Response"), response_);
    form->addRow(tr("Alternatives"), topK_);
    form->addRow(tr("Max. length"), maxLength_);
    auto* column = new QVBoxLayout(this);
    const int gap = fontMetrics().height() / 2;
    column->setContentsMargins(gap, gap, gap, gap);
    column->setSpacing(gap);
    column->addWidget(model_);
    column->addWidget(proof_);
    column->addWidget(memory_);
    column->addLayout(form);
    column->addWidget(provenance_);
    column->addStretch(1);
}

void ModelPanel::showModel() {
    const std::optional<ModelInfo>& info = workspace_->model();
    if (!info) {
        model_->setText(tr("No model. Open a GGUF file or a Hugging Face folder with Ctrl+M."));
        memory_->hide();
        return;
    }
    QString text = tr("%1\n%2, %3 parameters, stored as %4\n%5 layers, %6 hidden, %7 heads (%8 "
                      "KV)\ncontext %9, ")
                       .arg(safe(info->name), safe(info->family), countText(info->parameters),
                            safe(info->stored_dtype))
                       .arg(info->layers)
                       .arg(info->hidden)
                       .arg(info->heads)
                       .arg(info->kv_heads)
                       .arg(countText(info->context_length));
    text += tr("vocabulary %1\ntemplate: %2")
                .arg(countText(info->vocabulary),
                     info->template_source.empty() ? tr("none") : safe(info->template_source));
    if (!info->device.empty())
        text += tr("\nloaded on %1 as %2").arg(safe(info->device), safe(info->dtype));
    model_->setText(text);
    estimateMemory();
}

void ModelPanel::estimateMemory() {
    if (!workspace_->model())
        return;
    pool_->start(
        memoryChannel,
        [path = workspace_->model()->path, dtype = dtype_->currentText().toStdString(),
         length = maxLength_->value()](RunControl&) {
            return estimate_memory(path, dtype, length);
        },
        [this](JobOutcome<std::vector<MemoryEstimate>> outcome) {
            if (const auto* estimates = std::get_if<0>(&outcome))
                setMemory(*estimates);
            else if (const auto* error = std::get_if<1>(&outcome)) {
                memory_->setText(QString::fromUtf8(error->what()));
                memory_->show();
            }
        });
}

void ModelPanel::setMemory(const std::vector<MemoryEstimate>& estimates) {
    QStringList lines;
    for (const MemoryEstimate& e : estimates)
        lines += tr("%1: needs %2 + %3, free %4%5")
                     .arg(safe(e.device), QString::fromStdString(format_bytes(e.weights_bytes)),
                          QString::fromStdString(format_bytes(e.working_bytes)),
                          QString::fromStdString(format_bytes(e.free_bytes)),
                          e.fits ? QString() : tr(": does not fit"));
    memory_->setText(lines.join(QLatin1Char('\n')));
    memory_->setVisible(!lines.isEmpty());
}

void ModelPanel::showProvenance() {
    if (!workspace_->scores()) {
        provenance_->setText(tr("No scores yet."));
        return;
    }
    const ScoreProvenance& p = workspace_->scores()->provenance();
    QStringList lines{
        tr("Scores by %1").arg(p.model.empty() ? tr("an unknown model") : safe(p.model))};
    if (!p.adapter.empty())
        lines += tr("adapter %1").arg(safe(p.adapter));
    lines += tr("%1 on %2, template %3, at most %4 tokens")
                 .arg(safe(p.dtype), safe(p.device), visibleText(p.chat_template, 40),
                      countText(p.max_length));
    if (p.response == ResponseChoice::code)
        lines += tr("only the code in the responses");
    if (p.response == ResponseChoice::answer)
        lines += tr("the responses without their reasoning");
    if (!workspace_->scoresPath().isEmpty())
        lines += workspace_->scoresPath();
    provenance_->setText(lines.join(QLatin1Char('\n')));
}

ScoringOptions ModelPanel::options() const {
    ScoringOptions options;
    options.session.device = device_->currentText().toStdString();
    options.session.dtype = dtype_->currentText().toStdString();
    options.score.prompt.chat_template = nativePath(template_->currentText()).string();
    options.score.prompt.max_length = maxLength_->value();
    options.score.prompt.response =
        find_response_choice(response_->currentData().toString().toStdString())
            .value_or(ResponseChoice::whole);
    options.score.top_k = topK_->value();
    return options;
}

void ModelPanel::load(const Settings& settings) {
    device_->setCurrentText(settings.device);
    dtype_->setCurrentText(settings.dtype);
    template_->setCurrentText(settings.chatTemplate);
    response_->setCurrentIndex(std::max(0, response_->findData(settings.response)));
    topK_->setValue(settings.topK);
    maxLength_->setValue(settings.maxLength);
}

void ModelPanel::store(Settings& settings) const {
    settings.device = device_->currentText();
    settings.dtype = dtype_->currentText();
    settings.chatTemplate = template_->currentText();
    settings.response = response_->currentData().toString();
    settings.topK = topK_->value();
    settings.maxLength = maxLength_->value();
}

} // namespace cuset
