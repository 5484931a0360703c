// Causal attention with grouped query heads and an optional sliding window, in torch operations.
#pragma once

#include <cstdint>

#include "core/model/torch_pch.h"

namespace cuset {

// q [H, S, D], k and v [K, P + S, D] with P = past tokens before q's first row -> [H, S, D]. Row i
// is position P + i and sees keys up to it, the last `window` of them if that is positive. Scale 1
// / sqrt(D). Differentiable.
at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            std::int64_t past, std::int64_t window);

} // namespace cuset
