#include "core/analysis/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace cuset {
namespace {

// Eq. 5 to the letter, with its 1-based t.
struct Naive {
    std::vector<float> means;
    WindowMinimum minimum;
};

Naive naive(const std::vector<float>& c, int window, bool whole_if_short) {
    Naive result;
    const int tokens = static_cast<int>(c.size());
    for (int t = 1; t <= tokens; ++t) {
        int first = std::max(1, t - window / 2);
        int last = std::min(tokens, t + (window + 1) / 2 - 1);
        if (whole_if_short && tokens < window) {
            first = 1;
            last = tokens;
        }
        long double sum = 0;
        for (int j = first; j <= last; ++j)
            sum += c[static_cast<std::size_t>(j - 1)];
        const auto mean = static_cast<float>(sum / (last - first + 1));
        if (result.means.empty() || mean < result.minimum.mean)
            result.minimum = {mean, t - 1};
        result.means.push_back(mean);
    }
    return result;
}

// Multiples of 2^-10: the naive sum is exact too, so that minima and ties must agree exactly.
std::vector<float> random_confidences(std::mt19937& random, int tokens) {
    std::vector<float> c;
    for (int t = 0; t < tokens; ++t)
        c.push_back(static_cast<float>(random() % 1025) / 1024.0f);
    return c;
}

TEST(Window, EqualsTheNaiveOneForEveryLengthAndWindow) {
    std::mt19937 random(7);
    for (const bool whole : {false, true})
        for (int tokens = 0; tokens <= 70; ++tokens)
            for (int window = 1; window <= 80; ++window) {
                const std::vector<float> c = random_confidences(random, tokens);
                const Naive expected = naive(c, window, whole);
                std::vector<float> means(c.size());
                window_means(c, window, whole, means);
                ASSERT_EQ(means, expected.means) << tokens << " tokens, window " << window;
                const WindowMinimum found = window_minimum(c, window, whole);
                ASSERT_EQ(found.at, expected.minimum.at) << tokens << " tokens, window " << window;
                ASSERT_EQ(found.mean, expected.minimum.mean);
            }
}

TEST(Window, EqualsTheNaiveOneOnLongSamplesWithAnyFloats) {
    std::mt19937 random(8);
    std::uniform_real_distribution<float> uniform(0, 1);
    for (const int tokens : {511, 512, 513, 1024, 1700})
        for (const int window : {2, 63, 64, 255, 256, 512, 1699, 1700, 1701, 5000}) {
            std::vector<float> c(static_cast<std::size_t>(tokens));
            std::generate(c.begin(), c.end(), [&] { return std::pow(uniform(random), 4.0f); });
            const Naive expected = naive(c, window, false);
            std::vector<float> means(c.size());
            window_means(c, window, false, means);
            for (std::size_t t = 0; t < c.size(); ++t)
                ASSERT_NEAR(means[t], expected.means[t],
                            6e-8 * static_cast<double>(means[t]) + 1e-12);
            const WindowMinimum found = window_minimum(c, window, false);
            const auto first = std::min_element(means.begin(), means.end());
            EXPECT_EQ(found.at, first - means.begin());
            EXPECT_EQ(found.mean, *first);
        }
}

TEST(Window, TheFirstOfEqualMinimaIsTaken) {
    // The same dip twice, with something else before each: their sums must not differ by rounding.
    std::vector<float> c(1500, 0.7f);
    for (const int dip : {400, 1100})
        for (int t = 0; t < 10; ++t)
            c[static_cast<std::size_t>(dip + t)] = 0.1f + 0.01f * static_cast<float>(t);
    for (std::size_t t = 600; t < 900; ++t)
        c[t] = 0.9f + 1e-5f * static_cast<float>(t % 7);
    const WindowMinimum found = window_minimum(c, 10, false);
    EXPECT_EQ(found.at, 405);
    EXPECT_NEAR(found.mean, 0.145, 1e-6);
    EXPECT_EQ(window_minimum(std::vector<float>(900, 0.3f), 64, false).at, 0);
}

TEST(Window, OfOneTokenIsTheToken) {
    const std::vector<float> c = {0.5f, 1e-20f, 0.25f, 1e-20f};
    std::vector<float> means(4);
    window_means(c, 1, false, means);
    EXPECT_EQ(means, c);
    EXPECT_EQ(window_minimum(c, 1, false).at, 1);
    EXPECT_EQ(window_minimum(c, 1, false).mean, 1e-20f);
}

TEST(Window, RangesAreClippedAtBothEnds) {
    const auto range = [](int t, int tokens, int window, bool whole) {
        const WindowRange r = window_at(t, tokens, window, whole);
        return std::pair(r.begin, r.end);
    };
    EXPECT_EQ(range(0, 10, 4, false), std::pair(0, 2));
    EXPECT_EQ(range(5, 10, 4, false), std::pair(3, 7));
    EXPECT_EQ(range(9, 10, 4, false), std::pair(7, 10));
    EXPECT_EQ(range(5, 10, 5, false), std::pair(3, 8)); // floor(5/2) before, ceil(5/2) - 1 after
    EXPECT_EQ(range(1, 3, 8, false), std::pair(0, 3));
    EXPECT_EQ(range(0, 3, 4, false), std::pair(0, 2));
    EXPECT_EQ(range(0, 3, 4, true), std::pair(0, 3));
    const int longest = std::numeric_limits<int>::max();
    EXPECT_EQ(range(2, 3, longest, false), std::pair(0, 3));
    EXPECT_EQ(range(longest - 2, longest - 1, longest, false),
              std::pair(longest / 2 - 1, longest - 1));
}

TEST(Window, NoTokensAndOneToken) {
    EXPECT_EQ(window_minimum({}, 64, false).at, -1);
    EXPECT_EQ(window_minimum({}, 64, false).mean, 0);
    const std::vector<float> one = {0.25f};
    for (const int window : {1, 2, 256})
        EXPECT_EQ(window_minimum(one, window, false).mean, 0.25f);
}

} // namespace
} // namespace cuset
