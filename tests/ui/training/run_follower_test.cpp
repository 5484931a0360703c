// Runs as the window follows them: points as they come, states, many steps at once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "tests/ui/training/training_support.h"
#include "ui/training/run_charts.h"
#include "ui/training/run_registry.h"
#include "ui/training/run_table_model.h"
#include "ui/training/sweep_panel.h"

namespace cuset {
namespace {

using test::appendEvent;
using test::madeUpStep;
using test::waitFor;
using test::writeRun;

class Following : public ::testing::Test {
protected:
    QTemporaryDir folder;
    JobRunner pool{2};
};

TEST_F(Following, PointsComeAsTheyAreWritten) {
    const QString run = writeRun(folder, QStringLiteral("run"), 25, 100);
    RunFollower follower(run, &pool);
    follower.setPointsWanted(true);
    ASSERT_TRUE(waitFor([&] { return follower.steps().size() == 25; }));
    EXPECT_EQ(follower.evaluations().size(), 2u);
    EXPECT_EQ(follower.summary().started.total_steps, 100);
    QSignalSpy points(&follower, &RunFollower::pointsChanged);
    QElapsedTimer timer;
    timer.start();
    appendEvent(run, {"2026-12-01T10:00:11.000Z", madeUpStep(26, 100)});
    ASSERT_TRUE(waitFor([&] { return follower.steps().size() == 26; }));
    EXPECT_LT(timer.elapsed(), 1000); // by the file watch; within a second in any case
    ASSERT_GE(points.count(), 1);
    EXPECT_EQ(points.last().at(0).toULongLong(), 25u);
    // A run that begins anew in the same folder: everything before is void.
    QFile::resize(run + QStringLiteral("/events.jsonl"), 0);
    appendEvent(run, {"2026-12-01T11:00:00.000Z", madeUpStep(1, 100)});
    ASSERT_TRUE(waitFor([&] { return follower.steps().size() == 1; }));
    EXPECT_EQ(follower.summary().last_time, "2026-12-01T11:00:00.000Z");
}

TEST_F(Following, TwoReadersOfOneRunSeeTheSame) {
    const QString run = writeRun(folder, QStringLiteral("run"), 5, 100);
    RunFollower one(run, &pool);
    JobRunner otherPool(1);
    RunFollower two(run, &otherPool);
    one.setPointsWanted(true);
    two.setPointsWanted(true);
    for (std::int64_t step = 6; step <= 40; ++step)
        appendEvent(run, {"2026-12-01T10:00:11.000Z", madeUpStep(step, 100)});
    ASSERT_TRUE(waitFor([&] { return one.steps().size() == 40 && two.steps().size() == 40; }));
}

TEST_F(Following, StatesAreToldApart) {
    const QString run = writeRun(folder, QStringLiteral("run"), 3, 10);
    const LockHolder me = this_process();
    RunFollower follower(run, &pool);
    const auto becomes = [&](RunPhase phase) {
        return waitFor([&] {
            if (follower.phase() != phase)
                follower.refresh();
            return follower.isLoaded() && follower.phase() == phase;
        });
    };
    EXPECT_TRUE(becomes(RunPhase::Interrupted));
    test::writeLock(run, me);
    EXPECT_TRUE(becomes(RunPhase::Running));
    EXPECT_FALSE(follower.isOver());
    test::writeLock(run, {me.pid, me.start_time + "1", me.host});
    EXPECT_TRUE(becomes(RunPhase::Interrupted)); // the number is another process's
    EXPECT_TRUE(follower.explanation().contains(QLatin1String("another program")));
    test::writeLock(run, {me.pid, me.start_time, "elsewhere.example"});
    EXPECT_TRUE(becomes(RunPhase::Elsewhere));
    EXPECT_TRUE(follower.explanation().contains(QLatin1String("elsewhere.example")));
    QFile::remove(run + QStringLiteral("/lock"));
    FailedEvent failure;
    failure.code = "out_of_memory";
    failure.exit_code = 137;
    failure.message = "the process was ended by signal 9";
    appendEvent(run, {"2026-12-01T10:00:12.000Z", failure});
    EXPECT_TRUE(becomes(RunPhase::Failed));
    EXPECT_TRUE(follower.explanation().startsWith(QLatin1String("out of memory (signal 9)")));
    appendEvent(run, {"2026-12-01T10:00:13.000Z", StartedEvent{}});
    FinishedEvent end;
    end.reason = "completed";
    appendEvent(run, {"2026-12-01T10:00:14.000Z", end});
    EXPECT_TRUE(becomes(RunPhase::Finished));
}

// A run of 100,000 steps, from the folder to all curves, and what the event loop saw of it.
TEST_F(Following, AHundredThousandStepsOpenFast) {
    const QString run = writeRun(folder, QStringLiteral("long"), 100000, 100000);
    RunCharts charts;
    charts.resize(1200, 700);
    charts.show();
    waitFor([] { return false; }, 50);
    qint64 longest = 0;
    QElapsedTimer beat;
    QTimer metronome;
    QObject::connect(&metronome, &QTimer::timeout, [&] {
        longest = std::max(longest, beat.nsecsElapsed());
        beat.start();
    });
    metronome.start(0);
    QElapsedTimer timer;
    timer.start();
    beat.start();
    RunFollower follower(run, &pool);
    charts.setRuns({&follower});
    const auto done = [&] {
        for (int chart = 0; chart < static_cast<int>(charts.charts().size()); ++chart)
            if (charts.pointCount(chart, 0) != 100000)
                return false;
        return true;
    };
    while (!done() && timer.elapsed() < 60000)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    const qint64 elapsed = timer.elapsed();
    ASSERT_TRUE(done());
    RecordProperty("milliseconds", static_cast<int>(elapsed));
    RecordProperty("longest_hold_up_ms", static_cast<int>(longest / 1000000));
    std::printf("100,000 steps: %lld ms to all curves, longest hold-up %.1f ms\n",
                static_cast<long long>(elapsed), static_cast<double>(longest) / 1e6);
    timer.start();
    appendEvent(run, {"2026-12-01T10:00:11.000Z", madeUpStep(100001, 100001)});
    ASSERT_TRUE(waitFor([&] { return charts.pointCount(0, 0) == 100001; }));
    EXPECT_LT(timer.elapsed(), 1000);
    charts.setRuns({});
}

TEST_F(Following, TheRegistryFindsRunsAndLosesThem) {
    writeRun(folder, QStringLiteral("a"), 3, 10);
    RunRegistry registry;
    RunTableModel model(&registry);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    registry.setRoots({folder.path()});
    ASSERT_TRUE(waitFor([&] { return registry.isSettled() && model.rowCount() == 1; }));
    EXPECT_EQ(model.index(0, RunTableModel::Name).data().toString(), QLatin1String("a"));
    EXPECT_EQ(model.index(0, RunTableModel::State).data().toString(), QLatin1String("crashed"));
    EXPECT_EQ(model.index(0, RunTableModel::Progress).data().toString(), QLatin1String("3/10"));
    EXPECT_EQ(model.index(0, RunTableModel::Tau).data().toString(), QLatin1String("0.1"));
    QElapsedTimer timer;
    timer.start();
    const QString second = writeRun(folder, QStringLiteral("b"), 20, 20);
    ASSERT_TRUE(waitFor([&] { return model.rowCount() == 2 && registry.isSettled(); }));
    EXPECT_LT(timer.elapsed(), 2500);
    const int row = model.run(0)->name() == QLatin1String("b") ? 0 : 1;
    EXPECT_TRUE(model.setData(model.index(row, RunTableModel::Notes),
                              QStringLiteral("<b>tried</b> tau"), Qt::EditRole));
    ASSERT_TRUE(waitFor([&] { return QFile::exists(second + QStringLiteral("/notes.txt")); }));
    EXPECT_EQ(model.index(row, RunTableModel::Notes).data().toString(),
              QLatin1String("<b>tried</b> tau"));
    EXPECT_FALSE(
        model.setData(model.index(row, RunTableModel::Name), QStringLiteral("x"), Qt::EditRole));
    // A second look at the folder finds the note.
    RunFollower again(second, &pool);
    ASSERT_TRUE(waitFor([&] { return again.isLoaded(); }));
    EXPECT_EQ(again.notes(), QLatin1String("<b>tried</b> tau"));
    std::filesystem::remove_all(folder.filePath(QStringLiteral("a")).toStdString());
    ASSERT_TRUE(waitFor([&] { return model.rowCount() == 1; }));
    EXPECT_EQ(model.run(0)->name(), QLatin1String("b"));
    EXPECT_EQ(model.table().rows.size(), 1u);
}

TEST_F(Following, ASweepIsShownAsAMap) {
    TrainConfig base = test::tinyConfig(folder, QStringLiteral("sweep"));
    RunGrid grid;
    grid.tau = {0.05, 0.1, 0.2};
    grid.lambda = {1, 2};
    const Sweep sweep = write_sweep(base, grid);
    for (std::size_t i = 0; i < 5; ++i) { // the last one waits
        const QString run = QString::fromStdString(sweep.runs[i].string());
        EvaluationEvent evaluation;
        evaluation.step = 4;
        evaluation.loss = 1.0 + static_cast<double>(i);
        appendEvent(run, {"2026-12-01T10:00:00.000Z", StartedEvent{}});
        appendEvent(run, {"2026-12-01T10:00:10.000Z", evaluation});
    }
    RunRegistry registry;
    registry.setRoots({folder.path()});
    ASSERT_TRUE(waitFor([&] { return registry.isSettled() && registry.runs().size() == 6; }));
    std::vector<const RunFollower*> runs(registry.runs().begin(), registry.runs().end());
    EXPECT_EQ(varyingAxes(runs), (std::vector{RunAxis::Tau, RunAxis::Lambda}));
    const HeatMap map =
        sweepHeatMap(runs, RunAxis::Tau, RunAxis::Lambda, RunFigure::BestValidation);
    EXPECT_EQ(map.x, (std::vector<double>{0.05, 0.1, 0.2}));
    EXPECT_EQ(map.y, (std::vector<double>{1, 2}));
    // Runs in order of the grid: tau outside, lambda inside.
    EXPECT_EQ(map.values[0], 1.0);
    EXPECT_EQ(map.values[3], 2.0); // tau 0.05, lambda 2
    EXPECT_EQ(map.values[1], 3.0);
    EXPECT_TRUE(std::isnan(map.values[5]));
    const RunFollower* waiting = registry.find(QString::fromStdString(sweep.runs[5].string()));
    ASSERT_NE(waiting, nullptr);
    EXPECT_EQ(waiting->phase(), RunPhase::Waiting);
    SweepPanel panel(&registry);
    panel.setSweep(folder.filePath(QStringLiteral("sweep")));
    QSignalSpy picked(&panel, &SweepPanel::runPicked);
    emit panel.chart()->cellClicked(1, 0);
    ASSERT_EQ(picked.count(), 1);
    EXPECT_TRUE(picked[0][0].toString().endsWith(QLatin1String("tau0.1_lambda1")));
}

} // namespace
} // namespace cuset
