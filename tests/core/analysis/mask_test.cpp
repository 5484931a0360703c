#include "core/analysis/mask.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

std::vector<LabelBits> cuda_labels(const std::vector<int>& cuda) {
    std::vector<LabelBits> labels;
    for (const int flag : cuda)
        labels.push_back(flag != 0 ? kernel_bit : LabelBits{0});
    return labels;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

// c = 0.1 is not above tau = 0.1.
TEST(Mask, TheMethodsExampleByHand) {
    const std::vector<float> c = {0.9f, 0.05f, 0.5f, 0.1f};
    const MaskedSample masked = mask_sample(c, cuda_labels({0, 1, 1, 0}), {.window = 2});
    expect_near(masked.mask, {1, 1, 2, 0});
    expect_near(masked.window_mean, {0.9, 0.475, 0.275, 0.3});
    EXPECT_NEAR(masked.difficulty, 0.275, 1e-7);
    EXPECT_NEAR(masked.weight, 0.725, 1e-7);
    EXPECT_EQ(masked.min_window_begin, 1);
    EXPECT_EQ(masked.min_window_end, 3);
    double loss = 0;
    for (std::size_t t = 0; t < c.size(); ++t)
        loss -= static_cast<double>(masked.weight * masked.mask[t]) * std::log(c[t]);
    EXPECT_NEAR(loss, 3.253356, 1e-6);
}

struct Case {
    std::vector<float> confidence;
    std::vector<int> cuda;
    std::vector<double> mask, window_mean;
    double weight, loss, mask_sum;
};

TEST(Mask, FourSamplesOfAnAccumulatedBatch) {
    const std::vector<Case> cases = {
        {{0.933f, 0.563f, 0.515f},
         {1, 0, 1},
         {3, 1, 3},
         {0.748, 0.670333333, 0.670333333},
         0.329666667,
         0.914261606,
         7},
        {{0.815f, 0.757f, 0.672f, 0.887f, 0.503f, 0.373f, 0.607f, 0.373f},
         {0, 1, 0, 1, 1, 0, 0, 0},
         {1, 3, 1, 3, 3, 1, 1, 1},
         {0.786, 0.748, 0.78275, 0.70475, 0.60875, 0.5925, 0.464, 0.451},
         0.549,
         3.47519559,
         14},
        {{0.986f}, {0}, {1}, {0.986}, 0.014, 0.000197384941, 1},
        {{0.565f, 0.95f, 0.476f, 0.562f, 0.292f, 0.095f},
         {1, 1, 0, 1, 1, 1},
         {3, 3, 1, 3, 2, 2},
         {0.7575, 0.663666667, 0.63825, 0.57, 0.35625, 0.316333333},
         0.683666667,
         7.86731192,
         14}};
    for (const Case& expected : cases) {
        const MaskedSample masked = mask_sample(expected.confidence, cuda_labels(expected.cuda),
                                                {.tau = 0.3, .lambda = 2, .window = 4});
        expect_near(masked.mask, expected.mask);
        expect_near(masked.window_mean, expected.window_mean);
        EXPECT_NEAR(masked.weight, expected.weight, 1e-6);
        double loss = 0;
        for (std::size_t t = 0; t < expected.confidence.size(); ++t)
            loss -= static_cast<double>(masked.weight * masked.mask[t])
                * std::log(static_cast<double>(expected.confidence[t]));
        EXPECT_NEAR(loss, expected.loss, 1e-5 * std::max(1.0, expected.loss));
        EXPECT_NEAR(std::accumulate(masked.mask.begin(), masked.mask.end(), 0.0), expected.mask_sum,
                    1e-6);
    }
}

TEST(Mask, SwitchesWorkOnTheirOwn) {
    const LabelBits cuda = launch_bit;
    MaskSettings settings{.tau = 0.5, .lambda = 2};
    EXPECT_EQ(hybrid_mask(0.6f, cuda, settings), 3);
    EXPECT_EQ(hybrid_mask(0.6f, 0, settings), 1);
    EXPECT_EQ(hybrid_mask(0.4f, cuda, settings), 2);
    EXPECT_EQ(hybrid_mask(0.5f, 0, settings), 0); // strictly greater
    // A sensitive kind alone is no CUDA region (Eq. 3).
    EXPECT_EQ(hybrid_mask(0.4f, kind_bit(SensitiveKind::atomic), settings), 0);
    settings.cuda_mask = false;
    EXPECT_EQ(hybrid_mask(0.6f, cuda, settings), 1);
    settings.confidence_mask = false;
    EXPECT_EQ(hybrid_mask(0.1f, 0, settings), 1);
    settings.cuda_mask = true;
    EXPECT_EQ(hybrid_mask(0.6f, cuda, settings), 2);
    EXPECT_EQ(hybrid_mask(0.6f, 0, settings), 0);
}

TEST(Mask, TauAtItsEnds) {
    EXPECT_EQ(hybrid_mask(1.0f, 0, {.tau = 1}), 0);
    EXPECT_EQ(hybrid_mask(0.0f, 0, {.tau = 0}), 0);
    EXPECT_EQ(hybrid_mask(std::numeric_limits<float>::denorm_min(), 0, {.tau = 0}), 1);
}

TEST(Mask, RegionWeightOffIsOne) {
    const std::vector<float> c = {0.2f, 0.4f};
    const MaskedSample masked = mask_sample(c, cuda_labels({0, 0}), {.region_weight = false});
    EXPECT_EQ(masked.weight, 1);
    EXPECT_NEAR(masked.difficulty, 0.3, 1e-7);
}

TEST(Mask, NoTokens) {
    const MaskedSample masked = mask_sample({}, {}, {});
    EXPECT_TRUE(masked.mask.empty());
    EXPECT_EQ(masked.weight, 0);
    EXPECT_EQ(masked.difficulty, 0);
    EXPECT_EQ(masked.min_window_end, 0);
}

TEST(Mask, ConfidencesAreHarmlessWhateverTheFileHolds) {
    const std::vector<float> log_prob = {0, -1, 3, NAN, -INFINITY, INFINITY, -200};
    std::vector<float> c(log_prob.size());
    confidences(log_prob, c);
    const std::vector<float> expected = {1, std::exp(-1.0f), 1, 0, 0, 1, 0};
    EXPECT_EQ(c, expected);
}

TEST(Mask, PushIsHalfTheGradientsNorm) {
    // Softmax gradient of w M nll: w M (p - onehot); its L1 norm is w M 2 (1 - p_target).
    EXPECT_FLOAT_EQ(push(0.25f, 2, 0.5f), 0.75f);
    EXPECT_EQ(push(1, 2, 1), 0);
    EXPECT_EQ(push(0, 0, 1), 0);
}

std::string refusal(const MaskSettings& settings) {
    try {
        require_valid(settings);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_value);
        return error.what();
    }
    return "";
}

TEST(Mask, SettingsOutOfRangeAreNamed) {
    EXPECT_EQ(refusal({.tau = 1.5}), "tau: is 1.5, needs a number from 0 to 1");
    EXPECT_EQ(refusal({.tau = NAN}), "tau: is nan, needs a number from 0 to 1");
    EXPECT_EQ(refusal({.lambda = 0}), "lambda: is 0, needs a number above 0 and at most 1e6");
    EXPECT_NE(refusal({.lambda = INFINITY}), "");
    EXPECT_NE(refusal({.lambda = NAN}), "");
    EXPECT_EQ(refusal({.window = 0}), "window: is 0, needs 1 token or more");
    EXPECT_EQ(refusal({.tau = 0, .lambda = 1e-6, .window = 1}), "");
    EXPECT_EQ(refusal({.tau = 1, .window = std::numeric_limits<int>::max()}), "");
}

} // namespace
} // namespace cuset
