#include "ui/charts/window_chart.h"

#include <cmath>
#include <limits>

#include <QSignalSpy>
#include <QTest>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

// The lowest row of a column of the picture that holds the curve's colour, as a fraction of the
// plot from its top.
double lowestCurve(const WindowChart& chart, const QImage& picture, int token) {
    const QRectF plot = chart.plotRect();
    const QColor color = ChartTheme::fromPalette(chart.palette()).line;
    const int middle = static_cast<int>(chart.toPosition(token, 0).x());
    double lowest = -1;
    for (int x = middle - 1; x <= middle + 1; ++x)
        for (int y = static_cast<int>(plot.top()); y < static_cast<int>(plot.bottom()); ++y) {
            const QColor seen = picture.pixelColor(x, y);
            if (std::abs(seen.hue() - color.hue()) < 12 && seen.saturation() > 40)
                lowest = std::max(lowest, (y - plot.top()) / plot.height());
        }
    return lowest;
}

struct HundredThousandPoints : testing::Test {
    HundredThousandPoints() {
        // No minimum and no neutral mean: the picture shows nothing but the curve.
        chart.setWindowMeans(hundredThousandPoints(), std::nan(""), 64, -1);
    }
    WindowChart chart;
};

TEST_F(HundredThousandPoints, AreShownWithinHalfASecond) {
    shown(chart, {1366, 300});
    const CpuTimer timer;
    chart.setWindowMeans(hundredThousandPoints(), 0.88, 64, 61803);
    shown(chart, {1366, 300});
    EXPECT_LT(timer.milliseconds(), 500);
    RecordProperty("shown_ms", std::to_string(timer.milliseconds()));
}

TEST_F(HundredThousandPoints, PanAndZoomAtThirtyFramesASecond) {
    shown(chart, {1366, 300});
    constexpr int frames = 30;
    const CpuTimer timer;
    for (int i = 0; i < frames; ++i) {
        chart.showRange(300.0 * i, 300.0 * i + 90000 - 2000 * i);
        chart.grab();
    }
    const double each = timer.milliseconds() / frames;
    EXPECT_LT(each, 1000.0 / 30);
    RecordProperty("frame_ms", std::to_string(each));
}

TEST_F(HundredThousandPoints, ShowTheOneLowTokenAtItsPlace) {
    for (const QSize size : {QSize(1366, 300), QSize(452, 190), QSize(300, 150)}) {
        const QImage picture = shown(chart, size);
        EXPECT_GT(lowestCurve(chart, picture, 61803), 0.9) << size.width();
        EXPECT_LT(lowestCurve(chart, picture, 55000), 0.3) << size.width();
        EXPECT_LT(lowestCurve(chart, picture, 68000), 0.3) << size.width();
    }
}

TEST_F(HundredThousandPoints, ClickInTheDipFindsTheToken) {
    shown(chart);
    EXPECT_EQ(chart.tokenAt(chart.toPosition(61803, 0.5)), 61803);
    QSignalSpy clicked(&chart, &WindowChart::tokenClicked);
    click(chart.plotWidget(), chart.toPosition(61803, 0.5));
    ASSERT_EQ(clicked.size(), 1);
    EXPECT_EQ(clicked[0][0].toInt(), 61803);
    EXPECT_EQ(chart.markedToken(), 61803);
}

TEST_F(HundredThousandPoints, ClickHitsTheRightTokenWithZoom) {
    shown(chart);
    chart.showRange(61780, 61830);
    QSignalSpy clicked(&chart, &WindowChart::tokenClicked);
    for (const int token : {61781, 61802, 61803, 61804, 61829})
        click(chart.plotWidget(), chart.toPosition(token, 0.5));
    ASSERT_EQ(clicked.size(), 5);
    EXPECT_EQ(clicked[0][0].toInt(), 61781);
    EXPECT_EQ(clicked[1][0].toInt(), 61802);
    EXPECT_EQ(clicked[2][0].toInt(), 61803);
    EXPECT_EQ(clicked[3][0].toInt(), 61804);
    EXPECT_EQ(clicked[4][0].toInt(), 61829);
}

TEST_F(HundredThousandPoints, DragZoomsToItsBandAndDoubleClickResets) {
    shown(chart);
    QSignalSpy clicked(&chart, &WindowChart::tokenClicked);
    drag(chart.plotWidget(), chart.toPosition(20000, 0.5), chart.toPosition(40000, 0.5));
    EXPECT_NEAR(chart.visibleFrom(), 20000, 5);
    EXPECT_NEAR(chart.visibleTo(), 40000, 5);
    EXPECT_EQ(clicked.size(), 0);
    QTest::mouseDClick(chart.plotWidget(), Qt::LeftButton, {}, chart.plotRect().center().toPoint());
    EXPECT_EQ(chart.visibleFrom(), -0.5);
    EXPECT_EQ(chart.visibleTo(), 99999.5);
}

TEST_F(HundredThousandPoints, WheelZoomsAboutThePointer) {
    shown(chart);
    const QPointF at = chart.toPosition(30000, 0.5);
    wheel(chart.plotWidget(), at, 5);
    EXPECT_LT(chart.visibleTo() - chart.visibleFrom(), 40000);
    EXPECT_NEAR(chart.toValues(at).x(), 30000, 1);
    wheel(chart.plotWidget(), at, 200);
    EXPECT_NEAR(chart.visibleTo() - chart.visibleFrom(), 8, 1e-6);
    wheel(chart.plotWidget(), at, -500);
    EXPECT_EQ(chart.visibleTo(), 99999.5);
}

TEST_F(HundredThousandPoints, ZoomIsKeptWhileTheTokensStay) {
    chart.showRange(1000, 2000);
    chart.setWindowMeans(hundredThousandPoints(), 0.9, 128, 5);
    EXPECT_EQ(chart.visibleFrom(), 1000);
    chart.setWindowMeans({0.1f, 0.2f}, 0.9, 128, 0);
    EXPECT_EQ(chart.visibleTo(), 1.5);
}

TEST_F(HundredThousandPoints, MarkingATokenBringsItIntoView) {
    chart.showRange(0, 1000);
    chart.setMarkedToken(50000);
    EXPECT_LT(chart.visibleFrom(), 50000);
    EXPECT_GT(chart.visibleTo(), 50000);
    EXPECT_NEAR(chart.visibleTo() - chart.visibleFrom(), 1000, 1e-6);
    chart.setMarkedToken(100000);
    EXPECT_EQ(chart.markedToken(), -1);
}

TEST(WindowChart, HoverIsToldOnceATokenAndWhenItEnds) {
    WindowChart chart;
    chart.setWindowMeans({0.5f, 0.6f, 0.7f}, 0.55, 2, 0);
    shown(chart);
    QSignalSpy hovered(&chart, &WindowChart::tokenHovered);
    moveTo(chart.plotWidget(), chart.toPosition(1, 0.5));
    moveTo(chart.plotWidget(), chart.toPosition(1.1, 0.5));
    moveTo(chart.plotWidget(), chart.toPosition(2, 0.5));
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(chart.plotWidget(), &leave);
    ASSERT_EQ(hovered.size(), 3);
    EXPECT_EQ(hovered[0][0].toInt(), 1);
    EXPECT_EQ(hovered[1][0].toInt(), 2);
    EXPECT_EQ(hovered[2][0].toInt(), -1);
}

TEST(WindowChart, KeysStepThroughTokens) {
    WindowChart chart;
    chart.setWindowMeans({0.5f, 0.3f, 0.7f}, 0.55, 2, 1);
    QSignalSpy clicked(&chart, &WindowChart::tokenClicked);
    QTest::keyClick(&chart, Qt::Key_Return); // the minimum first
    QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Right);
    ASSERT_EQ(clicked.size(), 3);
    EXPECT_EQ(clicked[0][0].toInt(), 1);
    EXPECT_EQ(clicked[2][0].toInt(), 2);
}

TEST(WindowChart, SurvivesOddData) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    WindowChart chart;
    shown(chart);
    click(chart.plotWidget(), {100, 100});
    wheel(chart.plotWidget(), {100, 100}, 3);
    QTest::keyClick(&chart, Qt::Key_Left);
    EXPECT_EQ(chart.tokenAt({100, 100}), -1);
    chart.setWindowMeans({0.4f}, 0.5, 64, 0);
    shown(chart);
    EXPECT_EQ(chart.tokenAt(chart.plotRect().center()), 0);
    wheel(chart.plotWidget(), {100, 100}, 3);
    chart.setWindowMeans({none, none, none}, std::nan(""), 0, 7);
    shown(chart);
    chart.setMarkedToken(1);
    shown(chart, {1, 1});
    chart.setWindowMeans({none, 0.5f, none}, 0.9, 1, 0);
    shown(chart, {60, 30});
    chart.clear();
    EXPECT_TRUE(chart.isEmpty());
    shown(chart);
}

} // namespace
} // namespace cuset
