// The decoder on the processor without gradients: fused kernels around the products, causal
// attention in blocks of rows that stop at the diagonal, buffers that are reused from call to call.
#pragma once

#include "core/model/causal_lm.h"

namespace cuset {

class FusedForward {
public:
    // As CausalLM::hidden_states, for float32 and bfloat16; the result lies in a buffer of this
    // object.
    at::Tensor run(const CausalLM& model, const at::Tensor& ids, const ForwardOptions& options);

private:
    // Grow-only storage; a view of the first elements is handed out.
    struct Buffer {
        at::Tensor storage;
        at::Tensor view(at::IntArrayRef shape, at::ScalarType dtype);
    };

    void attend(const CausalLM& model, const DecoderLayer& layer, const RotaryTables& tables,
                at::Tensor& keys, at::Tensor& values, std::int64_t past);
    void attend_block(const CausalLM& model, const DecoderLayer& layer, const at::Tensor& keys,
                      const at::Tensor& values, std::int64_t past, std::int64_t begin,
                      std::int64_t rows);
    void feed_forward(const CausalLM& model, const DecoderLayer& layer);

    std::int64_t rows_ = 0;
    at::Tensor x_, normed_, delta_, attended_, q_; // [S, ...] of this call
    Buffer x_buffer_, normed_buffer_, delta_buffer_, attended_buffer_, q_buffer_, qkv_buffer_;
    Buffer key_buffer_, value_buffer_, score_buffer_, block_buffer_, gate_up_buffer_, act_buffer_;
};

} // namespace cuset
