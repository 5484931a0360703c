// The decoder's operations with their gradients, written out by hand: no graph is recorded, so that
// what a layer keeps for its backward pass is known and small. Sees torch. S rows, C channels, H
// query heads, K key heads, D head size.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/causal_lm.h"

namespace cuset {

// One sample's rows in a packed batch.
struct Segment {
    std::int64_t begin = 0, end = 0; // rows
    std::uint64_t key = 0; // of its random numbers: (seed, step, sample)

    std::int64_t rows() const { return end - begin; }
};

// RMSNorm of the last dimension; float32 inside. gain [C].
at::Tensor norm_forward(const at::Tensor& x, const at::Tensor& gain, double epsilon);
// Gradient in x; adds the gain's to `gain_gradient` (float32) where that is defined.
at::Tensor norm_backward(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& dy,
                         double epsilon, const at::Tensor& gain_gradient);

// gate_up [S, 2I] -> silu(gate) * up [S, I].
at::Tensor swiglu_forward(const at::Tensor& gate_up);
at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& dy);

// x [S, heads, D] rotated by the tables' angles, or back.
at::Tensor rotate_forward(const at::Tensor& x, const RotaryTables& tables);
at::Tensor rotate_backward(const at::Tensor& dy, const RotaryTables& tables);

// Causal attention of one sample in blocks of rows that stop at the diagonal. q [H, n, D] with the
// scale folded in, k and v [K, n, D] -> [n, H, D]. window 0: everything before.
at::Tensor attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             std::int64_t window);
struct AttentionGradients {
    at::Tensor q, k, v; // as the inputs
};
// Computes the probabilities again instead of keeping them. dy [n, H, D].
AttentionGradients attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const at::Tensor& dy, std::int64_t window);

// Inverted dropout, each segment by its own key and layer number; the same call gives the same
// mask.
at::Tensor dropout(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                   double p);

} // namespace cuset
