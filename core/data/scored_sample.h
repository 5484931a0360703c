// What the scorer finds out about one sample's response, and what masks make of it.
// T response tokens, K alternatives kept for each.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/sample.h"
#include "core/data/token_labels.h"

namespace cuset {

struct TokenScores {
    std::vector<float> log_prob; // [T] natural log of the target token's probability, <= 0 (Eq. 1)
    std::vector<float> entropy; // [T] nats, of the full distribution
    std::vector<float> entropy_top20; // [T] nats, of the 20 largest probabilities renormalised
    std::vector<std::int32_t> rank; // [T] number of tokens with a strictly larger logit
    std::int32_t top_k = 0; // K
    std::vector<std::int32_t> top_ids; // [T,K] most probable first
    std::vector<float> top_log_probs; // [T,K]
};

struct ScoredSample {
    Sample sample;
    Encoding encoding;
    TokenScores scores;
    std::vector<LabelBits> labels; // [T]
};

// Eq. 2-8 for one sample at given MaskSettings.
struct MaskedSample {
    std::vector<float> mask; // [T] M in {0, 1, lambda, 1 + lambda}; all 1 with both masks off
    std::vector<float> window_mean; // [T] C_{n,t} in [0, 1]
    float difficulty = 0; // C_n = min over t of window_mean; 0 without tokens
    float weight = 0; // w_n = 1 - C_n in [0, 1], 1 if region weighting is off; 0 without tokens
    std::int32_t min_window_begin = 0; // first token of the window with the smallest mean
    std::int32_t min_window_end = 0; // one past its last token
};

} // namespace cuset
