// The pages of the run form about training itself: optimiser and steps; data, machine, checkpoints.
#include <algorithm>

#include "ui/training/form_page.h"
#include "ui/training/run_form_pages.h"

namespace cuset {
namespace {

// Words between commas; "all-linear" is the empty list.
void bindTargets(FormPage& page, FormBinder* b) {
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "&Layers"),
        b->wordList(QStringLiteral("lora.targets"), QStringLiteral("all-linear"),
                    [](TrainConfig& c) -> std::vector<std::string>& { return c.lora.targets; }),
        QT_TRANSLATE_NOOP("RunForm", "all-linear, or names with commas: q_proj, v_proj"));
}

void addMethod(FormPage& page, FormBinder* b) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "What is trained"));
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "&Method"),
        b->choice(
            QStringLiteral("method"),
            {formText(QT_TRANSLATE_NOOP("RunForm", "LoRA: a small adapter")),
             formText(QT_TRANSLATE_NOOP("RunForm", "full: all weights"))},
            [](const TrainConfig& c) { return static_cast<int>(c.method); },
            [](TrainConfig& c, int i) { c.method = static_cast<TrainMethod>(std::max(0, i)); }),
        QT_TRANSLATE_NOOP("RunForm", "LoRA needs little memory and leaves the model as it is"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Rank"),
             b->integer(QStringLiteral("lora.rank"), 1, 65536,
                        [](TrainConfig& c) -> std::int64_t& { return c.lora.rank; }),
             QT_TRANSLATE_NOOP("RunForm", "Width of the adapter's matrices"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Alpha"),
             b->real(QStringLiteral("lora.alpha"), 0, 1e6, 1, 1,
                     [](TrainConfig& c) -> double& { return c.lora.alpha; }),
             QT_TRANSLATE_NOOP("RunForm", "The adapter is scaled by alpha over rank"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Dropout"),
             b->real(QStringLiteral("lora.dropout"), 0, 0.999, 3, 0.01,
                     [](TrainConfig& c) -> double& { return c.lora.dropout; }),
             QT_TRANSLATE_NOOP("RunForm", "Share of the adapter's inputs left out at random"));
    bindTargets(page, b);
    page.row(b->toggle(QStringLiteral("lora.rslora"),
                       formText(QT_TRANSLATE_NOOP("RunForm", "Scale by the &square root of rank")),
                       [](TrainConfig& c) -> bool& { return c.lora.rank_stabilized; }),
             QT_TRANSLATE_NOOP("RunForm", "rsLoRA: alpha over the square root of rank"));
}

void addOptimizer(FormPage& page, FormBinder* b, QWidget* parent, RunPages& pages) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "Learning rate"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Learning ra&te"),
             b->number(QStringLiteral("learning_rate"),
                       [](TrainConfig& c) -> double& { return c.learning_rate; }),
             QT_TRANSLATE_NOOP("RunForm", "Of AdamW after the warm-up"));
    QStringList schedules;
    for (const std::string_view name : schedule_names)
        schedules += QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
    page.row(QT_TRANSLATE_NOOP("RunForm", "S&chedule"),
             b->choice(
                 QStringLiteral("schedule"), schedules,
                 [](const TrainConfig& c) { return static_cast<int>(c.schedule); },
                 [](TrainConfig& c, int i) { c.schedule = static_cast<Schedule>(std::max(0, i)); }),
             QT_TRANSLATE_NOOP("RunForm", "How the learning rate goes on; drawn below"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Warm-up"),
             {b->real(QStringLiteral("warmup_ratio"), 0, 1, 3, 0.01,
                      [](TrainConfig& c) -> double& { return c.warmup_ratio; }),
              b->optionalInteger(
                  QStringLiteral("warmup_steps"), 0, 1 << 30,
                  formText(QT_TRANSLATE_NOOP("RunForm", "by the share")),
                  [](TrainConfig& c) -> std::optional<std::int64_t>& { return c.warmup_steps; })},
             QT_TRANSLATE_NOOP("RunForm", "Share of all steps, or a number of steps"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Least, deca&y"),
             {b->real(QStringLiteral("min_lr_ratio"), 0, 1, 3, 0.05,
                      [](TrainConfig& c) -> double& { return c.min_lr_ratio; }),
              b->real(QStringLiteral("decay_ratio"), 0, 1, 3, 0.05,
                      [](TrainConfig& c) -> double& { return c.decay_ratio; })},
             QT_TRANSLATE_NOOP("RunForm",
                               "cosine_with_min: the last rate over the first; wsd: the share of "
                               "steps that decay"));
    pages.schedule = new LossChart(parent);
    pages.schedule->setAccessibleName(
        formText(QT_TRANSLATE_NOOP("RunForm", "Learning-rate schedule")));
    pages.schedule->setYTitle(formText(QT_TRANSLATE_NOOP("RunForm", "learning rate")));
    pages.schedule->setSmoothing(0);
    pages.schedule->setMinimumHeight(parent->fontMetrics().height() * 9);
    page.form()->addRow(pages.schedule);
}

void addSteps(FormPage& page, FormBinder* b) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "Steps"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Epochs"),
             b->integer(QStringLiteral("epochs"), 1, 1 << 20,
                        [](TrainConfig& c) -> std::int64_t& { return c.epochs; }),
             QT_TRANSLATE_NOOP("RunForm", "How often each sample is seen"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Ste&ps"),
             b->optionalInteger(
                 QStringLiteral("max_steps"), 1, 1 << 30,
                 formText(QT_TRANSLATE_NOOP("RunForm", "by the epochs")),
                 [](TrainConfig& c) -> std::optional<std::int64_t>& { return c.max_steps; }),
             QT_TRANSLATE_NOOP("RunForm", "Takes the place of epochs"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Batch, accumulation"),
             {b->integer(QStringLiteral("batch_size"), 1, 65536,
                         [](TrainConfig& c) -> std::int64_t& { return c.batch_size; }),
              b->integer(QStringLiteral("gradient_accumulation"), 1, 65536,
                         [](TrainConfig& c) -> std::int64_t& { return c.gradient_accumulation; })},
             QT_TRANSLATE_NOOP("RunForm", "Samples of a step: at once, times one after another"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Weight deca&y"),
             b->real(QStringLiteral("weight_decay"), 0, 1000, 4, 0.01,
                     [](TrainConfig& c) -> double& { return c.weight_decay; }),
             QT_TRANSLATE_NOOP("RunForm", "AdamW's, decoupled"));
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "Betas, epsilo&n"),
        {b->real(QStringLiteral("betas"), 0, 0.9999999, 4, 0.01,
                 [](TrainConfig& c) -> double& { return c.beta1; }),
         b->real(QStringLiteral("beta2"), 0, 0.9999999, 4, 0.001,
                 [](TrainConfig& c) -> double& { return c.beta2; }),
         b->number(QStringLiteral("eps"), [](TrainConfig& c) -> double& { return c.epsilon; })},
        QT_TRANSLATE_NOOP("RunForm", "AdamW's moments"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Gradient norm"),
             b->real(QStringLiteral("max_grad_norm"), 0, 1e6, 2, 0.1,
                     [](TrainConfig& c) -> double& { return c.max_grad_norm; }),
             QT_TRANSLATE_NOOP("RunForm", "Gradients are scaled down to it; 0: not at all"));
}

void addData(FormPage& page, FormBinder* b) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "Samples"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Template"),
             b->word(QStringLiteral("template"), {QStringLiteral("auto"), QStringLiteral("none")},
                     [](TrainConfig& c) -> std::string& { return c.chat_template; }),
             QT_TRANSLATE_NOOP("RunForm", "auto: the model's own chat template; or a Jinja file"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Max. length"),
             b->integer(
                 QStringLiteral("max_length"), 2, 1 << 24,
                 [](const TrainConfig& c) { return c.max_length; },
                 [](TrainConfig& c, int value) { c.max_length = value; }),
             QT_TRANSLATE_NOOP("RunForm", "Tokens of prompt and response together"));
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "&Longer ones"),
        b->choice(
            QStringLiteral("over_long"),
            {formText(QT_TRANSLATE_NOOP("RunForm", "cut at the end")),
             formText(QT_TRANSLATE_NOOP("RunForm", "leave out")),
             formText(QT_TRANSLATE_NOOP("RunForm", "do not start"))},
            [](const TrainConfig& c) { return static_cast<int>(c.over_long); },
            [](TrainConfig& c, int i) { c.over_long = static_cast<OverLong>(std::max(0, i)); }),
        QT_TRANSLATE_NOOP("RunForm", "Samples of more tokens"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Resp&onse"),
             b->choice(
                 QStringLiteral("response"),
                 {formText(QT_TRANSLATE_NOOP("RunForm", "all of it")),
                  formText(QT_TRANSLATE_NOOP("RunForm", "the code in it")),
                  formText(QT_TRANSLATE_NOOP("RunForm", "all but its reasoning"))},
                 [](const TrainConfig& c) { return static_cast<int>(c.response); },
                 [](TrainConfig& c, int i) {
                     c.response = static_cast<ResponseChoice>(std::max(0, i));
                 }),
             QT_TRANSLATE_NOOP("RunForm", "What is trained; the rest is read as context"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Fields"),
             {b->text(QStringLiteral("prompt_field"),
                      [](TrainConfig& c) -> std::string& { return c.prompt_field; }),
              b->text(QStringLiteral("response_field"),
                      [](TrainConfig& c) -> std::string& { return c.response_field; })},
             QT_TRANSLATE_NOOP("RunForm",
                               "Names of prompt and response in the data; empty: recognised"));
    page.row(b->toggle(QStringLiteral("shuffle"),
                       formText(QT_TRANSLATE_NOOP("RunForm", "S&huffle each epoch")),
                       [](TrainConfig& c) -> bool& { return c.shuffle; }),
             QT_TRANSLATE_NOOP("RunForm", "The order is a function of seed and epoch alone"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "See&d"),
             b->integer(
                 QStringLiteral("seed"), 0, 1 << 30,
                 [](const TrainConfig& c) { return static_cast<std::int64_t>(c.seed); },
                 [](TrainConfig& c, int value) { c.seed = static_cast<std::uint64_t>(value); }),
             QT_TRANSLATE_NOOP("RunForm", "Of order, adapter and dropout"));
}

void addMachine(FormPage& page, FormBinder* b) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "Machine"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "De&vice"),
             b->word(QStringLiteral("device"),
                     {QStringLiteral("auto"), QStringLiteral("cpu"), QStringLiteral("cuda")},
                     [](TrainConfig& c) -> std::string& { return c.device; }),
             QT_TRANSLATE_NOOP("RunForm", "auto: a CUDA device if there is one"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Precision"),
             b->word(QStringLiteral("dtype"),
                     {QStringLiteral("auto"), QStringLiteral("float32"), QStringLiteral("bfloat16"),
                      QStringLiteral("float16")},
                     [](TrainConfig& c) -> std::string& { return c.dtype; }),
             QT_TRANSLATE_NOOP("RunForm",
                               "Of the model's weights and products; trained weights are float32"));
    page.row(
        b->toggle(QStringLiteral("gradient_checkpointing"),
                  formText(QT_TRANSLATE_NOOP("RunForm", "Compute activations a&gain")),
                  [](TrainConfig& c) -> bool& { return c.gradient_checkpointing; }),
        QT_TRANSLATE_NOOP("RunForm", "Gradient checkpointing: less memory, a third more time"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Th&reads"),
             b->integer(
                 QStringLiteral("threads"), 0, 4096, [](const TrainConfig& c) { return c.threads; },
                 [](TrainConfig& c, int value) { c.threads = value; }),
             QT_TRANSLATE_NOOP("RunForm", "0: one for each core"));
}

void addCheckpoints(FormPage& page, FormBinder* b) {
    using Optional = std::optional<std::int64_t>;
    page.group(QT_TRANSLATE_NOOP("RunForm", "Validation and checkpoints"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Validate e&very"),
             b->optionalInteger(QStringLiteral("eval_steps"), 1, 1 << 30,
                                formText(QT_TRANSLATE_NOOP("RunForm", "epoch")),
                                [](TrainConfig& c) -> Optional& { return c.eval_steps; }),
             QT_TRANSLATE_NOOP("RunForm", "Steps between looks at the validation samples"));
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "&Save every"),
        b->optionalInteger(QStringLiteral("save_steps"), 1, 1 << 30,
                           formText(QT_TRANSLATE_NOOP("RunForm", "epoch")),
                           [](TrainConfig& c) -> Optional& { return c.save_steps; }),
        QT_TRANSLATE_NOOP("RunForm", "Steps between checkpoints; a run goes on from the last"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Keep"),
             b->integer(QStringLiteral("keep_checkpoints"), 1, 1 << 20,
                        [](TrainConfig& c) -> std::int64_t& { return c.keep_checkpoints; }),
             QT_TRANSLATE_NOOP("RunForm", "The newest checkpoints that are kept"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Pat&ience"),
             b->optionalInteger(QStringLiteral("patience"), 1, 1 << 30,
                                formText(QT_TRANSLATE_NOOP("RunForm", "to the end")),
                                [](TrainConfig& c) -> Optional& { return c.patience; }),
             QT_TRANSLATE_NOOP("RunForm", "Validations without improvement before the run ends"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Bad steps"),
             b->integer(QStringLiteral("max_bad_steps"), 1, 1 << 20,
                        [](TrainConfig& c) -> std::int64_t& { return c.max_bad_steps; }),
             QT_TRANSLATE_NOOP(
                 "RunForm", "Steps in a row whose loss or gradient is no number, before it fails"));
}

} // namespace

void makeTrainingPages(FormBinder* binder, QWidget* parent, RunPages& pages) {
    pages.optimizer = new QWidget(parent);
    auto* column = new QVBoxLayout(pages.optimizer);
    FormPage training(pages.optimizer, column);
    addMethod(training, binder);
    addOptimizer(training, binder, pages.optimizer, pages);
    addSteps(training, binder);
    column->addStretch(1);
    pages.machine = new QWidget(parent);
    column = new QVBoxLayout(pages.machine);
    FormPage machine(pages.machine, column);
    addData(machine, binder);
    addMachine(machine, binder);
    addCheckpoints(machine, binder);
    column->addStretch(1);
}

} // namespace cuset
