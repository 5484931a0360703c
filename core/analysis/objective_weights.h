// The six objectives' token weights and their push: where one training step would push, before any
// GPU hour is spent. A token's weight is the factor of its loss -ln p_t, detached; its push is
// weight * (1 - p_t), half the L1 norm of the loss's gradient in the logits. Sources: Chen et al.,
// doi 10.18653/2026.findings-emnlp.2045 (CuSeT), arXiv 2508.05629 (DFT), 2601.02151 (EAFT),
// 2509.23753 (ASFT), 2601.09195 (ProFit).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/corpus_summary.h"

namespace cuset {

enum class TokenObjective : std::uint8_t { sft, dft, eaft, asft, profit, cuset };

inline constexpr int token_objective_count = 6;
inline constexpr std::array<std::string_view, token_objective_count> token_objective_names{
    "sft", "dft", "eaft", "asft", "profit", "cuset"};

struct ObjectiveParameters {
    double profit_tau = 0.1; // [0, 1]: tokens with p >= tau are kept
    double eaft_alpha = 1; // >= 0
    int eaft_candidates = 20; // K = min(20, V), >= 2
};

// The weight of each token of one sample, [T]:
//   sft 1   dft p   eaft (H_top20 / ln K)^alpha, at most 1   profit 1[p >= tau]   cuset w * M (Eq.
//   4, 8) asft p: the part that scores know. Its other part, alpha KL(base || current), needs the
//   base model's full distribution and pushes every logit, not only the target's.
// `cuset_weight` is the sample's w (used by cuset only). NaN entropies count as 0. Throws
// Error(bad_value) for a parameter or setting out of range.
void objective_weights(TokenObjective objective, std::span<const float> confidence,
                       std::span<const float> entropy_top20, std::span<const LabelBits> labels,
                       const MaskSettings& settings, float cuset_weight,
                       const ObjectiveParameters& parameters, std::span<float> weights);

// Sums of push over tokens.
struct PushTotals {
    double total = 0;
    double sensitive = 0; // over sensitive tokens
    std::array<double, sensitive_kind_count> by_kind{}; // a token counts for each of its kinds

    double sensitive_share() const { return total > 0 ? sensitive / total : 0; }
    void add(const PushTotals& other);
};
PushTotals push_totals(std::span<const float> confidence, std::span<const LabelBits> labels,
                       std::span<const float> weights);

// One sample under all six objectives.
struct SampleObjectives {
    std::array<std::vector<float>, token_objective_count> weights; // [T] each
    std::array<PushTotals, token_objective_count> push;
};
// Parameters as objective_weights, and throws as it.
SampleObjectives sample_objectives(std::span<const float> confidence,
                                   std::span<const float> entropy_top20,
                                   std::span<const LabelBits> labels, const MaskSettings& settings,
                                   float cuset_weight, const ObjectiveParameters& parameters = {});

struct ObjectivePush {
    TokenObjective objective = TokenObjective::sft;
    PushTotals corpus;
    std::vector<PushTotals> samples; // [N]
};

// "cuset" and so on; nothing for another name.
std::optional<TokenObjective> find_objective(std::string_view name);

// Push of one objective over the corpus at the analyzer's settings. Throws Cancelled and as
// objective_weights.
ObjectivePush objective_push(const CorpusAnalyzer& analyzer, TokenObjective objective,
                             const ObjectiveParameters& parameters, RunControl& control);

} // namespace cuset
