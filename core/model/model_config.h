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
enum class ModelFamily { llama, qwen2, qwen3, mistral };
std::string_view model_family_name(ModelFamily family) noexcept;

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
    bool qk_norm = false; // RMSNorm on each query and key head
    std::vector<std::int64_t>
        windows; // [layers] position i sees i - w + 1 .. i; 0: everything before
    RopeConfig rope;
    std::string stored_dtype; // what the config says, "" if it does not
    std::vector<std::int32_t> eos_ids; // end tokens that the config names
    std::optional<std::int32_t> bos_id; // begin token that the config names
    std::vector<std::string> warnings; // e.g. unknown rope keys

    std::int64_t query_size() const { return heads * head_dim; }
    std::int64_t kv_size() const { return kv_heads * head_dim; }
    // Number of weights, a tied head counted once.
    std::int64_t parameters() const;
};

// `json` is config.json's text, `subject` the file's name for messages. Throws Error: bad_format,
// bad_value (a value out of range, named), unsupported (family, quantisation, mixture of experts,
// multimodal, own code).
ModelConfig parse_model_config(std::string_view json, const std::string& subject);

// The same from a GGUF file's metadata and tensors.
ModelConfig read_gguf_config(const GgufFile& file);

} // namespace cuset
