#include "ui/charts/axis_ticks.h"

#include <cmath>
#include <limits>

#include <QStringList>
#include <gtest/gtest.h>

namespace cuset {
namespace {

QStringList labels(const std::vector<AxisTick>& ticks) {
    QStringList all;
    for (const AxisTick& tick : ticks)
        all << tick.label;
    return all;
}

TEST(AxisTicks, AreRoundNumbers) {
    EXPECT_EQ(labels(linearTicks(0, 1, 5)),
              (QStringList{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
    EXPECT_EQ(labels(linearTicks(0, 1, 2)), (QStringList{"0.0", "0.5", "1.0"}));
    EXPECT_EQ(labels(linearTicks(0, 3, 10, true)), (QStringList{"0", "1", "2", "3"}));
    EXPECT_EQ(labels(linearTicks(-1, 1, 2)), (QStringList{"−1", "0", "1"}));
}

TEST(AxisTicks, StayInsideTheRange) {
    for (const double low : {-1e9, -3.7, 0.0, 1e-7, 12345.0})
        for (const double width : {1e-6, 0.3, 1.0, 77.0, 1e8})
            for (const AxisTick& tick : linearTicks(low, low + width, 6)) {
                EXPECT_GE(tick.value, low - 1e-6 * width);
                EXPECT_LE(tick.value, low + width * (1 + 1e-6));
            }
}

TEST(AxisTicks, RefuseWhatIsNoRange) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(linearTicks(1, 1, 5).empty());
    EXPECT_TRUE(linearTicks(2, 1, 5).empty());
    EXPECT_TRUE(linearTicks(std::nan(""), 1, 5).empty());
    EXPECT_TRUE(linearTicks(0, infinity, 5).empty());
    EXPECT_TRUE(logTicks(-infinity, 1, 5).empty());
}

TEST(AxisTicks, OfALogarithmicAxisNameTheValues) {
    EXPECT_EQ(labels(logTicks(-2, 1, 4)), (QStringList{"0.01", "0.1", "1", "10"}));
    EXPECT_EQ(labels(logTicks(0, 1, 6)), (QStringList{"1", "2", "5", "10"}));
    EXPECT_LE(logTicks(-300, 0, 6).size(), 8u);
}

TEST(AxisTicks, NumbersHaveATrueMinusSign) {
    EXPECT_EQ(numberText(-38.125, 4), QStringLiteral("−38.13"));
    EXPECT_EQ(numberText(std::nan("")), QStringLiteral("–"));
}

} // namespace
} // namespace cuset
