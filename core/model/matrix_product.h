// Products of matrices, on the processor's tiles where it has them (tile_product.h), else torch's.
// No gradient is recorded. Sees torch: for this room and core/train only.
#pragma once

#include <vector>

#include "core/model/torch_pch.h"

namespace cuset {

struct MatrixTerm {
    at::Tensor left, right; // [M, K], [K, N]
};

// target [M, N] = sum of left times right over the terms; `adds`: to what is in the target. All
// terms of one type; the target of that type or float32.
void matrix_product(const std::vector<MatrixTerm>& terms, const at::Tensor& target,
                    bool adds = false);
// target [M, N] = input [M, K] times the transposed weight [N, K], plus the bias [N] if it is
// defined; all of one type. For the few rows of generation the weight is not packed: torch's
// product reads it once.
void linear_product(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    at::Tensor& target);
// left [M, K], right [K, N] -> [M, N] of left's type.
at::Tensor matrix_product(const at::Tensor& left, const at::Tensor& right);
// left [B, M, K], right [B, K, N], target [B, M, N].
void batched_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& target,
                     bool adds = false);

} // namespace cuset
