#include "ui/charts/heat_map_chart.h"
#include "ui/charts/sweep_chart.h"

#include <cmath>

#include <QSignalSpy>
#include <QTest>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

std::vector<SweepPoint> gridPoints() {
    std::vector<SweepPoint> points;
    const SweepGrid grid;
    for (const double tau : grid.tau)
        for (const double lambda : grid.lambda)
            for (const int window : grid.window) {
                SweepPoint point;
                point.settings.tau = tau;
                point.settings.lambda = lambda;
                point.settings.window = window;
                point.mask.supervised_share = 1 - tau / 2;
                point.mask.cuda_share = 0.4;
                point.mean_weight = 0.5;
                points.push_back(point);
            }
    return points;
}

struct FilledSweepChart : testing::Test {
    FilledSweepChart() {
        current.tau = 0.12;
        current.lambda = 1.7;
        current.window = 200;
        current.cuda_mask = false;
        chart.setSweep(gridPoints(), current);
        shown(chart, {452, 230});
    }
    MaskSettings clicked(double x) {
        MaskSettings chosen;
        const auto connection = QObject::connect(&chart, &SweepChart::settingsChosen, &chart,
                                                 [&](const MaskSettings& s) { chosen = s; });
        click(chart.plotWidget(), chart.toPosition(x, 0.5));
        QObject::disconnect(connection);
        return chosen;
    }
    MaskSettings current;
    SweepChart chart;
};

TEST_F(FilledSweepChart, ClickChangesTheAxisValueAlone) {
    MaskSettings expected = current;
    expected.tau = 0.7;
    EXPECT_EQ(clicked(0.72), expected);
    chart.setAxis(SweepChart::Axis::lambda);
    expected = current;
    expected.lambda = 4;
    EXPECT_EQ(clicked(2.1), expected); // the axis holds log2
    chart.setAxis(SweepChart::Axis::window);
    expected = current;
    expected.window = 64;
    EXPECT_EQ(clicked(5.9), expected);
}

TEST_F(FilledSweepChart, KeysChooseTheNextValue) {
    MaskSettings chosen;
    QObject::connect(&chart, &SweepChart::settingsChosen, &chart,
                     [&](const MaskSettings& s) { chosen = s; });
    QTest::keyClick(&chart, Qt::Key_Right);
    EXPECT_EQ(chosen.tau, 0.3);
    QTest::keyClick(&chart, Qt::Key_Left);
    EXPECT_EQ(chosen.tau, 0.1);
}

TEST(SweepChart, SurvivesOddData) {
    SweepChart chart;
    shown(chart);
    click(chart.plotWidget(), {100, 100});
    SweepPoint point;
    point.mean_weight = std::nan("");
    chart.setSweep({point}, {});
    shown(chart);
    for (const auto axis : {SweepChart::Axis::window, SweepChart::Axis::lambda}) {
        chart.setAxis(axis);
        shown(chart, {30, 20});
    }
    point.settings.lambda = -1;
    chart.setSweep({point}, {});
    EXPECT_TRUE(chart.isEmpty());
    MaskSettings zero;
    zero.lambda = 0;
    zero.window = 0;
    chart.setSweep(gridPoints(), zero);
    shown(chart);
}

TEST(HeatMapChart, ClickGivesColumnAndRowFromTheBottom) {
    HeatMapChart chart;
    chart.setHeatMap({"λ", "τ", "share", {0.5, 1, 2}, {0.1, 0.9}, {1, 2, 3, 4, 5, 6}});
    shown(chart);
    QSignalSpy clicked(&chart, &HeatMapChart::cellClicked);
    click(&chart, chart.cellRect(2, 0).center());
    click(&chart, chart.cellRect(0, 1).center());
    ASSERT_EQ(clicked.size(), 2);
    EXPECT_EQ(clicked[0], (QList<QVariant>{2, 0}));
    EXPECT_EQ(clicked[1], (QList<QVariant>{0, 1}));
    EXPECT_GT(chart.cellRect(0, 0).top(), chart.cellRect(0, 1).top());
}

TEST(HeatMapChart, KeysMoveTheCursor) {
    HeatMapChart chart;
    chart.setHeatMap({"λ", "τ", "share", {0.5, 1, 2}, {0.1, 0.9}, {1, 2, 3, 4, 5, 6}});
    chart.setCurrent(1.1, 0.2); // nearest: column 1, row 0
    QSignalSpy clicked(&chart, &HeatMapChart::cellClicked);
    for (const auto key : {Qt::Key_Right, Qt::Key_Up, Qt::Key_Up, Qt::Key_Return})
        QTest::keyClick(&chart, key);
    ASSERT_EQ(clicked.size(), 1);
    EXPECT_EQ(clicked[0], (QList<QVariant>{2, 1}));
}

TEST(HeatMapChart, CellsHaveTheMapsColours) {
    HeatMapChart chart;
    chart.setHeatMap({"x", "y", "v", {0, 1}, {0}, {10, 20}});
    const QImage picture = shown(chart);
    const auto corner = [&](int column) {
        return picture.pixelColor(chart.cellRect(column, 0).topLeft().toPoint() + QPoint(5, 5));
    };
    EXPECT_EQ(corner(0), mapColor(ColorMap::Cividis, 0));
    EXPECT_EQ(corner(1), mapColor(ColorMap::Cividis, 1));
}

TEST(HeatMapChart, SurvivesOddData) {
    HeatMapChart chart;
    shown(chart);
    QTest::keyClick(&chart, Qt::Key_Return);
    chart.setHeatMap({"x", "y", "v", {0, 1}, {0, 1}, {1, 2, 3}}); // a value is missing
    EXPECT_TRUE(chart.isEmpty());
    chart.setHeatMap({"x", "y", "v", {}, {0, 1}, {}});
    EXPECT_TRUE(chart.isEmpty());
    chart.setHeatMap({"x", "y", "v", {5}, {5}, {std::nan("")}});
    chart.setCurrent(std::nan(""), 3);
    shown(chart, {1, 1});
    shown(chart);
    EXPECT_FALSE(chart.isEmpty());
}

} // namespace
} // namespace cuset
