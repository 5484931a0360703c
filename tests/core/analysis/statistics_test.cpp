#include "core/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/analysis/float_sort.h"
#include "core/analysis/kolmogorov.h"
#include "core/base/error.h"

namespace cuset {
namespace {

using nlohmann::json;

const json& golden() {
    static const json data =
        json::parse(std::ifstream(CUSET_TEST_DATA "/analysis/statistics.json"));
    return data;
}

std::vector<float> floats(const json& values) {
    return values.get<std::vector<float>>();
}

TEST(Statistics, MomentsAndHistogramsEqualNumPy) {
    for (const auto& [name, entry] : golden().at("samples").items())
        for (const int side : {0, 1}) {
            const std::vector<float> values = floats(entry.at(side == 0 ? "first" : "second"));
            const Moments found = moments(values);
            EXPECT_EQ(found.count, static_cast<std::int64_t>(values.size()));
            EXPECT_NEAR(found.mean, entry.at("mean").at(side).get<double>(), 1e-14) << name;
            EXPECT_NEAR(found.std, entry.at("std").at(side).get<double>(), 1e-14) << name;
            EXPECT_EQ(histogram(values, 10),
                      entry.at("histogram").at(side).get<std::vector<std::int64_t>>())
                << name;
        }
}

TEST(Statistics, KsEqualsSciPy) {
    for (const auto& [name, entry] : golden().at("samples").items()) {
        const KsTest found = ks_test(floats(entry.at("first")), floats(entry.at("second")));
        EXPECT_NEAR(found.statistic, entry.at("ks_statistic").get<double>(), 1e-15) << name;
        if (!entry.at("ks_p").is_null()) { // SciPy answers NaN for one value against one
            const double p = entry.at("ks_p").get<double>();
            EXPECT_NEAR(found.p_value, p, 1e-7 * p) << name;
            if (p > 0) {
                EXPECT_NEAR(found.log10_p, std::log10(p), 1e-6) << name;
            }
        }
        EXPECT_TRUE(std::isfinite(found.log10_p)) << name;
        EXPECT_LE(found.log10_p, 0) << name;
    }
}

TEST(Statistics, KolmogorovsDistributionEqualsSciPy) {
    for (const json& row : golden().at("kolmogorov")) {
        const auto n = row.at(0).get<std::int64_t>();
        const auto x = row.at(1).get<double>();
        // Above a million SciPy leaves out Smirnov's term 4/9 n x^4, which the sum has.
        const double left_out = n > 1000000 ? 4.0 / 9 * static_cast<double>(n) * std::pow(x, 4) : 0;
        EXPECT_NEAR(log_kolmogorov_sf(n, x), row.at(2).get<double>() - left_out,
                    1e-6 + 0.05 * left_out)
            << row;
    }
}

TEST(Statistics, KolmogorovsTailDoesNotUnderflow) {
    for (const json& row : golden().at("tail")) {
        const double expected = row.at(2).get<double>(); // 60 digits, mpmath
        const double found =
            log_kolmogorov_sf(row.at(0).get<std::int64_t>(), row.at(1).get<double>())
            / std::log(10.0);
        EXPECT_NEAR(found, expected, 1e-9 * std::abs(expected)) << row;
    }
}

// Leaving out terms must not be seen: just below and above the number where it begins the value
// moves as little as n does.
TEST(Statistics, ManyTermsAreSummedInSteps) {
    for (const double z : {1.6, 3.0, 12.0, 40.0}) {
        const auto at = [&](std::int64_t n) {
            return log_smirnov_sf(n, z / std::sqrt(static_cast<double>(n)));
        };
        const double before = at(32600), after = at(40000);
        EXPECT_NEAR(before, after, 1e-4 * z * z * z * z) << z;
        // Smirnov's limit: ln P = -2 z^2 - (2/3) z / sqrt(n) + O(z^4/n).
        for (const std::int64_t n : {40000, 1000000, 100000000}) {
            const double root = std::sqrt(static_cast<double>(n));
            EXPECT_NEAR(at(n), -2 * z * z - 2 * z / (3 * root),
                        1.0 * z * z * z * z / static_cast<double>(n) + 1e-9)
                << n << ' ' << z;
        }
    }
}

TEST(Statistics, KsOfEmptyEqualAndSeparateSamples) {
    const std::vector<float> some = {0.1f, 0.5f, 0.5f};
    for (const KsTest& empty : {ks_test({}, {}), ks_test(some, {}), ks_test({}, some)}) {
        EXPECT_EQ(empty.statistic, 0);
        EXPECT_EQ(empty.p_value, 1);
        EXPECT_EQ(empty.log10_p, 0);
    }
    EXPECT_EQ(ks_test(some, some).statistic, 0);
    EXPECT_EQ(ks_test(some, some).p_value, 1);
    const KsTest apart = ks_test(std::vector<float>(3, 0.2f), std::vector<float>(3, 0.4f));
    EXPECT_EQ(apart.statistic, 1);
    EXPECT_EQ(apart.p_value, 0);
    EXPECT_NEAR(apart.log10_p, -1, 1e-12); // 2 of the 20 orders of 3 + 3 values
    const KsTest large = ks_test(std::vector<float>(5000, 0.2f), std::vector<float>(5000, 0.4f));
    EXPECT_LT(large.log10_p, -3000);
    EXPECT_TRUE(std::isfinite(large.log10_p));
}

TEST(Statistics, HistogramTakesOneInAndLeavesTheRestOut) {
    const std::vector<float> values = {0, 1, 0.5f, -0.1f, 1.1f, NAN};
    EXPECT_EQ(histogram(values, 2), (std::vector<std::int64_t>{1, 2}));
    EXPECT_THROW(histogram(values, 0), Error);
    EXPECT_THROW(histogram(values, max_bins + 1), Error);
}

TEST(Statistics, DensityEqualsSciPy) {
    for (const auto& [name, entry] : golden().at("samples").items()) {
        if (!entry.contains("density"))
            continue;
        const Density found = kernel_density(floats(entry.at("first")), 33);
        const auto expected = entry.at("density").get<std::vector<double>>();
        const double peak = *std::max_element(expected.begin(), expected.end());
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(found.y[i], expected[i], 2e-4 * peak) << name << ' ' << i;
        EXPECT_EQ(found.x.front(), 0);
        EXPECT_EQ(found.x.back(), 1);
    }
}

TEST(Statistics, DensityOfNarrowAndConstantValues) {
    EXPECT_EQ(kernel_density({}, 5).y, std::vector<double>(5, 0.0));
    EXPECT_EQ(kernel_density(std::vector<float>(9, 0.5f), 3).y, std::vector<double>(3, 0.0));
    // So narrow that only the exact sum can follow: two values one float apart around 0.5.
    const std::vector<float> narrow = {0.5f, std::nextafter(0.5f, 1.0f)};
    const Density found = kernel_density(narrow, 3);
    const double gap = static_cast<double>(narrow[1]) - 0.5,
                 bandwidth = gap / std::sqrt(2.0) * std::pow(2, -0.2);
    const double second = std::exp(-0.5 * (gap / bandwidth) * (gap / bandwidth));
    EXPECT_NEAR(found.y[1] * bandwidth, (1 + second) / (2 * std::sqrt(2 * M_PI)), 1e-9);
    EXPECT_EQ(found.y[0], 0);
    EXPECT_THROW(kernel_density(narrow, 1), Error);
}

TEST(Statistics, MomentsOfNothingOneAndEqualValues) {
    EXPECT_EQ(moments({}).mean, 0);
    EXPECT_EQ(moments(std::vector<float>{0.3f}).std, 0);
    EXPECT_EQ(moments(std::vector<float>(1000, 0.3f)).std, 0);
}

TEST(Statistics, FloatsSortAsTheLibraryDoes) {
    std::mt19937 random(3);
    for (const std::size_t size : {0, 1, 2047, 2048, 30000}) {
        std::vector<float> values(size);
        std::generate(values.begin(), values.end(), [&] {
            return std::ldexp(static_cast<float>(random()) - 2e9f,
                              static_cast<int>(random() % 60) - 60);
        });
        if (size > 4000)
            values[7] = std::numeric_limits<float>::infinity();
        std::vector<float> expected = values;
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(sorted_copy(values), expected);
    }
    EXPECT_EQ(sorted_copy(std::vector<float>{2, NAN, 1}), (std::vector<float>{1, 2}));
}

} // namespace
} // namespace cuset
