// Runs as processes of their own, and grids of them.
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/train/run_process.h"
#include "core/train/run_sweep.h"
#include "tests/core/train/run_files.h"

namespace cuset {
namespace {

using test::line_of;
using test::RunFiles;
using test::some_step;
namespace fs = std::filesystem;

TEST_F(RunFiles, AKilledProcessIsRecordedWithItsSignal) {
    folder_.write("config.json", "{}");
    append(line_of({"2026-12-01T10:00:00.000Z", StartedEvent{}})
           + line_of({"2026-12-01T10:00:01.000Z", some_step(7)}) + "{\"half");
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::raise(SIGKILL);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    record_end(run(), status, 0);
    RunReader reader(run());
    RunUpdate update = read(reader);
    EXPECT_EQ(update.summary.state, RunState::failed);
    EXPECT_EQ(update.summary.failed.exit_code, 137);
    EXPECT_EQ(update.summary.failed.code, "signal");
    EXPECT_EQ(update.summary.failed.step, 7);
    EXPECT_THAT(run_explanation(update.summary, update.lock),
                ::testing::HasSubstr("failed (signal 9)"));
    // It is said once.
    record_end(run(), status, 0);
    EXPECT_EQ(read(reader).bytes, 0u);
    // Killed for want of memory, after it was gone on with.
    append(line_of({"2026-12-01T10:00:02.000Z", StartedEvent{}}));
    record_end(run(), status, 1);
    update = read(reader);
    EXPECT_EQ(update.summary.failed.code, "out_of_memory");
    EXPECT_FALSE(fs::exists(run() / "lock"));
}

TEST_F(RunFiles, NoProgramAndNoWriterAreSaid) {
    EXPECT_THROW(spawn_training({(run() / "nothing").string()}, run()), Error);
    EXPECT_THROW(spawn_detached({(run() / "nothing").string()}, run()), Error);
    EXPECT_THROW(request_stop(run()), Error);
    write_lock(1, "x", "some-other-host");
    try {
        request_stop(run());
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("some-other-host"));
    }
}

TEST_F(RunFiles, ADetachedProcessOutlivesItsParentAndLogs) {
    const fs::path script = folder_.write("script", "#!/bin/sh\necho \"$1\"\n");
    fs::permissions(script, fs::perms::owner_all);
    const fs::path place = run() / "with space";
    fs::create_directories(place);
    const std::int64_t pid = spawn_detached({script.string(), "a 'quoted' $word"}, place);
    EXPECT_GT(pid, 1);
    EXPECT_NE(::getpgid(static_cast<pid_t>(pid)), ::getpgrp());
    for (int i = 0; i < 200 && log_tail(place, 5).empty(); ++i)
        ::usleep(20000);
    EXPECT_THAT(log_tail(place, 5), ::testing::ElementsAre("a 'quoted' $word"));
}

TEST(Sweep, AGridIsEveryCombination) {
    test::TemporaryFolder folder;
    TrainConfig base = test::golden_config(folder, "llama", 2);
    base.output = (folder.path() / "sweep").string();
    RunGrid grid;
    EXPECT_EQ(grid.runs(), 0);
    EXPECT_THROW(expand_sweep(base, grid), Error);
    add_sweep_axis(grid, "tau=0.05, 0.1,0.2");
    add_sweep_axis(grid, "objective=sft,cuset");
    add_sweep_axis(grid, "window=64");
    EXPECT_EQ(grid.runs(), 6);
    const auto configs = expand_sweep(base, grid);
    ASSERT_EQ(configs.size(), 6u);
    EXPECT_EQ(fs::path(configs[0].output).filename(), "sft_tau0.05_l64");
    EXPECT_EQ(configs[5].objective.mask.tau, 0.2);
    EXPECT_EQ(configs[5].objective.mask.window, 64);
    EXPECT_EQ(configs[5].learning_rate, base.learning_rate);
    for (const char* bad : {"tau=", "tau=0.1,,0.2", "tau=x", "window=0", "window=1.5", "rank=4",
                            "objective=nothing", "tau"})
        EXPECT_THROW(add_sweep_axis(grid, bad), Error) << bad;
    RunGrid outside;
    outside.tau = {2};
    EXPECT_THROW(expand_sweep(base, outside), Error); // the configuration's own check
    const Sweep made = write_sweep(base, grid);
    EXPECT_THROW(write_sweep(base, grid), Error);
    const Sweep found = read_sweep(folder.path() / "sweep");
    EXPECT_EQ(found.grid, grid);
    EXPECT_EQ(found.runs, made.runs);
    EXPECT_EQ(read_train_config((found.runs[2] / "config.json").string()).objective.mask.tau,
              configs[2].objective.mask.tau);
}

} // namespace
} // namespace cuset
