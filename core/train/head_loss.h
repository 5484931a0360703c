// Head, loss and the gradient of the hidden states in one pass over chunks of rows: logits never
// exist for all of [T, V]. The sample's weight w_n (Eq. 8) is one constant, so the gradient is
// built with the token factors while a chunk is there and scaled by w_n at the end. Sees torch.
// Losses and divergences in float32 on any type.
#pragma once

#include <span>
#include <vector>

#include "core/model/causal_lm.h"
#include "core/train/objective.h"

namespace cuset {

struct SampleLoss {
    double loss = 0; // w_n * sum_t factor_t * -ln p_t, and asft's divergence; not reduced
    double nll = 0; // sum_t -ln p_t
    double weight = 1; // w_n
    std::vector<float> confidence; // [T]
    std::vector<float> factors; // [T]
};

struct HeadInput {
    at::Tensor hidden; // [T, C] that predict the T targets
    std::span<const std::int32_t> targets; // [T]
    std::span<const LabelBits> labels; // [T]
    at::Tensor base_hidden; // [T, C] of the untouched model, for asft
    at::Tensor base_head; // [V, C]
};

// `dhidden` [T, C]: receives the gradient of `loss` if it is defined. `head_gradient` [V, C]
// float32: the head's is added if it is defined. `chunk_rows` 0: head_chunk_rows; any number gives
// the same but for rounding.
SampleLoss head_loss(const at::Tensor& head, const HeadInput& input, const Objective& objective,
                     at::Tensor dhidden, const at::Tensor& head_gradient,
                     std::int64_t chunk_rows = 0);

// Rows of logits at a time.
std::int64_t head_chunk_rows(std::int64_t vocabulary);

} // namespace cuset
