// The run form: what is typed is what is trained, and what is wrong is said at once.
#include <cmath>

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "tests/ui/training/training_support.h"
#include "ui/training/config_difference_model.h"
#include "ui/training/run_config_dialog.h"
#include "ui/training/run_presets.h"
#include "ui/training/training_launcher.h"

namespace cuset {
namespace {

using test::tinyConfig;
using test::waitFor;

class Form : public ::testing::Test {
protected:
    template <class Field> Field* field(RunConfigDialog& form, const char* key) {
        auto* found = form.findChild<Field*>(QString::fromLatin1(key));
        EXPECT_NE(found, nullptr) << key;
        return found;
    }
    QTemporaryDir folder;
    Workspace workspace;
};

// Every key away from its default.
TrainConfig unusual(const QTemporaryDir& folder) {
    TrainConfig c = tinyConfig(folder, QStringLiteral("run with 'quote'"));
    c.validation_share = 0;
    c.validation = c.data;
    c.data.push_back(c.data.front());
    c.adapter = "/somewhere";
    c.objective.name = TokenObjective::eaft;
    c.objective.alpha = 0.75;
    c.objective.mask = {.tau = 0.123456,
                        .lambda = 2.5,
                        .window = 77,
                        .confidence_mask = false,
                        .cuda_mask = false,
                        .region_weight = false,
                        .whole_if_short = true};
    c.objective.reduction = Reduction::sum;
    c.lora = {.rank = 3,
              .alpha = 6,
              .dropout = 0.2,
              .targets = {"q_proj", "v_proj"},
              .rank_stabilized = true};
    c.chat_template = "none";
    c.over_long = OverLong::drop;
    c.response = ResponseChoice::code;
    c.prompt_field = "question";
    c.response_field = "answer";
    c.batch_size = 2;
    c.epochs = 5;
    c.shuffle = false;
    c.seed = 7;
    c.learning_rate = 3.25e-5;
    c.schedule = Schedule::wsd;
    c.warmup_ratio = 0.2;
    c.warmup_steps = 0;
    c.min_lr_ratio = 0.3;
    c.decay_ratio = 0.4;
    c.weight_decay = 0.05;
    c.beta1 = 0.8;
    c.beta2 = 0.95;
    c.epsilon = 1e-7;
    c.max_grad_norm = 0.5;
    c.gradient_checkpointing = true;
    c.patience = 2;
    c.keep_checkpoints = 9;
    c.max_bad_steps = 2;
    c.threads = 3;
    return c;
}

TEST_F(Form, ShowsAndCollectsEveryKey) {
    for (const TrainConfig& config :
         {unusual(folder), tinyConfig(folder, QStringLiteral("run")), [this] {
              TrainConfig full = tinyConfig(folder, QStringLiteral("full"));
              full.method = TrainMethod::full;
              return full;
          }()}) {
        RunConfigDialog form(config, &workspace);
        form.setAttribute(Qt::WA_DeleteOnClose, false);
        ASSERT_TRUE(form.config());
        EXPECT_EQ(train_config_json(*form.config()), train_config_json(config));
        form.setConfig(tinyConfig(folder, QStringLiteral("other")));
        form.setConfig(config);
        EXPECT_EQ(train_config_json(*form.config()), train_config_json(config));
    }
}

TEST_F(Form, SaysWhatIsWrongAsTheCommandLineDoes) {
    RunConfigDialog form(tinyConfig(folder, QStringLiteral("run")), &workspace);
    form.setAttribute(Qt::WA_DeleteOnClose, false);
    ASSERT_TRUE(waitFor([&] { return form.isSettled(); }));
    EXPECT_EQ(form.problem(), QString());
    EXPECT_TRUE(form.isReady());
    auto* rate = field<QLineEdit>(form, "learning_rate");
    rate->setText(QStringLiteral("fast"));
    EXPECT_TRUE(form.problem().startsWith(QLatin1String("learning_rate: needs a number")));
    EXPECT_FALSE(form.isReady());
    EXPECT_FALSE(rate->accessibleDescription().isEmpty());
    rate->setText(QStringLiteral("5000"));
    EXPECT_TRUE(form.problem().contains(QLatin1String("learning_rate")));
    rate->setText(QStringLiteral("1e-4"));
    EXPECT_EQ(form.problem(), QString());
    EXPECT_TRUE(rate->accessibleDescription().isEmpty());
    // The same words as the command line's check.
    auto* data = field<QPlainTextEdit>(form, "data");
    const QString kept = data->toPlainText();
    data->clear();
    try {
        parse_train_config(train_config_json(*form.config()), {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(form.problem(), QString::fromUtf8(error.what()));
    }
    // Paths are looked at in the background.
    data->setPlainText(folder.filePath(QStringLiteral("missing.jsonl")));
    EXPECT_EQ(form.problem(), QString());
    ASSERT_TRUE(waitFor([&] { return form.problem().contains(QLatin1String("missing.jsonl")); }));
    EXPECT_FALSE(form.isReady());
    data->setPlainText(kept);
    ASSERT_TRUE(waitFor([&] { return form.isSettled() && form.isReady(); }));
    QFile::remove(folder.filePath(QStringLiteral("run")));
}

TEST_F(Form, WhatTheObjectiveDoesNotUseIsDisabled) {
    RunConfigDialog form(tinyConfig(folder, QStringLiteral("run")), &workspace);
    form.setAttribute(Qt::WA_DeleteOnClose, false);
    auto* name = field<QComboBox>(form, "objective.name");
    auto* tau = field<QDoubleSpinBox>(form, "objective.tau");
    auto* alpha = field<QDoubleSpinBox>(form, "objective.alpha");
    EXPECT_TRUE(tau->isEnabled());
    EXPECT_FALSE(alpha->isEnabled());
    name->setCurrentIndex(static_cast<int>(TokenObjective::asft));
    EXPECT_FALSE(tau->isEnabled());
    EXPECT_TRUE(alpha->isEnabled());
    EXPECT_EQ(form.config()->objective.name, TokenObjective::asft);
    name->setCurrentIndex(static_cast<int>(TokenObjective::profit));
    EXPECT_TRUE(tau->isEnabled());
    const auto* formula = form.findChild<QLabel*>(QStringLiteral("formula"));
    ASSERT_NE(formula, nullptr);
    EXPECT_EQ(formula->text().toStdString(), formula_text(form.config()->objective));
}

TEST_F(Form, PresetsTakeBackWhatOthersDid) {
    TrainConfig config = tinyConfig(folder, QStringLiteral("run"));
    config.objective.mask.tau = 0.3;
    applyPreset(RunPreset::Full, config);
    EXPECT_EQ(config.method, TrainMethod::full);
    applyPreset(RunPreset::QuickTry, config);
    EXPECT_EQ(config.method, TrainMethod::lora);
    EXPECT_EQ(config.max_steps, 20);
    applyPreset(RunPreset::Paper, config);
    EXPECT_FALSE(config.max_steps);
    EXPECT_EQ(config.lora, LoraSettings{});
    EXPECT_EQ(config.learning_rate, 1e-4);
    EXPECT_EQ(config.epochs, 3);
    EXPECT_EQ(config.samples_per_step(), 8);
    EXPECT_EQ(config.objective.mask.tau, 0.3);
    for (const RunPreset preset : allRunPresets) {
        applyPreset(preset, config);
        EXPECT_NO_THROW(parse_train_config(train_config_json(config), "preset"));
    }
}

TEST_F(Form, TheCommandIsTheSameRun) {
    EXPECT_EQ(
        TrainingLauncher::commandText(unusual(folder)),
        QStringLiteral("cuset train '%1/run with '\\''quote'\\''/config.json'").arg(folder.path()));
    RunGrid grid;
    grid.tau = {0.05, 0.1};
    grid.objectives = {TokenObjective::sft, TokenObjective::cuset};
    EXPECT_TRUE(
        TrainingLauncher::sweepCommandText(tinyConfig(folder, QStringLiteral("s")), grid, 2)
            .endsWith(QLatin1String("--grid objective=sft,cuset --grid tau=0.05,0.1 --jobs 2")));
}

TEST_F(Form, ASweepIsCheckedAsOneTypes) {
    RunConfigDialog form(tinyConfig(folder, QStringLiteral("run")), &workspace);
    form.setAttribute(Qt::WA_DeleteOnClose, false);
    auto* tau = field<QLineEdit>(form, "sweep.tau");
    tau->setText(QStringLiteral("0.1, x"));
    EXPECT_TRUE(form.problem().contains(QLatin1String("x is no number")));
    tau->setText(QStringLiteral("0.1, 3"));
    EXPECT_TRUE(form.problem().contains(QLatin1String("objective.tau")))
        << form.problem().toStdString();
    tau->setText(QStringLiteral("0.1, 0.3"));
    EXPECT_EQ(form.problem(), QString());
    QSignalSpy started(&form, &RunConfigDialog::sweepRequested);
    ASSERT_TRUE(waitFor([&] { return form.isReady(); }));
    form.start();
    ASSERT_EQ(started.count(), 1);
    EXPECT_EQ(started[0][1].value<RunGrid>().tau, (std::vector<double>{0.1, 0.3}));
}

TEST_F(Form, ThePreviewShowsPromptWeightsAndWhatIsCut) {
    TrainConfig config = tinyConfig(folder, QStringLiteral("run"));
    config.max_length = 40;
    config.objective.mask.confidence_mask = false;
    config.objective.mask.region_weight = false;
    config.objective.mask.lambda = 3;
    SamplePreviewer previewer(config.model);
    Sample sample{"s", "Scale.", test::kernelText()};
    const SamplePreview preview = previewer.preview(config, sample, nullptr, -1);
    EXPECT_EQ(preview.context_tokens + preview.response_tokens, 40);
    EXPECT_GT(preview.cut_tokens, 0);
    EXPECT_EQ(preview.sample_weight, 1);
    std::string response;
    std::int64_t cut = 0;
    for (const PreviewToken& token : preview.tokens) {
        if (token.part == PreviewToken::Part::context)
            continue;
        response += token.text;
        cut += token.part == PreviewToken::Part::cut;
        if (token.part == PreviewToken::Part::response) {
            // M = lambda 1[CUDA]: known without a score.
            EXPECT_EQ(token.weight, token.cuda ? 3 : 0);
        }
    }
    EXPECT_EQ(cut, preview.cut_tokens);
    EXPECT_EQ(response.substr(0, sample.response.size()), sample.response);
    config.objective.mask.confidence_mask = true;
    EXPECT_TRUE(std::isnan(previewer.preview(config, sample, nullptr, -1).tokens.at(39).weight));
    config.over_long = OverLong::drop;
    EXPECT_TRUE(previewer.preview(config, sample, nullptr, -1).left_out);
    config.max_length = 2;
    EXPECT_TRUE(previewer.preview(config, sample, nullptr, -1).left_out);
    SamplePreviewView view;
    view.setPreview(std::make_shared<const SamplePreview>(preview));
    ASSERT_TRUE(waitFor([&] { return view.isSettled(); }));
    EXPECT_TRUE(view.text()->toPlainText().contains(
        QString::fromStdString(sample.response).section(QLatin1Char('\n'), 0, 2)));
}

TEST_F(Form, DifferencesOfRunsAreATable) {
    ConfigDifferenceModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    TrainConfig a = tinyConfig(folder, QStringLiteral("a")), b = a;
    b.output = "/other";
    b.objective.mask.tau = 0.25;
    b.lora.targets = {"q_proj", "v_proj"};
    model.setConfigs({QStringLiteral("a"), QStringLiteral("b")}, {a, b}, true);
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(model.columnCount(), 3);
    EXPECT_EQ(model.index(0, 0).data().toString(), QLatin1String("lora.targets"));
    EXPECT_EQ(model.index(0, 2).data().toString(), QLatin1String("q_proj, v_proj"));
    EXPECT_EQ(model.index(1, 0).data().toString(), QLatin1String("objective.tau"));
    EXPECT_EQ(model.index(1, 1).data().toString(), QLatin1String("0.1"));
    model.setConfigs({QStringLiteral("a"), QStringLiteral("b")}, {a, b}, false);
    EXPECT_EQ(static_cast<std::size_t>(model.rowCount()), flatConfig(a).size() - 1);
    model.setConfigs({}, {}, true);
    EXPECT_EQ(model.rowCount(), 0);
}

} // namespace
} // namespace cuset
