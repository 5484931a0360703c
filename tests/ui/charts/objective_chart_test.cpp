#include "ui/charts/objective_chart.h"

#include <QSignalSpy>
#include <QTest>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

SampleObjectives someObjectives(int tokens) {
    std::vector<float> confidence, entropy;
    std::vector<LabelBits> labels;
    for (int t = 0; t < tokens; ++t) {
        confidence.push_back(0.05f + 0.9f * static_cast<float>(t % 10) / 10);
        entropy.push_back(static_cast<float>(t % 3));
        labels.push_back(t % 2 ? kernel_bit : launch_bit);
    }
    return sample_objectives(confidence, entropy, labels, {}, 0.5f);
}

TEST(ObjectiveChart, AClickGivesTheTokenAndMarksIt) {
    ObjectiveChart chart;
    chart.setObjectives(someObjectives(50));
    shown(chart, {600, 300});
    QSignalSpy clicked(&chart, &ObjectiveChart::tokenClicked);
    click(chart.plotWidget(), chart.toPosition(20, 3));
    ASSERT_EQ(clicked.size(), 1);
    EXPECT_EQ(clicked[0][0].toInt(), 20);
    EXPECT_EQ(chart.markedToken(), 20);
    QTest::keyClick(&chart, Qt::Key_Left);
    EXPECT_EQ(chart.markedToken(), 19);
    EXPECT_EQ(chart.laneAt(chart.toPosition(5, 5.5)), TokenObjective::sft) << "the first on top";
    EXPECT_EQ(chart.laneAt(chart.toPosition(5, 0.5)), TokenObjective::cuset);
}

TEST(ObjectiveChart, TheTableHoldsEveryWeight) {
    ObjectiveChart chart;
    const SampleObjectives objectives = someObjectives(3);
    chart.setObjectives(objectives);
    const ChartTable table = chart.table();
    EXPECT_EQ(table.header.size(), 7);
    ASSERT_EQ(table.rows.size(), 3u);
    EXPECT_EQ(table.rows[2][1], QStringLiteral("1")); // sft
    EXPECT_EQ(table.rows[2][6], csvNumber(objectives.weights[5][2]));
}

TEST(ObjectiveChart, SurvivesOddData) {
    ObjectiveChart chart;
    shown(chart);
    click(chart.plotWidget(), {50, 50});
    QTest::keyClick(&chart, Qt::Key_Left);
    chart.setObjectives(someObjectives(1));
    shown(chart, {20, 20});
    SampleObjectives zero;
    for (auto& weights : zero.weights)
        weights.assign(4, 0.0f);
    chart.setObjectives(zero);
    chart.setMarkedToken(3);
    chart.setChosen(TokenObjective::eaft);
    shown(chart);
    chart.clear();
    EXPECT_TRUE(chart.isEmpty());
    EXPECT_EQ(chart.markedToken(), -1);
}

TEST(ObjectiveChart, ALongSampleIsDecimated) {
    ObjectiveChart chart;
    chart.setObjectives(someObjectives(100000));
    const CpuTimer timer;
    shown(chart, {600, 300});
    EXPECT_LT(timer.milliseconds(), 1500); // undecimated lines take many times that
}

} // namespace
} // namespace cuset
