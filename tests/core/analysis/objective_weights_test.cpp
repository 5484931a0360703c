#include "core/analysis/objective_weights.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/analysis/mask.h"
#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

using test::make_set;

std::vector<float> weights_of(TokenObjective objective, const std::vector<float>& p,
                              const std::vector<float>& entropy,
                              const ObjectiveParameters& parameters = {},
                              const MaskSettings& settings = {}, float cuset_weight = 1,
                              std::vector<LabelBits> labels = {}) {
    labels.resize(p.size());
    std::vector<float> weights(p.size());
    objective_weights(objective, p, entropy, labels, settings, cuset_weight, parameters, weights);
    return weights;
}

// The method's example with a vocabulary of 4: p 0.236883, 0.870049; nll 1.440190, 0.139206;
// entropy 0.947537, 0.529061; mean losses written out there.
TEST(ObjectiveWeights, TheMethodsExampleByHand) {
    const std::vector<float> p = {0.236883f, 0.870049f}, entropy = {0.947537f, 0.529061f};
    const double nll[] = {1.440190, 0.139206};
    const auto loss = [&](TokenObjective objective, const ObjectiveParameters& parameters = {}) {
        const std::vector<float> w = weights_of(objective, p, entropy, parameters);
        return (static_cast<double>(w[0]) * nll[0] + static_cast<double>(w[1]) * nll[1]) / 2;
    };
    EXPECT_NEAR(loss(TokenObjective::sft), 0.789698, 1e-6);
    EXPECT_NEAR(loss(TokenObjective::dft), 0.231136, 1e-6);
    EXPECT_NEAR(loss(TokenObjective::profit, {.profit_tau = 0.3}), 0.069603, 1e-6);
    // 0.239714 divides by 3.0 in place of ln K; K = 20 divides by 2.995732.
    EXPECT_NEAR(loss(TokenObjective::eaft), 0.239714 * 3 / std::log(20.0), 1e-6);
    // ASFT's own 0.281071 is this plus 0.1 times the mean divergence from the base model.
    EXPECT_NEAR(loss(TokenObjective::asft) + 0.1 * (0.553895 + 0.444804) / 2, 0.281071, 1e-6);
}

TEST(ObjectiveWeights, CusetIsWeightTimesMask) {
    EXPECT_EQ(weights_of(TokenObjective::cuset, {0.9f, 0.05f, 0.5f, 0.1f}, {0, 0, 0, 0}, {},
                         {.window = 2}, 0.725f, {0, kernel_bit, kernel_bit, 0}),
              (std::vector<float>{0.725f, 0.725f, 1.45f, 0}));
}

TEST(ObjectiveWeights, OneSampleUnderAllSixIsEachAlone) {
    const std::vector<float> p = {0.9f, 0.05f, 0.5f, 0.1f}, entropy = {0.1f, 2, 1, 0};
    const std::vector<LabelBits> labels = {0, kernel_bit, kind_bit(SensitiveKind::atomic), 0};
    const MaskSettings settings{.tau = 0.3};
    const SampleObjectives all = sample_objectives(p, entropy, labels, settings, 0.5f);
    for (int i = 0; i < token_objective_count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        EXPECT_EQ(
            all.weights[index],
            weights_of(static_cast<TokenObjective>(i), p, entropy, {}, settings, 0.5f, labels));
        double total = 0, sensitive = 0;
        for (std::size_t t = 0; t < p.size(); ++t) {
            const double here = static_cast<double>(all.weights[index][t] * (1 - p[t]));
            total += here;
            sensitive += t == 2 ? here : 0;
        }
        EXPECT_NEAR(all.push[index].total, total, 1e-6);
        EXPECT_NEAR(all.push[index].sensitive, sensitive, 1e-6);
    }
    EXPECT_TRUE(sample_objectives({}, {}, {}, settings, 0).weights[0].empty());
    EXPECT_EQ(find_objective("eaft"), TokenObjective::eaft);
    EXPECT_FALSE(find_objective("adam"));
}

TEST(ObjectiveWeights, ProfitKeepsATieAndCusetDoesNot) {
    EXPECT_EQ(weights_of(TokenObjective::profit, {0.1f}, {0})[0], 1);
    EXPECT_EQ(weights_of(TokenObjective::cuset, {0.1f}, {0})[0], 0);
}

TEST(ObjectiveWeights, EntropyStaysInRange) {
    const std::vector<float> weights = weights_of(
        TokenObjective::eaft, {0, 0, 0, 0}, {NAN, -1, 99, std::log(20.0f) / 2}, {.eaft_alpha = 2});
    EXPECT_EQ(weights[0], 0);
    EXPECT_EQ(weights[1], 0);
    EXPECT_EQ(weights[2], 1);
    EXPECT_NEAR(weights[3], 0.25, 1e-6);
}

TEST(ObjectiveWeights, ParametersOutOfRangeAreRefused) {
    for (const ObjectiveParameters& bad :
         {ObjectiveParameters{.profit_tau = 2}, ObjectiveParameters{.eaft_alpha = NAN},
          ObjectiveParameters{.eaft_candidates = 1}})
        EXPECT_THROW(weights_of(TokenObjective::sft, {0.5f}, {0}, bad), Error);
}

TEST(ObjectivePush, SumsByKindAndSample) {
    RunControl control;
    const LabelBits both =
        kernel_bit | kind_bit(SensitiveKind::shared_memory) | kind_bit(SensitiveKind::atomic);
    CorpusAnalyzer analyzer(
        make_set({{{0.75f, 0.5f}, {0, both}}, {{}, {}}, {{0.25f}, {launch_bit}}}), control);
    const ObjectivePush sft = objective_push(analyzer, TokenObjective::sft, {}, control);
    ASSERT_EQ(sft.samples.size(), 3u);
    EXPECT_NEAR(sft.corpus.total, 0.25 + 0.5 + 0.75, 1e-6);
    EXPECT_NEAR(sft.corpus.sensitive, 0.5 + 0.75, 1e-6);
    EXPECT_NEAR(sft.corpus.sensitive_share(), 1.25 / 1.5, 1e-6);
    EXPECT_NEAR(sft.corpus.by_kind[1], 0.5, 1e-6); // shared memory
    EXPECT_NEAR(sft.corpus.by_kind[5], 0.5, 1e-6); // atomic
    EXPECT_EQ(sft.corpus.by_kind[4], 0); // the launch bit alone names no kind
    EXPECT_EQ(sft.samples[1].sensitive_share(), 0);

    const MaskSettings settings{.tau = 0.6, .lambda = 2, .window = 1};
    analyzer.update(settings);
    const ObjectivePush cuset = objective_push(analyzer, TokenObjective::cuset, {}, control);
    // w = 1 - 0.5: masks 1 and 2; w = 1 - 0.25: mask 2.
    EXPECT_NEAR(cuset.samples[0].total, 0.5 * (1 * 0.25 + 2 * 0.5), 1e-6);
    EXPECT_NEAR(cuset.samples[2].total, 0.75 * 2 * 0.75, 1e-6);
    control.request_stop();
    EXPECT_THROW(objective_push(analyzer, TokenObjective::sft, {}, control), Cancelled);
}

} // namespace
} // namespace cuset
