// An answer to a sample's prompt: what `cuset generate` and the window run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/inference_session.h"

namespace cuset {

struct GeneratedAnswer {
    std::string rendered; // the prompt as the model saw it
    std::vector<GeneratedToken> tokens;
    bool ended = false; // the model ended its turn; else a limit or `on_token` did
};

// Renders and tokenises the sample's prompt (its response is not looked at) and continues it by at
// most `generate.max_tokens` tokens, fewer if prompt and answer would be longer than
// `prompt.max_length`. `on_token` as in InferenceSession::generate. Throws Error: bad_value (the
// prompt leaves no room), and as InferenceSession::generate; Cancelled.
GeneratedAnswer generate_answer(InferenceSession& session, const Sample& sample,
                                const PromptOptions& prompt, GenerateOptions generate,
                                const std::function<bool(const GeneratedToken&)>& on_token,
                                RunControl& control);

// What a token adds to the text: its bytes, nothing for a special token.
std::string visible_bytes(const InferenceSession& session, const GeneratedToken& token);

} // namespace cuset
