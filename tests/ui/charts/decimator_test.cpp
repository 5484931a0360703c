#include "ui/charts/decimator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chart_support.h"

namespace cuset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Decimator, KeepsMinimumAndMaximumOfEachPart) {
    const std::vector<float> values{3, 1, 2, 9, 4, 4, 4, 0, 7};
    // 9 values in 3 parts of 3: extremes 1 and 3; 9 and 4; 0 and 7.
    EXPECT_THAT(decimateRange(values, 0, 9, 3), ElementsAre(0, 1, 3, 4, 7, 8));
}

TEST(Decimator, TakesTheFirstOfEqualValuesOnce) {
    const std::vector<float> values{5, 5, 5, 5, 5, 5};
    EXPECT_THAT(decimateRange(values, 0, 6, 2), ElementsAre(0, 3));
}

TEST(Decimator, KeepsEverythingWhereThereIsRoom) {
    const std::vector<float> values{1, 2, nan, 4};
    EXPECT_THAT(decimateRange(values, 0, 4, 2), ElementsAre(0, 1, 3));
}

TEST(Decimator, LeavesOutWhatIsNotFinite) {
    const std::vector<float> values{nan, infinity, -infinity, 2, nan, 1, nan, nan, nan};
    EXPECT_THAT(decimateRange(values, 0, 9, 2), ElementsAre(3, 5));
}

TEST(Decimator, ClipsTheRange) {
    const std::vector<float> values{1, 2, 3};
    EXPECT_THAT(decimateRange(values, -5, 50, 10), ElementsAre(0, 1, 2));
    EXPECT_THAT(decimateRange(values, 2, 1, 10), IsEmpty());
    EXPECT_THAT(decimateRange(values, 0, 3, 0), IsEmpty());
    EXPECT_THAT(decimateRange({}, 0, 3, 4), IsEmpty());
}

// The definition taken literally: each part by itself, with the library's own search.
std::vector<std::int64_t> naive(const std::vector<float>& values, std::int64_t begin,
                                std::int64_t end, int columns) {
    std::vector<std::int64_t> kept;
    const std::int64_t count = end - begin;
    for (std::int64_t k = 0; k < columns; ++k) {
        const auto first =
            values.begin() + begin + k * (count / columns) + k * (count % columns) / columns;
        const auto last = values.begin() + begin + (k + 1) * (count / columns)
            + (k + 1) * (count % columns) / columns;
        if (first == last)
            continue;
        const auto low = std::min_element(first, last) - values.begin();
        const auto high = std::max_element(first, last) - values.begin();
        kept.push_back(std::min(low, high));
        if (low != high)
            kept.push_back(std::max(low, high));
    }
    return kept;
}

TEST(Decimator, AgreesWithTheNaiveSearchOnRandomSignals) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const int size = std::uniform_int_distribution(1, 5000)(random);
        const int columns = std::uniform_int_distribution(1, 300)(random);
        std::vector<float> values(static_cast<std::size_t>(size));
        for (float& value : values) // few levels: many equal values
            value = static_cast<float>(std::uniform_int_distribution(0, 40)(random));
        const int begin = std::uniform_int_distribution(0, size - 1)(random);
        const int end = std::uniform_int_distribution(begin + 1, size)(random);
        if (end - begin <= 2 * columns)
            continue;
        const auto kept = decimateRange(values, begin, end, columns);
        ASSERT_EQ(kept, naive(values, begin, end, columns)) << "round " << round;
        ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end()));
        ASSERT_LE(kept.size(), 2u * static_cast<unsigned>(columns));
    }
}

TEST(Decimator, KeepsTheOneLowTokenAtEveryWidth) {
    const std::vector<float> values = test::hundredThousandPoints();
    for (const int columns : {1, 2, 3, 50, 417, 1366, 2732, 49999})
        EXPECT_THAT(decimateRange(values, 0, 100000, columns), testing::Contains(61803))
            << columns << " columns";
}

TEST(DecimatePoints, KeepsNeighboursOutsideTheRange) {
    const std::vector<double> x{0, 1, 2, 3, 4, 5};
    const std::vector<double> y{5, 4, 3, 2, 1, 0};
    EXPECT_THAT(decimatePoints(x, y, 1.5, 3.5, 10), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(decimatePoints(x, y, -10, 10, 100), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(decimatePoints(x, y, 7, 9, 10), ElementsAre(5));
    EXPECT_THAT(decimatePoints(x, y, 3, 3, 10), IsEmpty());
}

TEST(DecimatePoints, ColumnsFollowThePositions) {
    // Twelve points crowd in the first half of the range; one stands alone in the second.
    std::vector<double> x, y;
    for (int i = 0; i < 12; ++i) {
        x.push_back(i * 0.01);
        y.push_back(i == 5 ? -3 : i == 8 ? 7 : 1);
    }
    x.push_back(0.9);
    y.push_back(2);
    EXPECT_THAT(decimatePoints(x, y, 0, 1, 2), ElementsAre(5, 8, 12));
}

} // namespace
} // namespace cuset
