// What transformers (5.24) assumes for each family where config.json is silent, as a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/model_config.h"

namespace cuset {

// Which layers see a sliding window, where config.json has no list of layer types.
enum class WindowRule {
    none,
    all, // every layer, if sliding_window is given
    all_by_default, // every layer; 4096 if sliding_window is absent
    switched, // use_sliding_window must be on; from layer max_window_layers on
    all_if_on, // use_sliding_window must be on; every layer
    unrotated, // use_sliding_window must be on; the layers without rotation
    pattern // all but every `window_pattern`th
};

struct FamilyDefaults {
    std::string_view name; // model_type
    ModelFamily family = ModelFamily::llama;
    bool qkv_bias = false; // always there
    bool reads_biases = false; // attention_bias in the config counts
    bool reads_mlp_bias = false;
    QueryKeyNorm qk_norm = QueryKeyNorm::none;
    WindowRule window = WindowRule::none;
    std::int64_t window_pattern = 0;
    std::int64_t context_length = 2048;
    std::int64_t head_dim = 0; // 0: hidden / heads
    std::int64_t kv_heads = 0; // 0: heads
    double norm_epsilon = 1e-6;
    double theta = 10000.0;
    bool tied = false;
    bool partial_rope = false;
    bool fused_projections = false;
    DecoderTraits traits;
};

// Throws Error(unsupported), naming the families that are supported.
const FamilyDefaults& require_family(std::string_view name, const std::string& subject);
bool is_supported_family(std::string_view name) noexcept;
const FamilyDefaults& family_defaults(ModelFamily family) noexcept;
// "llama, qwen2, ... and mixtral"
std::string supported_families();

} // namespace cuset
