// ModelConfig: what the engine must know of a model, read from config.json (both of transformers'
// spellings) or from a GGUF file's metadata. Everything that the engine does not handle is refused
// here, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/rope.h"

namespace cuset {

class GgufFile;

// A family is a decoder of the Llama kind with its own switches; the switches stand in ModelConfig,
// so that the layers never ask for a family.
enum class ModelFamily {
    llama,
    qwen2,
    qwen3,
    mistral,
    phi3,
    granite,
    olmo2,
    smollm3,
    starcoder2,
    gemma2,
    gemma3,
    qwen3_moe,
    mixtral,
    deepseek_v2
};
std::string_view model_family_name(ModelFamily family) noexcept;

enum class Activation { silu, gelu_tanh, gelu };
// rms: the gain times the norm rounded to the type of the layers (Llama). rms_wide: the product is
// made in float32 and rounded once (Gemma, OLMo 2). layer: LayerNorm with a bias.
enum class NormKind { rms, rms_wide, layer };
// An RMSNorm on queries and keys before they are rotated: of each head, or over the whole width.
enum class QueryKeyNorm { none, head, full };

// What differs between families; as it is made, it says Llama.
struct DecoderTraits {
    Activation activation = Activation::silu;
    bool gated_mlp = true; // down(act(gate(x)) * up(x)); else down(act(up(x)))
    NormKind norm = NormKind::rms;
    bool gain_adds_one = false; // the checkpoint stores the gain less one
    bool input_norms = true; // before attention and before the MLP
    bool output_norms = false; // after attention and after the MLP, before they are added
    double embedding_scale = 1; // multiplies the embedding, rounded to the type of the layers
    double residual_scale = 1; // multiplies what attention and MLP add
    double attention_scale = 0; // multiplies the scores; 0: 1 / sqrt(head_dim)
    double attention_cap = 0; // scores become cap tanh(score / cap); 0: they do not
    double logit_scale = 1; // multiplies the logits
    double logit_cap = 0; // as attention_cap
    bool operator==(const DecoderTraits&) const = default;
};

// Which rotary embedding a layer has.
enum class LayerRope { global, local, none };

// A mixture of experts instead of the MLP: each token goes through the `used` experts with the
// largest softmax of the router's logits, their outputs weighed by it. arXiv 2101.03961,
// 2401.04088; shared experts and groups: 2401.06066, 2405.04434.
struct ExpertConfig {
    std::int64_t count = 0; // 0: none
    std::int64_t used = 0;
    std::int64_t intermediate = 0; // channels of each
    bool normalized = true; // the weights of the experts used are made to sum to 1
    double scale = 1; // multiplies the weights
    std::int64_t shared = 0; // channels of the MLP that every token goes through besides; 0: none
    // Experts are chosen from the `groups_used` groups whose best expert is best; 1: no groups.
    std::int64_t groups = 1, groups_used = 1;
    bool wide_router = false; // the router is kept and multiplied in float32
};

// Multi-head latent attention (arXiv 2405.04434): the keys and values of all heads are made from
// one narrow vector of each token, and so may the queries. Only the last channels of a head turn,
// in pairs that lie side by side, and those of the keys are the same for all heads.
struct LatentConfig {
    std::int64_t key_rank = 0; // channels of the vector for keys and values; 0: plain attention
    std::int64_t query_rank = 0; // of the one for queries; 0: made from the hidden state itself
    std::int64_t rotated = 0; // channels of a head
    std::int64_t value_dim = 0; // channels of a value head
};

struct ModelConfig {
    ModelFamily family = ModelFamily::llama;
    std::int64_t hidden = 0; // channels
    std::int64_t intermediate = 0; // channels of the MLP
    std::int64_t layers = 0;
    std::int64_t heads = 0; // query heads
    std::int64_t kv_heads = 0; // key and value heads, divides heads
    std::int64_t head_dim = 0;
    std::int64_t vocabulary = 0;
    std::int64_t context_length = 0;
    double norm_epsilon = 1e-6;
    bool tied_head = false; // the head's weight is the embedding's
    bool qkv_bias = false;
    bool output_bias = false; // of the attention's output projection
    bool mlp_bias = false;
    bool fused_projections = false; // stored as qkv_proj and gate_up_proj
    QueryKeyNorm qk_norm = QueryKeyNorm::none;
    DecoderTraits traits;
    ExpertConfig experts;
    LatentConfig latent;
    std::vector<bool> expert_layers; // [layers] which have experts; empty: all, where there are any
    std::vector<std::int64_t>
        windows; // [layers] position i sees i - w + 1 .. i; 0: everything before
    std::vector<LayerRope> layer_ropes; // [layers]
    RopeConfig rope;
    std::optional<RopeConfig> local_rope; // of layers that say so
    std::string stored_dtype; // what the config says, "" if it does not
    std::vector<std::int32_t> eos_ids; // end tokens that the config names
    std::optional<std::int32_t> bos_id; // begin token that the config names
    std::vector<std::string> warnings; // e.g. unknown rope keys

    std::int64_t query_size() const { return heads * head_dim; }
    std::int64_t kv_size() const { return kv_heads * head_dim; }
    bool has_latent_attention() const { return latent.key_rank > 0; }
    std::int64_t value_dim() const { return has_latent_attention() ? latent.value_dim : head_dim; }
    // Channels of all heads' outputs, and of what makes keys without rotation and values.
    std::int64_t attended_size() const { return heads * value_dim(); }
    std::int64_t latent_size() const { return heads * (head_dim - latent.rotated + value_dim()); }
    double attention_scale() const;
    bool has_experts(std::int64_t layer) const;
    // Nothing but windows, head norms, biases and layers without rotation differs from Llama: what
    // the fused kernels and the trainer's backward pass are written for.
    bool is_llama_kind() const;
    // Number of weights, a tied head counted once.
    std::int64_t parameters() const;
};

// `json` is config.json's text, `subject` the file's name for messages. Throws Error: bad_format,
// bad_value (a value out of range, named), unsupported (family, quantisation, multimodal, own
// code).
ModelConfig parse_model_config(std::string_view json, const std::string& subject);

// The same from a GGUF file's metadata and tensors.
ModelConfig read_gguf_config(const GgufFile& file);

} // namespace cuset
