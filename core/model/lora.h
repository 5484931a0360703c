// LoRA adapters as PEFT saves them: adapter_config.json and adapter_model.safetensors. LoRA: arXiv
// 2106.09685. rsLoRA: arXiv 2312.03732. DoRA: arXiv 2402.09353. Sees torch.
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
    bool dora = false; // rows of the adapted weight are brought to learned lengths
    std::vector<std::string> modules_to_save; // stored whole: embed_tokens, lm_head
    std::string base_model; // as the config names it, or ""

    // Of the branch on layer `name` whose A has `r` rows.
    double scale(const std::string& name, std::int64_t r) const;
};

// `json` is adapter_config.json's text. Throws Error: bad_format, bad_value, unsupported (another
// kind of adapter, a setting that changes the result and is not handled, by name).
LoraConfig parse_lora_config(std::string_view json, const std::string& subject);
LoraConfig read_lora_config(const std::filesystem::path& folder);

// What an adapter does beside adding low-rank branches.
struct AdapterEffect {
    bool changes_weights = false; // DoRA, or the embedding or the head
    bool unties_head = false; // the head is no longer the embedding
};

// Attaches the adapter in `folder` to the model's linear layers as low-rank branches of type
// `dtype`. DoRA scales the rows of the weight itself; embedding and head get the adapter's whole
// weight or their low-rank change added. Throws Error: not_found, bad_format, bad_value (a shape
// that does not fit), unsupported.
AdapterEffect attach_adapter(CausalLM& model, const std::filesystem::path& folder,
                             at::ScalarType dtype);

} // namespace cuset
