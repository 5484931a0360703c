// What the engine does not handle, told apart before any weight is read (PB6).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuset {

class ConfigFields;
struct ModelConfig;

// Throws Error(unsupported) that says what the checkpoint is and what to use instead: quantised,
// multimodal, not a causal language model, own model code.
void refuse_unsupported_config(const ConfigFields& config);

// Throws Error(unsupported) if a tensor's name shows a quantisation that the config does not tell
// of.
void refuse_quantized_tensors(const std::vector<std::string>& names, const std::string& subject);

// Throws Error(bad_value) if sizes do not fit together.
void check_config_shape(const ModelConfig& config, const std::string& subject);

} // namespace cuset
