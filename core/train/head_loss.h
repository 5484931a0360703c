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
// float32: the head's is added if it is defined.
SampleLoss head_loss(const at::Tensor& head, const HeadInput& input, const Objective& objective,
                     at::Tensor dhidden, const at::Tensor& head_gradient);

} // namespace cuset
