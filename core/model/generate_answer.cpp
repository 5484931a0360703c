#include "core/model/generate_answer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {

namespace {

// As scoring has the prompt: its words that look like control tokens are text.
std::vector<std::int32_t> prompt_ids(const InferenceSession& session, const Sample& sample,
                                     const PromptOptions& prompt, const std::string& rendered) {
    const Tokenizer& tokenizer = session.tokenizer();
    bool words = !tokenizer.find_special(sample.prompt).empty();
    for (const ChatMessage& turn : sample.messages)
        words = words || !tokenizer.find_special(turn.content + turn.extra).empty();
    if (!words)
        return tokenizer.encode(rendered, {.parse_special = true}).ids;
    Sample answered = sample;
    answered.response = "."; // an encoding has one
    PromptOptions options = prompt;
    options.response = ResponseChoice::whole;
    Encoding encoding = session.encode(answered, options);
    encoding.ids.resize(static_cast<std::size_t>(encoding.response_begin));
    return std::move(encoding.ids);
}

} // namespace

GeneratedAnswer generate_answer(InferenceSession& session, const Sample& sample,
                                const PromptOptions& prompt, GenerateOptions generate,
                                const std::function<bool(const GeneratedToken&)>& on_token,
                                RunControl& control) {
    GeneratedAnswer answer;
    answer.rendered = session.render_prompt(sample, prompt);
    const std::vector<std::int32_t> ids = prompt_ids(session, sample, prompt, answer.rendered);
    const std::int32_t room = std::min(prompt.max_length, session.info().context_length)
        - static_cast<std::int32_t>(ids.size());
    if (room <= 0)
        throw Error(ErrorCode::bad_value,
                    "the prompt has " + format_count(static_cast<std::int64_t>(ids.size()))
                        + " tokens, --max-length leaves room for none after it",
                    "generate");
    generate.max_tokens = std::min(generate.max_tokens, room);
    bool stopped = false;
    answer.tokens = session.generate(
        ids, generate,
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
