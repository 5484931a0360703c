#include "ui/charts/bar_list_chart.h"

#include <cmath>

#include <QSignalSpy>
#include <QTest>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using namespace test;

std::vector<BarRowItem> someRows() {
    std::vector<BarRowItem> rows;
    rows.push_back(
        {.label = QStringLiteral("group"), .numbers = {}, .explanation = {}, .heading = true});
    rows.push_back({.label = QStringLiteral("<b>x</b>"),
                    .value = 1,
                    .part = 0.5,
                    .numbers = QStringLiteral("1 (50 %)"),
                    .explanation = QStringLiteral("<i>why</i>"),
                    .figures = {1, 0.5}});
    rows.push_back({.label = QStringLiteral("=y"),
                    .value = std::nan(""),
                    .numbers = QStringLiteral("\u2013"),
                    .explanation = {},
                    .figures = {std::nan(""), 0}});
    return rows;
}

TEST(BarListChart, ClicksAndKeysPickRowsButNoHeadings) {
    BarListChart chart(QStringLiteral("bars"));
    chart.setPickable(true);
    chart.setRows(someRows(), 0,
                  {QStringLiteral("name"), QStringLiteral("a"), QStringLiteral("b")});
    shown(chart);
    QSignalSpy picked(&chart, &BarListChart::rowClicked);
    click(&chart, chart.rowRect(0).center());
    EXPECT_EQ(picked.size(), 0);
    click(&chart, chart.rowRect(2).center());
    QTest::keyClick(&chart, Qt::Key_Up);
    QTest::keyClick(&chart, Qt::Key_Up); // the heading is above
    ASSERT_EQ(picked.size(), 2);
    EXPECT_EQ(picked[0][0].toInt(), 2);
    EXPECT_EQ(picked[1][0].toInt(), 1);
    EXPECT_EQ(chart.current(), 1);
    chart.setPickable(false);
    click(&chart, chart.rowRect(2).center());
    EXPECT_EQ(picked.size(), 2);
}

TEST(BarListChart, BarsAreAsLongAsTheirValues) {
    BarListChart chart(QStringLiteral("bars"));
    std::vector<BarRowItem> rows;
    for (const double value : {1.0, 0.5, 0.25})
        rows.push_back(
            {.label = QStringLiteral("r"), .value = value, .numbers = {}, .explanation = {}});
    chart.setRows(std::move(rows), 0, {});
    const QImage picture = shown(chart, {500, 200});
    const auto length = [&](int row) {
        const QRectF place = chart.rowRect(row);
        const int y = static_cast<int>(place.center().y());
        const QRgb paper = picture.pixel(picture.width() - 2, y);
        int pixels = 0;
        for (int x = picture.width() / 5; x < picture.width(); ++x)
            pixels += picture.pixel(x, y) != paper;
        return pixels;
    };
    EXPECT_GT(length(0), 100);
    EXPECT_NEAR(length(1) * 2, length(0), length(0) / 3);
    EXPECT_GT(length(1), length(2));
}

TEST(BarListChart, TheTableHasFiguresAndNoHeadings) {
    BarListChart chart(QStringLiteral("bars"));
    chart.setRows(someRows(), 0,
                  {QStringLiteral("name"), QStringLiteral("a"), QStringLiteral("b")});
    const QString csv = csvText(chart.table());
    EXPECT_EQ(csv, QStringLiteral("name,a,b\n<b>x</b>,1,0.5\n\"'=y\",,0\n"));
    chart.clear();
    EXPECT_TRUE(chart.isEmpty());
    shown(chart, {1, 1});
    click(&chart, {0, 0});
}

} // namespace
} // namespace cuset
