// The training objectives: one enum, the per-token factors of -ln p_t, and their formula in words.
// Sources as in core/analysis/objective_weights.h; Eq. 9 of Chen et al.,
// doi 10.18653/2026.findings-emnlp.2045.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/objective_weights.h"
#include "core/data/mask_settings.h"
#include "core/data/token_labels.h"

namespace cuset {

// How a step's weighted sum becomes its loss.
enum class Reduction : std::uint8_t {
    token_mean, // divided by the step's number of response tokens
    sum, // Eq. 9 to the letter: divided by the step's number of samples
};

struct Objective {
    TokenObjective name = TokenObjective::cuset;
    MaskSettings mask; // cuset; profit takes its tau
    double alpha = 1; // eaft: exponent; asft: weight of the divergence
    Reduction reduction = Reduction::token_mean;

    bool needs_entropy() const { return name == TokenObjective::eaft; }
    // alpha KL(base || current) is part of the loss.
    bool needs_base() const { return name == TokenObjective::asft && alpha > 0; }
};

double default_alpha(TokenObjective name); // eaft 1, asft 0.05

// The loss in force, switches and parameters filled in, and the reduction, e.g.
// "L = sum_n w_n sum_t M_t (-ln p_t) / (response tokens of the step), M_t = 1[p_t > 0.1] + 1 *
// cuda_t, ...".
std::string formula_text(const Objective& objective);

// The factor of -ln p_t of each token, w_n not included: 1, p, (H/ln K)^alpha, 1[p >= tau], or M_t.
// Constants for the gradient. All [T]; `entropy_top20` in nats, `candidates` = K = min(20, V).
// Throws Error(bad_value).
void token_factors(const Objective& objective, std::span<const float> confidence,
                   std::span<const float> entropy_top20, std::span<const LabelBits> labels,
                   int candidates, std::span<float> factors);

// Eq. 8: w_n of cuset with region weighting, else 1. 0 without tokens.
double sample_factor(const Objective& objective, std::span<const float> confidence);

// What a step's weighted sum is divided by.
double reduction_divisor(Reduction reduction, std::int64_t tokens, std::int64_t samples);

} // namespace cuset
