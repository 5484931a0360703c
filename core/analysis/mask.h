// Token-level masks and their sample weights: Eq. 1-4 and 7-8 of Chen et al., "From Tokens to
// Regions", Findings of EMNLP 2026, doi 10.18653/2026.findings-emnlp.2045. T tokens of one sample.
#pragma once

#include <span>
#include <vector>

#include "core/data/mask_settings.h"
#include "core/data/scored_sample.h"

namespace cuset {

// Above this, sums over a corpus could leave the range of float.
inline constexpr double max_lambda = 1e6;

// Throws Error(bad_value) that names the setting, its value and its range.
void require_valid(const MaskSettings& settings);

// Eq. 1: c = exp(log_prob) in [0, 1]. What cannot be a log-probability is made harmless: above 0 it
// is 1, and a NaN is 0.
float confidence_of(float log_prob);
// The same for [T] values.
void confidences(std::span<const float> log_prob, std::span<float> confidence);

// Eq. 2-4 for one token. Confidence and tau are compared as float32, so that 0.1 is not above 0.1.
// With both masks switched off it is 1.
float hybrid_mask(float confidence, LabelBits labels, const MaskSettings& settings);

// Eq. 2-8 for one sample. `confidence` [T], `labels` [T].
MaskedSample mask_sample(std::span<const float> confidence, std::span<const LabelBits> labels,
                         const MaskSettings& settings);

// Push of a token: w * M * (1 - c), half the L1 norm of the loss's gradient in the logits. [0, 1 +
// lambda].
float push(float confidence, float mask, float weight);

} // namespace cuset
