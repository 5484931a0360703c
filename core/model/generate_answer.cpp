#include "core/model/generate_answer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {

GeneratedAnswer generate_answer(InferenceSession& session, const Sample& sample,
                                const PromptOptions& prompt, GenerateOptions generate,
                                const std::function<bool(const GeneratedToken&)>& on_token,
                                RunControl& control) {
    GeneratedAnswer answer;
    answer.rendered = session.render_prompt(sample, prompt);
    const TokenizedText encoded =
        session.tokenizer().encode(answer.rendered, {.parse_special = true});
    const std::int32_t room = std::min(prompt.max_length, session.info().context_length)
        - static_cast<std::int32_t>(encoded.ids.size());
    if (room <= 0)
        throw Error(ErrorCode::bad_value,
                    "the prompt has " + format_count(static_cast<std::int64_t>(encoded.ids.size()))
                        + " tokens, --max-length leaves room for none after it",
                    "generate");
    generate.max_tokens = std::min(generate.max_tokens, room);
    bool stopped = false;
    answer.tokens = session.generate(
        encoded.ids, generate,
        [&](const GeneratedToken& token) {
            stopped = on_token && !on_token(token);
            return !stopped;
        },
        control);
    answer.ended =
        !stopped && static_cast<std::int32_t>(answer.tokens.size()) < generate.max_tokens;
    return answer;
}

std::string visible_bytes(const InferenceSession& session, const GeneratedToken& token) {
    return session.tokenizer().is_special(token.id) ? std::string() : token.bytes;
}

} // namespace cuset
