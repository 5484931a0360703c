// What DeepSeek-V2's config.json and GGUF files say beside the common keys: latent attention and
// its router (arXiv 2405.04434), as transformers 5.24 and llama.cpp read them.
#pragma once

#include "core/model/config_fields.h"
#include "core/model/gguf_fields.h"
#include "core/model/model_config.h"

namespace cuset {

// Fills `latent`, the size of a head and the number of key heads. Throws Error: bad_value,
// unsupported (biases).
void read_latent_attention(const ConfigFields& fields, ModelConfig& config);

// 1 / sqrt(head_dim), times the square of YaRN's mscale_all_dim where the rope has it.
double latent_attention_scale(std::int64_t head_dim, const RopeConfig& rope);

// Fills `experts` and `expert_layers`. Throws Error: bad_value, unsupported (another router, by
// name).
void read_deepseek_experts(const ConfigFields& fields, ModelConfig& config);

// The same from a GGUF file's metadata. Experts after their number, size and layers.
void read_latent_attention(const GgufFields& fields, ModelConfig& config);
void read_deepseek_experts(const GgufFields& fields, ModelConfig& config);

} // namespace cuset
