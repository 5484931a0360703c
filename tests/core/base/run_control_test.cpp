#include "core/base/run_control.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/error.h"

namespace cuset {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(RunControl, ReportsFirstAndLastOfAStageWhateverTheInterval) {
    std::vector<std::int64_t> seen;
    RunControl control([&](const Progress& p) { seen.push_back(p.done); }, hours(1));
    for (std::int64_t done = 0; done <= 10; ++done)
        control.checkpoint({"scoring", done, 10, "tokens"});
    EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 10}));
}

TEST(RunControl, ANewStageGetsThrough) {
    std::vector<std::string> stages;
    RunControl control([&](const Progress& p) { stages.push_back(p.stage); }, hours(1));
    control.checkpoint({"loading", 1, 3});
    control.checkpoint({"loading", 2, 3});
    control.checkpoint({"scoring", 1, 3});
    EXPECT_EQ(stages, (std::vector<std::string>{"loading", "scoring"}));
}

TEST(RunControl, AStopThrowsAtTheNextCheckpoint) {
    int reports = 0;
    RunControl control([&](const Progress&) { ++reports; }, milliseconds(0));
    control.checkpoint({"scoring", 1, 3});
    control.request_stop();
    EXPECT_TRUE(control.stop_requested());
    EXPECT_THROW(control.checkpoint({"scoring", 2, 3}), Cancelled);
    EXPECT_THROW(control.throw_if_stopped(), Cancelled);
    EXPECT_EQ(reports, 1);
}

TEST(RunControl, AStopFromWithinTheReportThrowsAtOnce) {
    RunControl* self = nullptr;
    RunControl control([&](const Progress&) { self->request_stop(); });
    self = &control;
    EXPECT_THROW(control.checkpoint({"scoring", 1, 3}), Cancelled);
}

TEST(RunControl, WithoutReportOnlyStops) {
    RunControl control;
    EXPECT_NO_THROW(control.checkpoint({"scoring", 1, 3}));
}

} // namespace
} // namespace cuset
