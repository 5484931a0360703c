#include "ui/training/run_form_pages.h"

#include <algorithm>

#include <QFormLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/training/form_page.h"
#include "ui/training/run_presets.h"

namespace cuset {
namespace {

QToolButton* browse(QWidget* parent, const char* title, bool folder, const ChoosePath& choose,
                    const std::function<void(const QString&)>& take) {
    auto* button = new QToolButton(parent);
    button->setText(QStringLiteral("\u2026"));
    button->setAccessibleName(formText(title));
    button->setToolTip(plainToolTip(formText(title)));
    QObject::connect(button, &QToolButton::clicked, parent, [=] {
        const QString path = choose(formText(title), folder);
        if (!path.isEmpty())
            take(path);
    });
    return button;
}

void addLine(QPlainTextEdit* edit, const QString& path) {
    QString lines = edit->toPlainText().trimmed();
    edit->setPlainText(lines.isEmpty() ? path : lines + QLatin1Char('\n') + path);
}

void addSources(FormPage& page, FormBinder* b, const ChoosePath& choose, QWidget* parent,
                RunPages& pages) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "Run"));
    pages.preset = new QComboBox(parent);
    pages.preset->setPlaceholderText(formText(QT_TRANSLATE_NOOP("RunForm", "as set below")));
    for (const RunPreset preset : allRunPresets) {
        pages.preset->addItem(presetTitle(preset));
        pages.preset->setItemData(pages.preset->count() - 1, presetExplanation(preset),
                                  Qt::ToolTipRole);
    }
    pages.preset->setCurrentIndex(-1);
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Preset"), pages.preset,
             QT_TRANSLATE_NOOP("RunForm", "Sets how it trains; model, data and thresholds stay"));
    QComboBox* model = b->word(QStringLiteral("model"), {},
                               [](TrainConfig& c) -> std::string& { return c.model; });
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Model"),
             {model,
              browse(parent, QT_TRANSLATE_NOOP("RunForm", "Choose a model folder"), true, choose,
                     [model](const QString& path) { model->setCurrentText(path); })},
             QT_TRANSLATE_NOOP("RunForm", "A Hugging Face folder, a .gguf file, or org/name"));
    QLineEdit* adapter = b->text(QStringLiteral("adapter"),
                                 [](TrainConfig& c) -> std::string& { return c.adapter; });
    adapter->setPlaceholderText(formText(QT_TRANSLATE_NOOP("RunForm", "a new one")));
    page.row(QT_TRANSLATE_NOOP("RunForm", "A&dapter"),
             {adapter,
              browse(parent, QT_TRANSLATE_NOOP("RunForm", "Choose an adapter's folder"), true,
                     choose, [adapter](const QString& path) { adapter->setText(path); })},
             QT_TRANSLATE_NOOP("RunForm", "Folder of a LoRA adapter to go on training"));
    const auto files = [&](const char* key, auto member) {
        QPlainTextEdit* edit = b->lines(QString::fromLatin1(key), member);
        edit->setFixedHeight(edit->fontMetrics().lineSpacing() * 5 / 2);
        return edit;
    };
    QPlainTextEdit* data =
        files("data", [](TrainConfig& c) -> std::vector<std::string>& { return c.data; });
    page.row(QT_TRANSLATE_NOOP("RunForm", "D&ata"),
             {data,
              browse(parent, QT_TRANSLATE_NOOP("RunForm", "Add a data file"), false, choose,
                     [data](const QString& path) { addLine(data, path); })},
             QT_TRANSLATE_NOOP("RunForm", "Files of samples, one path a line"));
    QPlainTextEdit* validation = files(
        "validation", [](TrainConfig& c) -> std::vector<std::string>& { return c.validation; });
    validation->setPlaceholderText(
        formText(QT_TRANSLATE_NOOP("RunForm", "none, or the share below")));
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "&Validation"),
        {validation,
         browse(parent, QT_TRANSLATE_NOOP("RunForm", "Add a validation file"), false, choose,
                [validation](const QString& path) { addLine(validation, path); })},
        QT_TRANSLATE_NOOP("RunForm", "Samples that are not trained on, to see how far it learned"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Share &held out"),
             b->real(QStringLiteral("validation_share"), 0, 0.9, 3, 0.05,
                     [](TrainConfig& c) -> double& { return c.validation_share; }),
             QT_TRANSLATE_NOOP("RunForm",
                               "Share of the data that validates instead of being trained on"));
    pages.output =
        b->text(QStringLiteral("output"), [](TrainConfig& c) -> std::string& { return c.output; });
    QLineEdit* output = pages.output;
    page.row(
        QT_TRANSLATE_NOOP("RunForm", "&Run folder"),
        {output,
         browse(parent, QT_TRANSLATE_NOOP("RunForm", "Choose where runs are kept"), true, choose,
                [output](const QString& path) {
                    output->setText(path + QLatin1Char('/')
                                    + output->text().section(QLatin1Char('/'), -1));
                })},
        QT_TRANSLATE_NOOP("RunForm", "A new folder: configuration, events, log, checkpoints"));
}

void addObjective(FormPage& page, FormBinder* b, QWidget* parent, RunPages& pages) {
    page.group(QT_TRANSLATE_NOOP("RunForm", "Objective"));
    const QStringList names{formText(QT_TRANSLATE_NOOP("RunForm", "SFT: plain fine-tuning")),
                            formText(QT_TRANSLATE_NOOP("RunForm", "DFT: p (-ln p)")),
                            formText(QT_TRANSLATE_NOOP("RunForm", "EAFT: by entropy")),
                            formText(QT_TRANSLATE_NOOP("RunForm", "ASFT: DFT and a KL anchor")),
                            formText(QT_TRANSLATE_NOOP("RunForm", "ProFit: confident tokens")),
                            formText(QT_TRANSLATE_NOOP("RunForm", "CuSeT: masks and weights"))};
    QComboBox* name = b->choice(
        QStringLiteral("objective.name"), names,
        [](const TrainConfig& c) { return static_cast<int>(c.objective.name); },
        [](TrainConfig& c, int index) {
            c.objective.name = static_cast<TokenObjective>(std::max(0, index));
        });
    page.row(QT_TRANSLATE_NOOP("RunForm", "&Objective"), name,
             QT_TRANSLATE_NOOP("RunForm", "What is minimised; the formula below is what runs"));
    page.row(
        b->toggle(QStringLiteral("objective.confidence_mask"),
                  formText(QT_TRANSLATE_NOOP("RunForm", "&Confidence mask")),
                  [](TrainConfig& c) -> bool& { return c.objective.mask.confidence_mask; }),
        "\xcf\x84",
        b->real(QStringLiteral("objective.tau"), 0, 1, 3, 0.01,
                [](TrainConfig& c) -> double& { return c.objective.mask.tau; }),
        QT_TRANSLATE_NOOP("RunForm", "A token with confidence above tau is supervised (Eq. 2)"));
    page.row(b->toggle(QStringLiteral("objective.cuda_mask"),
                       formText(QT_TRANSLATE_NOOP("RunForm", "C&UDA mask")),
                       [](TrainConfig& c) -> bool& { return c.objective.mask.cuda_mask; }),
             "\xce\xbb",
             b->real(QStringLiteral("objective.lambda"), 0.01, 1000, 2, 0.1,
                     [](TrainConfig& c) -> double& { return c.objective.mask.lambda; }),
             QT_TRANSLATE_NOOP("RunForm", "CUDA tokens get lambda more (Eq. 3, 4)"));
    page.row(
        b->toggle(QStringLiteral("objective.region_weight"),
                  formText(QT_TRANSLATE_NOOP("RunForm", "Region &weight")),
                  [](TrainConfig& c) -> bool& { return c.objective.mask.region_weight; }),
        "l",
        b->integer(
            QStringLiteral("objective.window"), 1, 1 << 24,
            [](const TrainConfig& c) { return c.objective.mask.window; },
            [](TrainConfig& c, int value) { c.objective.mask.window = value; }),
        QT_TRANSLATE_NOOP("RunForm", "A sample weighs 1 minus its lowest window's mean (Eq. 5-8)"));
    page.row(b->toggle(QStringLiteral("objective.whole_if_short"),
                       formText(QT_TRANSLATE_NOOP("RunForm", "A s&horter sample is one window")),
                       [](TrainConfig& c) -> bool& { return c.objective.mask.whole_if_short; }),
             QT_TRANSLATE_NOOP("RunForm", "Eq. 5 clips windows at both ends of the sample"));
    QDoubleSpinBox* alpha = b->real(QStringLiteral("objective.alpha"), 0, 100, 3, 0.05,
                                    [](TrainConfig& c) -> double& { return c.objective.alpha; });
    // Each objective has an exponent or weight of its own to begin with.
    QObject::connect(name, &QComboBox::activated, alpha, [alpha](int index) {
        alpha->setValue(default_alpha(static_cast<TokenObjective>(index)));
    });
    page.row("\xce\xb1", alpha,
             QT_TRANSLATE_NOOP("RunForm",
                               "EAFT: exponent of the entropy; ASFT: weight of the divergence"));
    page.row(QT_TRANSLATE_NOOP("RunForm", "Re&duction"),
             b->choice(
                 QStringLiteral("objective.reduction"),
                 {formText(QT_TRANSLATE_NOOP("RunForm", "mean over response tokens")),
                  formText(QT_TRANSLATE_NOOP("RunForm", "sum over a sample (Eq. 9)"))},
                 [](const TrainConfig& c) { return static_cast<int>(c.objective.reduction); },
                 [](TrainConfig& c, int i) {
                     c.objective.reduction = static_cast<Reduction>(std::max(0, i));
                 }),
             QT_TRANSLATE_NOOP("RunForm", "What a step's weighted sum is divided by"));
    pages.formula = new QLabel(parent);
    pages.formula->setObjectName(QStringLiteral("formula"));
    pages.formula->setWordWrap(true);
    pages.formula->setTextFormat(Qt::PlainText);
    pages.formula->setTextInteractionFlags(Qt::TextSelectableByMouse);
    pages.formula->setAccessibleName(formText(QT_TRANSLATE_NOOP("RunForm", "Formula")));
    page.form()->addRow(pages.formula);
}

} // namespace

RunPages makeRunPages(FormBinder* binder, const ChoosePath& choose, QWidget* parent) {
    RunPages pages;
    pages.run = new QWidget(parent);
    auto* column = new QVBoxLayout(pages.run);
    FormPage page(pages.run, column);
    addSources(page, binder, choose, pages.run, pages);
    addObjective(page, binder, pages.run, pages);
    column->addStretch(1);
    makeTrainingPages(binder, parent, pages);
    return pages;
}

void enableUsed(QWidget* form, const TrainConfig& config) {
    const Objective& o = config.objective;
    const bool cuset = o.name == TokenObjective::cuset;
    const bool lora = config.method == TrainMethod::lora;
    const auto enable = [form](const char* key, bool used) {
        if (auto* field = form->findChild<QWidget*>(QString::fromLatin1(key)))
            field->setEnabled(used);
    };
    for (const char* key :
         {"objective.confidence_mask", "objective.cuda_mask", "objective.region_weight"})
        enable(key, cuset);
    enable("objective.tau", (cuset && o.mask.confidence_mask) || o.name == TokenObjective::profit);
    enable("objective.lambda", cuset && o.mask.cuda_mask);
    enable("objective.window", cuset && o.mask.region_weight);
    enable("objective.whole_if_short", cuset && o.mask.region_weight);
    enable("objective.alpha", o.name == TokenObjective::eaft || o.name == TokenObjective::asft);
    for (const char* key :
         {"adapter", "lora.rank", "lora.alpha", "lora.dropout", "lora.targets", "lora.rslora"})
        enable(key, lora);
    const bool goesOn = !config.adapter.empty();
    for (const char* key : {"lora.rank", "lora.alpha", "lora.targets", "lora.rslora"})
        enable(key, lora && !goesOn); // the adapter's own
    enable("warmup_ratio", !config.warmup_steps);
    enable("epochs", !config.max_steps);
    enable("min_lr_ratio", config.schedule == Schedule::cosine_with_min);
    enable("decay_ratio", config.schedule == Schedule::wsd);
    enable("validation_share", config.validation.empty());
    const bool validates = !config.validation.empty() || config.validation_share > 0;
    enable("eval_steps", validates);
    enable("patience", validates);
}

void showSchedule(LossChart* chart, const TrainConfig& config, std::int64_t total) {
    LearningRate rate;
    rate.schedule = config.schedule;
    rate.base = config.learning_rate;
    rate.total_steps = std::max<std::int64_t>(1, total);
    rate.warmup_steps =
        config.warmup_steps.value_or(warmup_from_ratio(config.warmup_ratio, rate.total_steps));
    rate.min_ratio = config.min_lr_ratio;
    rate.decay_ratio = config.decay_ratio;
    // As many points as can be seen, the last step among them.
    const std::int64_t stride = std::max<std::int64_t>(1, rate.total_steps / 500);
    std::vector<double> steps, rates;
    for (std::int64_t step = 0; step < rate.total_steps; step += stride) {
        steps.push_back(static_cast<double>(step + 1));
        rates.push_back(rate.at(step));
    }
    if (steps.back() < static_cast<double>(rate.total_steps)) {
        steps.push_back(static_cast<double>(rate.total_steps));
        rates.push_back(rate.at(rate.total_steps - 1));
    }
    chart->clear();
    chart->addSeries(
        QString::fromLatin1(schedule_names[static_cast<std::size_t>(config.schedule)].data()));
    chart->append(0, steps, rates);
}

} // namespace cuset
