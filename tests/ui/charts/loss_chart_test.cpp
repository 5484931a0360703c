#include "ui/charts/loss_chart.h"

#include <array>
#include <cmath>
#include <limits>

#include <QApplication>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

TEST(LossChart, SmoothsByTheFormula) {
    LossChart chart;
    chart.setSmoothing(0.5);
    const int run = chart.addSeries("run");
    chart.append(run, 1, 4);
    chart.append(run, 2, 2);
    chart.append(run, 3, std::nan(""));
    chart.append(run, 4, 8);
    // m1 = 2, over 1/2: 4. m2 = 1 + 1 = 2, over 3/4: 8/3. m3 = 1 + 4 = 5, over 7/8: 40/7.
    const std::vector<double> smooth = chart.smoothed(run);
    EXPECT_DOUBLE_EQ(smooth[0], 4);
    EXPECT_DOUBLE_EQ(smooth[1], 8.0 / 3);
    EXPECT_TRUE(std::isnan(smooth[2]));
    EXPECT_DOUBLE_EQ(smooth[3], 40.0 / 7);
}

TEST(LossChart, ResumedRunReplacesTheStepsItRepeats) {
    LossChart chart;
    const int run = chart.addSeries("run");
    chart.append(run, std::vector<double>{1, 2, 3, 4}, std::vector<double>{9, 8, 7, 6});
    chart.append(run, std::vector<double>{3, 4}, std::vector<double>{7.5, 6.5});
    LossChart fresh;
    fresh.addSeries("run");
    fresh.append(0, std::vector<double>{1, 2, 3, 4}, std::vector<double>{9, 8, 7.5, 6.5});
    EXPECT_EQ(chart.table().rows, fresh.table().rows);
}

// Runs by colour, curves by line style: what tells curves apart is named, not every pair.
TEST(LossChart, StylesStandForCurvesWhereColoursStandForRuns) {
    LossChart chart;
    for (int run = 0; run < 2; ++run)
        for (int curve = 0; curve < 2; ++curve)
            chart.append(chart.addSeries(QStringLiteral("r"), run, curve),
                         std::vector<double>{1, 2}, std::vector<double>{1.0 + run, 2.0 + curve});
    const auto colours = [&chart] {
        chart.setSmoothing(0);
        shown(chart);
        const QImage image = chart.grab().toImage();
        std::array<int, 4> count{};
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                for (int i = 0; i < 4; ++i)
                    count[static_cast<std::size_t>(i)] +=
                        image.pixelColor(x, y) == ChartTheme::fromPalette(chart.palette()).series(i)
                        ? 1
                        : 0;
        return count;
    };
    const auto both = colours();
    EXPECT_GT(both[0], 0);
    EXPECT_GT(both[1], 0);
    EXPECT_EQ(both[2] + both[3], 0) << "two runs, two colours";
    chart.setStyleKeys({QStringLiteral("training"), QStringLiteral("validation")});
    EXPECT_LT(colours()[0], both[0]) << "the legend no longer has the runs' colours";
}

TEST(LossChart, GrowingKeepsAZoomAndFollowsOtherwise) {
    LossChart chart;
    const int run = chart.addSeries("run");
    for (int step = 1; step <= 100; ++step)
        chart.append(run, step, 1.0 / step);
    shown(chart);
    chart.append(run, 101, 0);
    EXPECT_EQ(chart.visibleTo(), 101);
    chart.showRange(20, 40);
    chart.append(run, 102, 0);
    EXPECT_EQ(chart.visibleFrom(), 20);
    EXPECT_EQ(chart.visibleTo(), 40);
    chart.resetZoom();
    EXPECT_EQ(chart.visibleTo(), 102);
}

TEST(LossChart, AppendedPointsShowInTheNextTurn) {
    LossChart chart;
    const int run = chart.addSeries("run");
    chart.append(run, std::vector<double>{1, 2}, std::vector<double>{1, 2});
    const QImage before = shown(chart);
    chart.append(run, 3, 0.5);
    EXPECT_NE(shown(chart), before);
}

TEST(LossChart, AHundredThousandStepsAppendQuickly) {
    LossChart chart;
    const int run = chart.addSeries("run");
    shown(chart, {1366, 300});
    const CpuTimer timer;
    for (int step = 0; step < 100000; ++step)
        chart.append(run, step, std::sin(step * 0.001) + 2);
    shown(chart, {1366, 300});
    EXPECT_LT(timer.milliseconds(), 2000);
    const CpuTimer frames;
    for (int step = 100000; step < 100010; ++step) {
        chart.append(run, step, 2);
        shown(chart, {1366, 300});
    }
    EXPECT_LT(frames.milliseconds() / 10, 100);
    RecordProperty("append_frame_ms", std::to_string(frames.milliseconds() / 10));
}

TEST(LossChart, SurvivesOddData) {
    const double infinity = std::numeric_limits<double>::infinity();
    LossChart chart;
    shown(chart);
    chart.append(0, 1, 1); // no such series
    const int run = chart.addSeries("run");
    shown(chart);
    chart.append(run, std::nan(""), 1);
    EXPECT_TRUE(chart.isEmpty());
    chart.append(run, 5, infinity);
    shown(chart);
    chart.setLogAxis(true);
    chart.append(run, 6, -1);
    chart.append(run, 7, 0);
    shown(chart);
    chart.append(run, 8, 2);
    chart.setSmoothing(0);
    chart.setSeriesVisible(run, false);
    shown(chart);
    chart.setSmoothing(5);
    chart.setSeriesVisible(run, true);
    shown(chart, {1, 1});
    wheel(chart.plotWidget(), {0, 0}, 3);
    chart.clearSeries(run);
    shown(chart);
    chart.append(run, 1, 1);
    chart.clear();
    shown(chart);
    EXPECT_TRUE(chart.isEmpty());
    EXPECT_EQ(chart.seriesCount(), 0);
}

} // namespace
} // namespace cuset
