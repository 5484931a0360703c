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
// Gradient in x, plus `residual` where that is defined; adds the gain's to `gain_gradient`
// (float32) where that is defined.
at::Tensor norm_backward(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& dy,
                         double epsilon, const at::Tensor& gain_gradient,
                         const at::Tensor& residual = {});

// gate_up [S, 2I] -> silu(gate) * up [S, I].
at::Tensor swiglu_forward(const at::Tensor& gate_up);
at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& dy);

struct HeadShape {
    std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
    double epsilon = 0; // of the head norms
};
struct HeadTensors {
    at::Tensor q, k, v; // [H, n, D], [K, n, D] twice
};
// A segment's rows of qkv [S, (H + 2K) D] by heads: normed where gains [D] are given, rotated by
// the tables' angles, q times 1 / sqrt(D).
HeadTensors split_heads(const at::Tensor& qkv, const at::Tensor& q_gain, const at::Tensor& k_gain,
                        const RotaryTables& tables, const Segment& segment, const HeadShape& shape);
// Gradients of those -> the segment's rows of dqkv [S, (H + 2K) D], but for the norms.
void merge_heads(const HeadTensors& gradients, const RotaryTables& tables, const Segment& segment,
                 const HeadShape& shape, const at::Tensor& dqkv);

// Causal attention of one sample in blocks of rows that stop at the diagonal -> [n, H, D]. window
// 0: everything before.
at::Tensor attention_forward(const HeadTensors& heads, std::int64_t window);
// Computes the probabilities again instead of keeping them. dy [n, H, D]; the gradients of k and v
// are float32 on any type.
HeadTensors attention_backward(const HeadTensors& heads, const at::Tensor& dy, std::int64_t window);

// Inverted dropout, each segment by its own key and layer number; the same call gives the same
// mask.
at::Tensor dropout(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                   double p);
// to += what dropout() gives.
void add_dropout(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                 double p, const at::Tensor& to);

} // namespace cuset
