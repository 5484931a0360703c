#include "ui/charts/token_bar_chart.h"

#include <cmath>
#include <limits>

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

std::vector<TokenBar> bars(int count, int firstToken = 100) {
    std::vector<TokenBar> all;
    for (int i = 0; i < count; ++i)
        all.push_back({QStringLiteral(" word%1").arg(i), static_cast<float>(i % 10) / 10,
                       static_cast<quint16>(i % 3 == 0 ? 4 : 1), firstToken + i});
    return all;
}

TEST(TokenText, ShowsWhatCannotBeSeen) {
    EXPECT_EQ(visibleTokenText(" a\n\t"), QStringLiteral("·a↵→"));
    EXPECT_EQ(visibleTokenText(QString(QChar(0x1b)) + QChar(0x7f)), QStringLiteral("␛␡"));
    EXPECT_EQ(visibleTokenText(QString(QChar(0x202e)) + u'x'), QStringLiteral("<202e>x"));
    EXPECT_EQ(visibleTokenText(""), QStringLiteral("∅"));
    EXPECT_EQ(visibleTokenText("ж𝛼"), QStringLiteral("ж𝛼"));
    EXPECT_EQ(visibleTokenText(QString(QChar(0xd800))).size(), 1); // half a surrogate pair
}

TEST(TokenBarChart, ClickGivesTheToken) {
    TokenBarChart chart;
    chart.setTokens(bars(12), 0.5);
    shown(chart);
    QSignalSpy clicked(&chart, &TokenBarChart::tokenClicked);
    for (const int bar : {0, 5, 11})
        click(&chart, chart.columnOf(bar).center());
    ASSERT_EQ(clicked.size(), 3);
    EXPECT_EQ(clicked[0][0].toInt(), 100);
    EXPECT_EQ(clicked[1][0].toInt(), 105);
    EXPECT_EQ(clicked[2][0].toInt(), 111);
}

TEST(TokenBarChart, ClickGivesTheTokenWhenScrolledAndZoomed) {
    TokenBarChart chart;
    chart.setTokens(bars(400), 0.5);
    shown(chart);
    auto* scroll = chart.findChild<QScrollBar*>();
    ASSERT_FALSE(scroll->isHidden());
    EXPECT_EQ(chart.barAt(chart.columnOf(399).center()), -1); // out of sight
    QSignalSpy clicked(&chart, &TokenBarChart::tokenClicked);
    scroll->setValue(scroll->maximum());
    click(&chart, chart.columnOf(399).center());
    wheel(&chart, {200, 60}, -20, Qt::ControlModifier); // as thin as they fit
    EXPECT_TRUE(scroll->isHidden());
    for (const int bar : {0, 123, 399})
        click(&chart, chart.columnOf(bar).center());
    ASSERT_EQ(clicked.size(), 4);
    EXPECT_EQ(clicked[0][0].toInt(), 499);
    EXPECT_EQ(clicked[1][0].toInt(), 100);
    EXPECT_EQ(clicked[2][0].toInt(), 223);
    EXPECT_EQ(clicked[3][0].toInt(), 499);
}

TEST(TokenBarChart, MarkingScrollsToTheBar) {
    TokenBarChart chart;
    chart.setTokens(bars(400), 0.5);
    shown(chart);
    chart.setMarkedToken(450);
    EXPECT_EQ(chart.barAt(chart.columnOf(350).center()), 350);
    chart.setMarkedToken(100);
    EXPECT_EQ(chart.barAt(chart.columnOf(0).center()), 0);
    chart.setMarkedToken(7);
}

TEST(TokenBarChart, KeysStepThroughBars) {
    TokenBarChart chart;
    chart.setTokens(bars(3), 0.5);
    QSignalSpy clicked(&chart, &TokenBarChart::tokenClicked);
    for (const auto key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_End, Qt::Key_Right, Qt::Key_Home})
        QTest::keyClick(&chart, key);
    QList<int> tokens;
    for (const auto& arguments : clicked)
        tokens << arguments[0].toInt();
    EXPECT_EQ(tokens, (QList<int>{100, 101, 102, 102, 100}));
}

TEST(TokenBarChart, HoverIsToldOnceABar) {
    TokenBarChart chart;
    chart.setTokens(bars(5), 0.5);
    shown(chart);
    QSignalSpy hovered(&chart, &TokenBarChart::tokenHovered);
    moveTo(&chart, chart.columnOf(2).center());
    moveTo(&chart, chart.columnOf(2).center() + QPointF(1, 0));
    moveTo(&chart, {1, 1});
    ASSERT_EQ(hovered.size(), 2);
    EXPECT_EQ(hovered[0][0].toInt(), 102);
    EXPECT_EQ(hovered[1][0].toInt(), -1);
}

TEST(TokenBarChart, SensitiveBarsDifferInMoreThanColour) {
    // The same bar, sensitive and not, without colour: the hatch and the strip below remain.
    TokenBarChart chart;
    chart.setTokens({{"x", 0.8f, 4, 0}, {"x", 0.8f, 1, 1}}, std::nan(""));
    const QImage gray = shown(chart).convertToFormat(QImage::Format_Grayscale8);
    const auto levels = [&gray](const QRectF& column) {
        QSet<int> seen;
        const QRect inner = column
                                .adjusted(column.width() * 0.3, column.height() * 0.4,
                                          -column.width() * 0.3, -column.height() * 0.1)
                                .toRect();
        for (int y = inner.top(); y < inner.bottom(); ++y)
            for (int x = inner.left(); x < inner.right(); ++x)
                seen.insert(gray.pixelColor(x, y).red() / 32);
        return seen.size();
    };
    EXPECT_GT(levels(chart.columnOf(0)), 1);
    EXPECT_EQ(levels(chart.columnOf(1)), 1);
}

TEST(TokenBarChart, ManyBarsStaySmooth) {
    TokenBarChart chart;
    chart.setTokens(bars(32768), 0.5);
    shown(chart, {1366, 300});
    const CpuTimer timer;
    for (int i = 0; i < 10; ++i) {
        chart.setMarkedToken(100 + 3000 * i);
        chart.grab();
    }
    EXPECT_LT(timer.milliseconds() / 10, 100);
    RecordProperty("frame_ms", std::to_string(timer.milliseconds() / 10));
}

TEST(TokenBarChart, SurvivesOddData) {
    TokenBarChart chart;
    shown(chart);
    click(&chart, {100, 100});
    QTest::keyClick(&chart, Qt::Key_Right);
    wheel(&chart, {100, 100}, 3, Qt::ControlModifier);
    chart.setTokens({{QString(), std::numeric_limits<float>::quiet_NaN(), 0xffff, 5}},
                    std::nan(""));
    shown(chart);
    click(&chart, chart.columnOf(0).center());
    chart.setTokens({{QString(100000, u'w'), 7.0f, 1, -1}, {"<b>&", -3.0f, 4, -1}}, 9);
    shown(chart, {1, 1});
    shown(chart, {80, 40});
    chart.fitAll();
    shown(chart);
    chart.clear();
    shown(chart);
    EXPECT_TRUE(chart.isEmpty());
}

} // namespace
} // namespace cuset
