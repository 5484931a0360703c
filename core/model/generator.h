// Continues a prompt token by token with a cache of keys and values. Sees torch.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/model/causal_lm.h"
#include "core/model/inference_session.h"

namespace cuset {

struct GeneratorEnds {
    std::vector<std::int32_t> ids; // generation ends before one of these
    std::function<std::string(std::int32_t)> token_bytes;
};

// Throws Error: bad_value (an empty prompt, ids outside the vocabulary, no room in the context),
// usage (options out of range), failure; Cancelled. An end token is not among the tokens returned.
std::vector<GeneratedToken>
generate_tokens(CausalLM& model, std::span<const std::int32_t> prompt,
                const GenerateOptions& options, const GeneratorEnds& ends,
                const std::function<bool(const GeneratedToken&)>& on_token, RunControl& control);

} // namespace cuset
