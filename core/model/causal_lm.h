// CausalLM: a decoder of the Llama kind with its family's switches. Two ways through the layers
// give the same numbers: torch operations (any device, any family, differentiable), and, on the
// processor in inference mode for what ModelConfig::is_llama_kind() says, fused kernels with
// buffers that are reused. Sees torch: for this room and core/train only.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/linear.h"
#include "core/model/model_config.h"

namespace cuset {

// A mixture of experts in place of the MLP.
struct Experts {
    at::Tensor router; // [count, channels]
    std::vector<Linear> gate_up, down; // [count]
};

struct DecoderLayer {
    // [channels], before attention and before the MLP; undefined where the model has none.
    at::Tensor input_norm, post_norm;
    at::Tensor input_norm_bias, post_norm_bias; // [channels] of LayerNorm, else undefined
    // [channels], after attention and after the MLP, before they are added; or undefined.
    at::Tensor attention_output_norm, mlp_output_norm;
    // [head_dim], or over all heads, or undefined; of the narrow vectors with latent attention.
    at::Tensor q_norm, k_norm;
    // Rows q, k, v; with latent attention those of the narrow vectors, and the rotated part of k.
    Linear qkv;
    Linear query_up, key_value_up; // with latent attention: from the narrow vectors to all heads
    Linear output;
    // Rows gate, up; or up alone. With experts: of those that every token goes through, or without
    // weight.
    Linear gate_up;
    Linear down;
    std::optional<Experts> experts;
    std::int64_t window = 0; // 0: none
    LayerRope rope = LayerRope::global;
};

// Cosine and sine of positions [past, past + n), float32 [n, D/2] with D the rotated channels of a
// head, attention scaling included.
struct RotaryTables {
    at::Tensor cosine, sine;
};

// One for each LayerRope; those that no layer asks for are undefined. Without rotation: 1 and 0.
using LayerTables = std::array<RotaryTables, 3>;

// Keys [kv_heads, capacity, head_dim] and values [kv_heads, capacity, value_dim] of the tokens seen
// so far, for each layer.
struct KeyValueCache {
    std::vector<at::Tensor> keys, values;
    std::int64_t length = 0; // tokens in it
    std::int64_t capacity = 0;
};

struct ForwardOptions {
    KeyValueCache* cache = nullptr; // continues from and extends it
    bool training = false; // dropout of the adapters
    // Tokens of the whole sequence where more follow than are given: dynamic rope and longrope go
    // by it. 0: as many as are given.
    std::int64_t sequence_length = 0;
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
    at::Tensor final_norm, final_norm_bias; // [channels]; the bias only of LayerNorm
    at::Tensor head; // [vocabulary, channels]; the embedding itself if tied

    at::Device device() const { return embedding.device(); }
    at::ScalarType dtype() const { return embedding.scalar_type(); }

    // ids [S] int64 on the model's device -> hidden states [S, channels] after the last norm.
    // Without gradients on the processor the result lies in a buffer that the next call overwrites.
    at::Tensor hidden_states(const at::Tensor& ids, const ForwardOptions& options = {});
    // hidden [n, channels] -> logits [n, vocabulary] in the model's type, scaled and capped as the
    // family has it.
    at::Tensor logits(const at::Tensor& hidden) const;
    void logits_into(const at::Tensor& hidden, at::Tensor& out) const;

    // The steps of hidden_states one by one, by torch operations: ids [S] -> [S, channels] before
    // the first layer; through one layer; through the last norm.
    at::Tensor embed(const at::Tensor& ids) const;
    at::Tensor through_layer(std::size_t layer, const at::Tensor& x, const LayerTables& tables,
                             const ForwardOptions& options = {}) const;
    at::Tensor through_final_norm(const at::Tensor& x) const;

    // Of the layers with the global rope. `length`: as ForwardOptions::sequence_length.
    RotaryTables rotary_tables(std::int64_t past, std::int64_t count,
                               std::int64_t length = 0) const;
    LayerTables layer_tables(std::int64_t past, std::int64_t count, std::int64_t length = 0) const;
    KeyValueCache make_cache(std::int64_t capacity) const;

    // Every linear layer, to attach branches to.
    std::vector<Linear*> linears();

private:
    at::Tensor hidden_plain(const at::Tensor& ids, const ForwardOptions& options) const;
    at::Tensor normalize(const at::Tensor& x, const at::Tensor& gain,
                         const at::Tensor& bias = {}) const;
    // Of each head, [heads, S, channels], rotated.
    struct HeadTensors {
        at::Tensor q, k, v;
    };
    HeadTensors project_heads(const DecoderLayer& layer, const at::Tensor& x,
                              const RotaryTables& tables, bool training) const;
    HeadTensors project_latent_heads(const DecoderLayer& layer, const at::Tensor& x,
                                     const RotaryTables& tables, bool training) const;
    at::Tensor attend_plain(const DecoderLayer& layer, const at::Tensor& x,
                            const RotaryTables& tables, std::size_t number,
                            const ForwardOptions& options) const;
    at::Tensor feed_forward_plain(const DecoderLayer& layer, const at::Tensor& x,
                                  bool training) const;
    at::Tensor dense_plain(const DecoderLayer& layer, const at::Tensor& x, bool training) const;
    at::Tensor mix_experts(const Experts& experts, const at::Tensor& x, bool training) const;
    // What attention or MLP adds to the residual stream.
    at::Tensor residual(const at::Tensor& output, const at::Tensor& norm) const;

    std::unique_ptr<FusedForward> fused_;
};

} // namespace cuset
