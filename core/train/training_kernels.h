// The backward passes of the decoder's pointwise work on the processor, and softmax with its
// gradient over rows of logits: each one pass, or two, over memory. Plain C++ on rows [begin, end);
// inside in float32. Element types: float, and std::uint16_t for bfloat16's bits.
#pragma once

#include <cstdint>

#include "core/model/cpu_kernels.h"

namespace cuset::cpu {

// out = gradient of RMSNorm in x for dy, plus `residual` where that is given. All [rows, channels].
void rms_norm_backward(const float* x, const float* gain, const float* dy, const float* residual,
                       float* out, std::int64_t begin, std::int64_t end, std::int64_t channels,
                       float epsilon);
void rms_norm_backward(const std::uint16_t* x, const std::uint16_t* gain, const std::uint16_t* dy,
                       const std::uint16_t* residual, std::uint16_t* out, std::int64_t begin,
                       std::int64_t end, std::int64_t channels, float epsilon);

// gate_up and out [rows, 2 width], dy [rows, width].
void swiglu_backward(const float* gate_up, const float* dy, float* out, std::int64_t begin,
                     std::int64_t end, std::int64_t width);
void swiglu_backward(const std::uint16_t* gate_up, const std::uint16_t* dy, std::uint16_t* out,
                     std::int64_t begin, std::int64_t end, std::int64_t width);

// The way back of split_rotate with a block of all rows: q, k and v of the layout -> out [rows, (H
// + 2K) D], turned back; the head norms are not undone. `capacity` and `past` are not used.
void merge_rotate_back(const float* q, const float* k, const float* v, const float* cosine,
                       const float* sine, float* out, std::int64_t begin, std::int64_t end,
                       const HeadLayout& layout);
void merge_rotate_back(const std::uint16_t* q, const float* k, const float* v, const float* cosine,
                       const float* sine, std::uint16_t* out, std::int64_t begin, std::int64_t end,
                       const HeadLayout& layout);

// Gradient of causal_softmax: dp becomes p (dp - sum p dp) over the visible part, 0 elsewhere.
void causal_softmax_backward(const float* p, float* dp, std::int64_t begin, std::int64_t end,
                             const SoftmaxLayout& layout);
void causal_softmax_backward(const std::uint16_t* p, std::uint16_t* dp, std::int64_t begin,
                             std::int64_t end, const SoftmaxLayout& layout);

// Each row of logits [rows, columns] becomes e^(x - max); sums[r] is the sum of that, and
// log_probs[r] = ln of the share of targets[r].
void exponentials(float* logits, const std::int32_t* targets, double* sums, float* log_probs,
                  std::int64_t begin, std::int64_t end, std::int64_t columns);
// What exponentials() left becomes factor (p - onehot(target)), the gradient of factor (-ln p) in
// the logits; `out` may be `values`.
void softmax_gradient(const float* values, const std::int32_t* targets, const double* sums,
                      const float* factors, float* out, std::int64_t begin, std::int64_t end,
                      std::int64_t columns);
void softmax_gradient(const float* values, const std::int32_t* targets, const double* sums,
                      const float* factors, std::uint16_t* out, std::int64_t begin,
                      std::int64_t end, std::int64_t columns);

} // namespace cuset::cpu
