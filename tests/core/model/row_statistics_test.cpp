// Row statistics against a plain double-precision reference, over sizes, ties and bad values.
#include "core/model/row_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace cuset {
namespace {

struct Expected {
    double log_prob = 0, entropy = 0, entropy_top20 = 0;
    std::int32_t rank = 0;
    std::vector<std::int32_t> order; // ids, most probable first
    double log_sum_exp = 0;
};

double entropy(const std::vector<double>& values) {
    const double m = *std::max_element(values.begin(), values.end());
    double s = 0, e = 0;
    for (double v : values)
        s += std::exp(v - m);
    for (double v : values)
        if (const double p = std::exp(v - m) / s; p > 0)
            e -= p * std::log(p);
    return e;
}

Expected expect(const std::vector<float>& row, std::int32_t target) {
    Expected x;
    const std::vector<double> values(row.begin(), row.end());
    const double m = *std::max_element(values.begin(), values.end());
    double s = 0;
    for (double v : values)
        s += std::exp(v - m);
    x.log_sum_exp = m + std::log(s);
    x.log_prob = values[target] - x.log_sum_exp;
    x.entropy = entropy(values);
    for (double v : values)
        x.rank += v > values[target];
    x.order.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
        x.order[i] = static_cast<std::int32_t>(i);
    std::stable_sort(x.order.begin(), x.order.end(),
                     [&](std::int32_t a, std::int32_t b) { return row[a] > row[b]; });
    std::vector<double> top;
    for (std::size_t i = 0; i < std::min<std::size_t>(20, row.size()); ++i)
        top.push_back(values[x.order[i]]);
    x.entropy_top20 = entropy(top);
    return x;
}

void check(const std::vector<float>& row, std::int32_t target, std::size_t k) {
    const Expected x = expect(row, target);
    RowScore score;
    std::vector<std::int32_t> ids(k);
    std::vector<float> log_probs(k);
    ASSERT_TRUE(score_row(std::span<const float>(row), target, score, ids, log_probs));
    EXPECT_NEAR(score.log_prob, x.log_prob, 1e-5 + 2e-7 * std::abs(x.log_prob));
    EXPECT_NEAR(score.entropy, x.entropy, 2e-5);
    EXPECT_NEAR(score.entropy_top20, x.entropy_top20, 1e-6);
    EXPECT_EQ(score.rank, x.rank);
    for (std::size_t i = 0; i < k; ++i) {
        if (i >= row.size()) {
            EXPECT_EQ(ids[i], -1);
            continue;
        }
        EXPECT_EQ(ids[i], x.order[i]);
        EXPECT_NEAR(log_probs[i], row[x.order[i]] - x.log_sum_exp, 1e-5);
    }
}

TEST(RowStatistics, ByHand) {
    // method.md: logits [2,1,0,-1], target 1: p 0.236883, entropy 0.947537.
    RowScore score;
    const std::vector<float> row{2, 1, 0, -1};
    std::vector<std::int32_t> ids(2);
    std::vector<float> log_probs(2);
    ASSERT_TRUE(score_row(std::span<const float>(row), 1, score, ids, log_probs));
    EXPECT_NEAR(std::exp(score.log_prob), 0.236883, 1e-6);
    EXPECT_NEAR(score.entropy, 0.947537, 1e-6);
    EXPECT_NEAR(score.entropy_top20, 0.947537, 1e-6);
    EXPECT_EQ(score.rank, 1);
    EXPECT_EQ(ids, (std::vector<std::int32_t>{0, 1}));
    EXPECT_NEAR(std::exp(log_probs[0]), 0.643914, 1e-6);
}

TEST(RowStatistics, EqualsTheReferenceForManySizes) {
    std::mt19937 random(7);
    for (std::size_t n : {1, 2, 15, 16, 17, 127, 128, 129, 704, 2047, 2048, 2049, 5000, 49152}) {
        for (float spread : {0.1f, 3.f, 30.f}) {
            std::normal_distribution<float> normal(5.f, spread);
            std::vector<float> row(n);
            for (float& v : row)
                v = normal(random);
            SCOPED_TRACE(testing::Message() << "n " << n << " spread " << spread);
            check(row, static_cast<std::int32_t>(random() % n), 5);
            check(row, static_cast<std::int32_t>(random() % n), 64);
        }
    }
}

TEST(RowStatistics, RisingRowsRescaleTheSums) {
    std::vector<float> row(10000);
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = static_cast<float>(i) * 0.01f - 50.f;
    check(row, 9990, 20);
    std::reverse(row.begin(), row.end());
    check(row, 0, 20);
}

TEST(RowStatistics, TiesTakeTheSmallerIdAndCountStrictly) {
    const std::vector<float> row(300, 1.5f);
    check(row, 299, 10);
}

TEST(RowStatistics, RuledOutTokensCountForNothing) {
    std::vector<float> row(500, -std::numeric_limits<float>::infinity());
    row[3] = 1.f;
    row[400] = 1.f;
    RowScore score;
    ASSERT_TRUE(score_row(std::span<const float>(row), 3, score, {}, {}));
    EXPECT_NEAR(score.log_prob, std::log(0.5), 1e-6);
    EXPECT_NEAR(score.entropy, std::log(2.0), 1e-6);
    EXPECT_NEAR(score.entropy_top20, std::log(2.0), 1e-6);
    EXPECT_EQ(score.rank, 0);
}

TEST(RowStatistics, RefusesWhatIsNoDistribution) {
    RowScore score;
    std::vector<float> row(300, 0.f);
    row[250] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(score_row(std::span<const float>(row), 1, score, {}, {}));
    row[250] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(score_row(std::span<const float>(row), 1, score, {}, {}));
    row.assign(300, -std::numeric_limits<float>::infinity());
    EXPECT_FALSE(score_row(std::span<const float>(row), 1, score, {}, {}));
}

TEST(RowStatistics, BFloat16IsScoredInFloat32) {
    std::mt19937 random(11);
    std::normal_distribution<float> normal(0.f, 4.f);
    std::vector<float> row(49152);
    std::vector<BFloat16Bits> half(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
        const float value = normal(random);
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        half[i].bits = static_cast<std::uint16_t>(bits >> 16);
        bits &= 0xffff0000u;
        std::memcpy(&row[i], &bits, sizeof bits);
    }
    RowScore a, b;
    std::vector<std::int32_t> a_ids(64), b_ids(64);
    std::vector<float> a_log_probs(64), b_log_probs(64);
    ASSERT_TRUE(score_row(std::span<const float>(row), 77, a, a_ids, a_log_probs));
    ASSERT_TRUE(score_row(std::span<const BFloat16Bits>(half), 77, b, b_ids, b_log_probs));
    EXPECT_EQ(a.log_prob, b.log_prob);
    EXPECT_EQ(a.entropy, b.entropy);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a_ids, b_ids);
    EXPECT_EQ(a_log_probs, b_log_probs);
}

} // namespace
} // namespace cuset
