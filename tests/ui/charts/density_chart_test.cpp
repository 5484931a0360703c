#include "ui/charts/density_chart.h"

#include <cmath>
#include <limits>

#include <QSignalSpy>
#include <QTest>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct FilledDensityChart : testing::Test {
    FilledDensityChart() {
        chart.setDensities(bump(0.3), bump(0.8), {1200, 0.45, 0.2}, {4000, 0.75, 0.1},
                           {0.41, 0, -120.5});
        chart.setTau(0.2);
        shown(chart);
    }
    QPointF tauPosition() const {
        return {chart.toPosition(chart.tau(), 0).x(), chart.plotRect().center().y()};
    }
    DensityChart chart;
};

TEST_F(FilledDensityChart, DraggingTauEmitsEachStepAndTheEndOnce) {
    QSignalSpy moved(&chart, &DensityChart::tauDragged);
    QSignalSpy finished(&chart, &DensityChart::tauDragFinished);
    drag(chart.plotWidget(), tauPosition(), chart.toPosition(0.6, 1));
    ASSERT_EQ(moved.size(), 2);
    EXPECT_NEAR(moved[0][0].toDouble(), 0.4, 0.002);
    EXPECT_NEAR(moved[1][0].toDouble(), 0.6, 0.002);
    ASSERT_EQ(finished.size(), 1);
    EXPECT_EQ(finished[0][0].toDouble(), chart.tau());
}

TEST_F(FilledDensityChart, DraggingElsewhereLeavesTau) {
    QSignalSpy moved(&chart, &DensityChart::tauDragged);
    drag(chart.plotWidget(), chart.toPosition(0.5, 1), chart.toPosition(0.7, 1));
    EXPECT_EQ(moved.size(), 0);
    EXPECT_EQ(chart.tau(), 0.2);
}

TEST_F(FilledDensityChart, DraggingStaysWithinZeroAndOne) {
    drag(chart.plotWidget(), tauPosition(), {-500, 50});
    EXPECT_EQ(chart.tau(), 0);
    drag(chart.plotWidget(), tauPosition(), {5000, 50});
    EXPECT_EQ(chart.tau(), 1);
}

TEST_F(FilledDensityChart, EscapeTakesADragBack) {
    QSignalSpy finished(&chart, &DensityChart::tauDragFinished);
    press(chart.plotWidget(), tauPosition());
    moveTo(chart.plotWidget(), chart.toPosition(0.9, 1), Qt::LeftButton);
    QTest::keyClick(&chart, Qt::Key_Escape);
    release(chart.plotWidget(), chart.toPosition(0.9, 1));
    ASSERT_EQ(finished.size(), 1);
    EXPECT_EQ(finished[0][0].toDouble(), 0.2);
}

TEST_F(FilledDensityChart, KeysMoveTau) {
    QSignalSpy finished(&chart, &DensityChart::tauDragFinished);
    QTest::keyClick(&chart, Qt::Key_Right);
    EXPECT_DOUBLE_EQ(chart.tau(), 0.21);
    QTest::keyClick(&chart, Qt::Key_Left, Qt::ShiftModifier);
    EXPECT_DOUBLE_EQ(chart.tau(), 0.11);
    QTest::keyClick(&chart, Qt::Key_End);
    EXPECT_DOUBLE_EQ(chart.tau(), 1);
    EXPECT_EQ(finished.size(), 3);
}

TEST_F(FilledDensityChart, HeldKeyIsOneChange) {
    QSignalSpy moved(&chart, &DensityChart::tauDragged);
    QSignalSpy finished(&chart, &DensityChart::tauDragFinished);
    for (int i = 0; i < 5; ++i)
        QTest::keyPress(&chart, Qt::Key_Right);
    QTest::keyRelease(&chart, Qt::Key_Right);
    EXPECT_EQ(moved.size(), 5);
    EXPECT_EQ(finished.size(), 1);
}

TEST_F(FilledDensityChart, SettingTauEmitsNothing) {
    QSignalSpy moved(&chart, &DensityChart::tauDragged);
    chart.setTau(0.7);
    chart.setTau(7);
    EXPECT_EQ(chart.tau(), 1);
    chart.setTau(nan);
    EXPECT_EQ(chart.tau(), 1);
    EXPECT_EQ(moved.size(), 0);
}

TEST_F(FilledDensityChart, HistogramIsADensityInSteps) {
    chart.setHistograms({1, 3}, {2, 0});
    EXPECT_FALSE(chart.histogramShown());
    chart.setHistogramShown(true);
    const ChartTable table = chart.table();
    // Two bins of width 1/2: 1 of 4 tokens is a density of 0.5, 3 of 4 is 1.5.
    ASSERT_EQ(table.rows.size(), 4u);
    EXPECT_EQ(table.rows[0], (QStringList{"0", "0.5", "2"}));
    EXPECT_EQ(table.rows[3], (QStringList{"1", "1.5", "0"}));
    shown(chart);
}

TEST_F(FilledDensityChart, DrawsOtherPixelsOnALogarithmicAxis) {
    const QImage before = shown(chart);
    chart.setLogAxis(true);
    EXPECT_NE(shown(chart), before);
}

TEST_F(FilledDensityChart, DescribesItselfInWords) {
    EXPECT_TRUE(chart.accessibleDescription().contains("1,200 sensitive"));
    EXPECT_TRUE(chart.accessibleDescription().contains("0.41"));
    chart.clear();
    EXPECT_EQ(chart.accessibleDescription(), chart.emptyText());
}

TEST(DensityChart, SurvivesOddData) {
    DensityChart chart;
    shown(chart);
    press(chart.plotWidget(), {100, 100});
    QTest::keyClick(&chart, Qt::Key_Right);
    chart.setDensities({{0, 0.5, 1}, {nan, nan, nan}}, {}, {3, nan, nan}, {}, {nan, nan, nan});
    shown(chart);
    chart.setLogAxis(true);
    shown(chart, {1, 1});
    chart.setDensities({{0, 1}, {0}}, {{0}, {1, 2}}, {1, 0.5, 0}, {1, 0.5, 0}, {});
    shown(chart, {90, 40});
    chart.setHistograms({}, {0, 0});
    chart.setHistogramShown(true);
    shown(chart);
    EXPECT_FALSE(chart.isEmpty());
}

} // namespace
} // namespace cuset
