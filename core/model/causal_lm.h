// CausalLM: a decoder of the Llama kind. Two ways through the layers give the same numbers: torch
// operations (any device, differentiable), and, on the processor in inference mode, fused kernels
// with buffers that are reused. Sees torch: for this room and core/train only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/linear.h"
#include "core/model/model_config.h"

namespace cuset {

struct DecoderLayer {
    at::Tensor input_norm, post_norm; // [channels]
    at::Tensor q_norm, k_norm; // [head_dim] or undefined
    Linear qkv; // rows q, k, v
    Linear output;
    Linear gate_up; // rows gate, up
    Linear down;
    std::int64_t window = 0; // 0: none
};

// Cosine and sine of positions [past, past + n), float32 [n, D/2], attention scaling included.
struct RotaryTables {
    at::Tensor cosine, sine;
};

// Keys and values of the tokens seen so far, [kv_heads, capacity, head_dim] for each layer.
struct KeyValueCache {
    std::vector<at::Tensor> keys, values;
    std::int64_t length = 0; // tokens in it
    std::int64_t capacity = 0;
};

struct ForwardOptions {
    KeyValueCache* cache = nullptr; // continues from and extends it
    bool training = false; // dropout of the adapters
    std::function<void(int)> before_layer; // called with the layer's number; may throw to stop
};

class FusedForward;

class CausalLM {
public:
    CausalLM();
    ~CausalLM();
    CausalLM(CausalLM&&) noexcept;
    CausalLM& operator=(CausalLM&&) noexcept;

    ModelConfig config;
    at::Tensor embedding; // [vocabulary, channels]
    std::vector<DecoderLayer> layers;
    at::Tensor final_norm; // [channels]
    at::Tensor head; // [vocabulary, channels]; the embedding itself if tied

    at::Device device() const { return embedding.device(); }
    at::ScalarType dtype() const { return embedding.scalar_type(); }

    // ids [S] int64 on the model's device -> hidden states [S, channels] after the last norm.
    // Without gradients on the processor the result lies in a buffer that the next call overwrites.
    at::Tensor hidden_states(const at::Tensor& ids, const ForwardOptions& options = {});
    // hidden [n, channels] -> logits [n, vocabulary] in the model's type.
    at::Tensor logits(const at::Tensor& hidden) const;
    void logits_into(const at::Tensor& hidden, at::Tensor& out) const;

    RotaryTables rotary_tables(std::int64_t past, std::int64_t count) const;
    KeyValueCache make_cache(std::int64_t capacity) const;

    // The pieces of the differentiable way, for a trainer that runs or recomputes layers itself.
    // x [S, channels] -> [S, channels].
    at::Tensor layer_forward(const DecoderLayer& layer, const at::Tensor& x,
                             const RotaryTables& tables, bool training) const;
    at::Tensor normalize(const at::Tensor& x, const at::Tensor& gain) const;

    // Every linear layer, to attach branches to.
    std::vector<Linear*> linears();

private:
    at::Tensor hidden_plain(const at::Tensor& ids, const ForwardOptions& options) const;
    at::Tensor attend_plain(const DecoderLayer& layer, const at::Tensor& x,
                            const RotaryTables& tables, bool training, std::size_t number,
                            KeyValueCache* cache) const;

    std::unique_ptr<FusedForward> fused_;
};

} // namespace cuset
