// Causal attention with grouped query heads and an optional sliding window, in torch operations.
#pragma once

#include <cstdint>

#include "core/model/torch_pch.h"

namespace cuset {

struct AttentionShape {
    std::int64_t past = 0; // tokens before q's first row
    std::int64_t window = 0; // a row sees the last `window` keys up to itself; 0: all of them
    double scale = 1; // multiplies the products of queries and keys
    double cap = 0; // scores become cap tanh(score / cap); 0: they do not
};

// q [H, S, D], k [K, P + S, D], v [K, P + S, E] with P = past -> [H, S, E]. Row i is position P +
// i. Differentiable.
at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const AttentionShape& shape);

} // namespace cuset
