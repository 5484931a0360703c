// LoRA adapters as PEFT saves them: adapter_config.json and adapter_model.safetensors. Sees torch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/model/causal_lm.h"

namespace cuset {

struct LoraConfig {
    std::int64_t rank = 0;
    double alpha = 0;
    bool rank_stabilized = false; // scale alpha / sqrt(r) instead of alpha / r
    double dropout = 0;
    std::vector<std::pair<std::string, double>> rank_pattern,
        alpha_pattern; // by the end of a layer's name
    std::string base_model; // as the config names it, or ""

    // Of the branch on layer `name` whose A has `r` rows.
    double scale(const std::string& name, std::int64_t r) const;
};

// `json` is adapter_config.json's text. Throws Error: bad_format, bad_value, unsupported (DoRA,
// another kind of adapter, biases, modules_to_save, ... by name).
LoraConfig parse_lora_config(std::string_view json, const std::string& subject);

// Attaches the adapter in `folder` to the model's linear layers as low-rank branches of type
// `dtype`. Throws Error: not_found, bad_format, bad_value (a shape that does not fit), unsupported.
void attach_adapter(CausalLM& model, const std::filesystem::path& folder, at::ScalarType dtype);

} // namespace cuset
