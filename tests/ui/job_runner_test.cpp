#include "ui/async/job_runner.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"

namespace cuset {
namespace {

using test::waitFor;

void workUntilStopped(RunControl& control) {
    while (true) {
        control.checkpoint({"working", 1, 2, "steps"});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TEST(JobRunner, DeliversAResult) {
    JobRunner runner(1);
    int got = 0;
    runner.start(
        QStringLiteral("a"), [](RunControl&) { return 42; },
        [&](JobOutcome<int> outcome) { got = std::get<0>(outcome); });
    EXPECT_TRUE(runner.isRunning(QStringLiteral("a")));
    ASSERT_TRUE(waitFor([&] { return got != 0; }));
    EXPECT_EQ(got, 42);
    EXPECT_TRUE(runner.isIdle());
}

TEST(JobRunner, DeliversErrorsAsValues) {
    JobRunner runner(1);
    std::vector<ErrorCode> codes;
    const auto done = [&](JobOutcome<int> outcome) {
        codes.push_back(std::get<1>(outcome).code());
    };
    runner.start(
        QStringLiteral("a"),
        [](RunControl&) -> int { throw Error(ErrorCode::bad_format, "broken", "file"); }, done);
    runner.start(
        QStringLiteral("b"), [](RunControl&) -> int { throw std::bad_alloc(); }, done);
    runner.start(
        QStringLiteral("c"), [](RunControl&) -> int { throw std::runtime_error("other"); }, done);
    ASSERT_TRUE(waitFor([&] { return codes.size() == 3; }));
    EXPECT_EQ(codes,
              (std::vector{ErrorCode::bad_format, ErrorCode::out_of_memory, ErrorCode::failure}));
}

TEST(JobRunner, ANewerJobDropsTheOlderOnesResult) {
    JobRunner runner(2);
    std::atomic<bool> release{false};
    std::vector<int> got;
    const auto done = [&](JobOutcome<int> outcome) { got.push_back(std::get<0>(outcome)); };
    runner.start(
        QStringLiteral("a"),
        [&](RunControl&) {
            while (!release)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return 1; // ignores the stop, and comes late
        },
        done);
    runner.start(
        QStringLiteral("a"), [](RunControl&) { return 2; }, done);
    ASSERT_TRUE(waitFor([&] { return !got.empty(); }));
    release = true;
    waitFor([] { return false; }, 100);
    EXPECT_EQ(got, std::vector<int>{2});
}

TEST(JobRunner, CancelDeliversCancelled) {
    JobRunner runner(1);
    bool cancelled = false;
    int reports = 0;
    runner.start(
        QStringLiteral("a"),
        [](RunControl& control) {
            workUntilStopped(control);
            return 0;
        },
        [&](JobOutcome<int> outcome) { cancelled = std::holds_alternative<Cancelled>(outcome); },
        [&](const Progress& progress) { reports += progress.stage == "working"; });
    ASSERT_TRUE(waitFor([&] { return reports > 0; }));
    runner.cancel(QStringLiteral("a"));
    ASSERT_TRUE(waitFor([&] { return cancelled; }));
}

TEST(JobRunner, DestructorStopsAndWaits) {
    std::atomic<bool> ended{false};
    bool delivered = false;
    const auto begin = std::chrono::steady_clock::now();
    {
        JobRunner runner(1);
        runner.start(
            QStringLiteral("a"),
            [&](RunControl& control) {
                try {
                    workUntilStopped(control);
                } catch (const Cancelled&) {
                    ended = true;
                    throw;
                }
                return 0;
            },
            [&](JobOutcome<int>) { delivered = true; });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(ended);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    waitFor([] { return false; }, 50);
    EXPECT_FALSE(delivered);
}

} // namespace
} // namespace cuset
