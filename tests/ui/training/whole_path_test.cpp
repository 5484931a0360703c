// From thresholds to a finished run, in the window; and a window that dies meanwhile.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <sys/types.h>

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTextStream>
#include <QToolButton>

#include <gtest/gtest.h>

#include "core/train/run_process.h"
#include "core/train/run_reader.h"
#include "tests/ui/synthetic_scores.h"
#include "tests/ui/training/training_support.h"
#include "ui/compare/compare_state.h"
#include "ui/compare/stage_slider.h"
#include "ui/shell/compare_controller.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::tinyConfig;
using test::waitFor;

class WholePath : public ::testing::Test {
protected:
    void TearDown() override {
        // Runs that a failed test left behind end.
        for (const QString& run : runs_)
            try {
                request_stop(run.toStdString());
            } catch (const Error&) {
                continue; // over
            }
    }
    QString settings() const { return folder.filePath(QStringLiteral("settings.json")); }
    QString note(const QString& run) {
        runs_ += run;
        return run;
    }
    static RunSummary summary(const QString& run) { return summarize_run(run.toStdString()); }

    // The finished run is opened from the table: each of its checkpoints is loaded into the model
    // and scored, and the slider goes over them.
    static void compareAndScrub(MainWindow& window, const QString& run, std::int64_t stopped) {
        window.training()->panel()->select({run});
        QToolButton* compare = nullptr;
        for (QToolButton* button : window.training()->panel()->findChildren<QToolButton*>())
            if (button->text() == QLatin1String("Compare"))
                compare = button;
        ASSERT_NE(compare, nullptr);
        ASSERT_TRUE(waitFor([&] { return compare->isEnabled(); }));
        compare->click();
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 60000));
        const CompareState* state = window.comparison();
        ASSERT_GE(state->stages().size(), 5u) << "the base, three thirds and the stop";
        std::vector<qint64> steps;
        for (const CompareStage& stage : state->stages())
            steps.push_back(stage.step);
        EXPECT_NE(std::find(steps.begin(), steps.end(), stopped), steps.end())
            << ::testing::PrintToString(steps) << " without " << stopped;
        window.comparing()->scoreMissing();
        ASSERT_TRUE(
            waitFor([&] { return window.isSettled() && state->missingCount() == 0; }, 180000));
        EXPECT_EQ(window.findChild<EditorPanel*>()->colorBy(), ColorBy::Change);
        auto* slider = window.findChild<StageSlider*>();
        slider->setValue(0);
        EXPECT_EQ(largestChange(window), 0) << "the base beside itself";
        for (int stage = 1; stage <= slider->maximum(); ++stage) {
            slider->setValue(stage);
            EXPECT_EQ(state->current(), stage);
            EXPECT_EQ(window.analysis()->figures()->comparedScores(),
                      state->stages()[static_cast<std::size_t>(stage)].scores);
            EXPECT_GT(largestChange(window), 0);
        }
        EXPECT_GT(state->figures()->comparison.all.confidence, 0)
            << "it was trained on these samples";
    }
    static float largestChange(MainWindow& window) {
        const auto& figures = window.analysis()->figures();
        float largest = 0;
        for (int t = 0; figures && t < figures->count(); ++t)
            largest = std::max(largest, std::abs(figures->change(t)));
        return largest;
    }

    QTemporaryDir folder;
    QStringList runs_;
};

TEST_F(WholePath, TuneTrainFollowStopResumeFinishCompareScrub) {
    constexpr std::int64_t total = 600; // long enough to be stopped on the way
    MainWindow window(settings());
    window.resize(1280, 800);
    window.show();
    window.openPaths({test::writeSamples(folder), test::tinyModel()});
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    window.score();
    ASSERT_TRUE(
        waitFor([&] { return window.isSettled() && window.workspace()->scoredCount() == 6; }));
    window.maskSettings()->setTau(0.02);
    ASSERT_TRUE(window.showView(QStringLiteral("run-form")));
    RunConfigDialog* form = window.training()->form();
    ASSERT_NE(form, nullptr);
    ASSERT_TRUE(waitFor([&] { return form->isSettled(); }));
    EXPECT_EQ(form->problem(), QString());
    TrainConfig config = *form->config();
    EXPECT_EQ(config.objective.mask.tau, 0.02);
    EXPECT_EQ(config.model, test::tinyModel().toStdString());
    ASSERT_EQ(config.data.size(), 1u);
    // The sample was scored: its weights are those of the code view.
    EXPECT_TRUE(form->preview()->text()->toPlainText().contains(QLatin1String("__global__")));
    const TrainConfig tiny = tinyConfig(folder, QStringLiteral("run"));
    TrainConfig wanted = tiny;
    wanted.objective = config.objective;
    wanted.max_steps = total;
    wanted.save_steps = wanted.eval_steps = total / 3; // the best so far is saved too
    wanted.keep_checkpoints = 10;
    form->setConfig(wanted);
    ASSERT_TRUE(waitFor([&] { return form->isSettled() && form->isReady(); }));
    const QString run = note(QString::fromStdString(wanted.output));
    form->start();
    RunRegistry* registry = window.training()->registry();
    ASSERT_TRUE(waitFor([&] {
        const RunFollower* follower = registry->find(run);
        return follower && follower->summary().last_step.step >= 3;
    })) << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    // It is selected, drawn and counted in the title.
    RunFollower* follower = registry->find(run);
    ASSERT_TRUE(waitFor([&] { return follower->steps().size() >= 3; }));
    EXPECT_TRUE(waitFor([&] { return window.windowTitle().contains(QLatin1String("left")); }))
        << window.windowTitle().toStdString();
    window.training()->launcher()->stop(run);
    ASSERT_TRUE(waitFor([&] { return follower->phase() == RunPhase::Stopped; }, 60000));
    const std::int64_t stopped = summary(run).last_step.step;
    EXPECT_LT(stopped, total);
    EXPECT_EQ(summary(run).checkpoint_step, stopped);
    window.training()->launcher()->resume(run);
    ASSERT_TRUE(waitFor([&] { return follower->phase() == RunPhase::Finished; }, 180000))
        << follower->explanation().toStdString();
    ASSERT_TRUE(waitFor([&] {
        return static_cast<std::int64_t>(follower->steps().size()) == total;
    })) << "every step once, over the stop";
    EXPECT_TRUE(QFile::exists(run + QStringLiteral("/final/adapter_model.safetensors")));
    compareAndScrub(window, run, stopped);

    // A run is deleted with its folder; nothing starts where one is.
    TrainConfig brief = tinyConfig(folder, QStringLiteral("brief"));
    const QString second = note(QString::fromStdString(brief.output));
    window.training()->launcher()->start(brief);
    ASSERT_TRUE(waitFor(
        [&] {
            const RunFollower* other = registry->find(second);
            return other && other->phase() == RunPhase::Finished;
        },
        60000))
        << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    EXPECT_EQ(summary(second).last_step.step, 8);
    window.messages()->clear();
    window.training()->launcher()->start(brief);
    ASSERT_TRUE(waitFor([&] { return !window.messages()->texts().isEmpty(); }));
    EXPECT_TRUE(window.messages()->texts().first().contains(QLatin1String("holds a run")));
    window.training()->launcher()->remove(second);
    EXPECT_TRUE(waitFor([&] { return !registry->find(second) && !QFile::exists(second); }));
}

TEST_F(WholePath, ARunThatCannotStartIsSaid) {
    MainWindow window(settings());
    TrainConfig config = tinyConfig(folder, QStringLiteral("run"));
    config.data = {folder.filePath(QStringLiteral("missing.jsonl")).toStdString()};
    window.training()->launcher()->start(config);
    // It runs, and fails with the reason among its events.
    const QString run = QString::fromStdString(config.output);
    ASSERT_TRUE(waitFor([&] {
        const RunFollower* follower = window.training()->registry()->find(run);
        return follower && follower->phase() == RunPhase::Failed;
    }));
    EXPECT_TRUE(window.training()->registry()->find(run)->explanation().contains(
        QLatin1String("missing.jsonl")));
    window.training()->launcher()->resume(folder.filePath(QStringLiteral("nothing")));
    ASSERT_TRUE(waitFor([&] { return !window.messages()->texts().isEmpty(); }));
}

TEST_F(WholePath, AKilledTrainerIsToldFromOtherEnds) {
    MainWindow window(settings());
    TrainConfig config = tinyConfig(folder, QStringLiteral("run"));
    config.max_steps = 100000;
    const QString run = note(QString::fromStdString(config.output));
    window.training()->launcher()->start(config);
    const auto follower = [&] { return window.training()->registry()->find(run); };
    ASSERT_TRUE(waitFor([&] { return follower() && follower()->summary().last_step.step > 2; }));
    const LockReport lock = inspect_lock(run.toStdString() + "/lock");
    ASSERT_EQ(lock.state, LockState::held);
    ASSERT_EQ(::kill(static_cast<pid_t>(lock.holder.pid), SIGKILL), 0);
    ASSERT_TRUE(waitFor([&] { return follower()->phase() == RunPhase::Failed; }))
        << follower()->explanation().toStdString();
    EXPECT_TRUE(follower()->explanation().contains(QLatin1String("signal 9")));
    EXPECT_FALSE(follower()->log().isEmpty());
    // And it goes on from there.
    window.training()->launcher()->resume(run);
    ASSERT_TRUE(waitFor([&] { return follower()->phase() == RunPhase::Running; }));
    window.training()->launcher()->stop(run);
    ASSERT_TRUE(waitFor([&] { return follower()->phase() == RunPhase::Stopped; }, 60000));
}

TEST_F(WholePath, AQueueGoesOnAndStops) {
    MainWindow window(settings());
    TrainConfig base = tinyConfig(folder, QStringLiteral("sweep"));
    base.max_steps = 4;
    RunGrid grid;
    grid.tau = {0.0, 0.1};
    grid.learning_rate = {1e-4, 1e-3};
    const QString sweep = note(QString::fromStdString(base.output));
    window.training()->launcher()->startSweep(base, grid, 2);
    RunRegistry* registry = window.training()->registry();
    const auto count = [&](RunPhase phase) {
        return std::count_if(registry->runs().begin(), registry->runs().end(),
                             [&](const RunFollower* run) { return run->phase() == phase; });
    };
    ASSERT_TRUE(waitFor([&] { return count(RunPhase::Finished) == 4; }, 120000))
        << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    EXPECT_EQ(registry->sweeps(), QStringList{sweep});
    // A queue that was stopped is gone on with.
    TrainConfig longer = tinyConfig(folder, QStringLiteral("longer"));
    longer.max_steps = 100000;
    const QString second = note(QString::fromStdString(longer.output));
    window.training()->launcher()->startSweep(longer, grid, 1);
    ASSERT_TRUE(waitFor([&] { return count(RunPhase::Running) == 1; }, 60000));
    EXPECT_EQ(count(RunPhase::Waiting), 3);
    window.training()->launcher()->stop(second);
    ASSERT_TRUE(waitFor([&] { return count(RunPhase::Stopped) == 1; }, 60000));
    EXPECT_EQ(count(RunPhase::Waiting), 3);
    ASSERT_TRUE(waitFor([&] { return !QFile::exists(second + QStringLiteral("/lock")); }));
    window.training()->launcher()->resumeQueue(second, 1);
    ASSERT_TRUE(waitFor([&] { return count(RunPhase::Running) == 1; }, 60000));
    window.training()->launcher()->stop(second);
    ASSERT_TRUE(waitFor([&] { return count(RunPhase::Running) == 0; }, 60000));
}

// kill -9 of the window at several points of a run it started. CUSET_KILL_POINTS sets how many.
TEST_F(WholePath, AWindowThatIsKilledLeavesItsRunAlone) {
    const int points = std::max(1, qEnvironmentVariableIntValue("CUSET_KILL_POINTS"));
    const std::int64_t total = 60;
    for (int point = 0; point < points; ++point) {
        const QString name = QStringLiteral("killed-%1").arg(point);
        TrainConfig config = tinyConfig(folder, name);
        config.max_steps = total;
        const QString run = note(QString::fromStdString(config.output));
        QFile file(folder.filePath(name + QStringLiteral(".json")));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(train_config_json(config)));
        file.close();
        QProcess window;
        window.start(QStringLiteral(CUSET_TRAINING_WINDOW), {settings(), file.fileName()});
        const std::int64_t at = total * point / points; // 0: as soon as the run was started
        ASSERT_TRUE(waitFor(
            [&] {
                return QFile::exists(run + QStringLiteral("/events.jsonl"))
                    && summary(run).last_step.step >= at;
            },
            60000))
            << window.readAllStandardError().toStdString();
        window.kill(); // SIGKILL
        window.waitForFinished();
        ASSERT_TRUE(waitFor([&] { return summary(run).state == RunState::finished; }, 60000));
        EXPECT_EQ(summary(run).last_step.step, total);
        EXPECT_TRUE(QFile::exists(run + QStringLiteral("/final/adapter_model.safetensors")));
        // The next window knows the run and shows all of it.
        MainWindow next(settings());
        QElapsedTimer timer;
        timer.start();
        ASSERT_TRUE(waitFor([&] { return next.training()->registry()->find(run); }));
        next.training()->panel()->select({run});
        ASSERT_TRUE(waitFor([&] {
            return next.training()->panel()->charts()->pointCount(0, 0)
                == static_cast<std::size_t>(total);
        }));
        EXPECT_LT(timer.elapsed(), 1000);
        std::printf("killed at step %lld: whole curve after %lld ms\n", static_cast<long long>(at),
                    static_cast<long long>(timer.elapsed()));
    }
}

} // namespace
} // namespace cuset
