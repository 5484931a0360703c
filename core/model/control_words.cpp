#include "core/model/control_words.h"

#include <charconv>

namespace cuset {
namespace {

constexpr std::string_view opening = "\xef\xb7\x90", closing = "\xef\xb7\x91"; // U+FDD0, U+FDD1

} // namespace

std::string ControlWords::hide(const std::string& text) {
    if (text.find(opening) != std::string::npos)
        return text;
    std::string hidden;
    std::size_t done = 0;
    for (const ByteSpan& span : tokenizer_.find_special(text)) {
        const auto begin = static_cast<std::size_t>(span.begin);
        if (begin < done)
            continue;
        hidden.append(text, done, begin - done)
            .append(opening)
            .append(std::to_string(words_.size()))
            .append(closing);
        done = static_cast<std::size_t>(span.end);
        words_.push_back(text.substr(begin, done - begin));
    }
    return hidden.append(text, done, std::string::npos);
}

RenderedPrompt ControlWords::restore(const std::string& rendered) const {
    RenderedPrompt prompt;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = rendered.find(opening, done)) != std::string::npos;) {
        prompt.text.append(rendered, done, at - done);
        const char* digits = rendered.data() + at + opening.size();
        std::size_t number = words_.size();
        const auto [end, error] =
            std::from_chars(digits, rendered.data() + rendered.size(), number);
        done = static_cast<std::size_t>(end - rendered.data());
        if (number >= words_.size() || rendered.compare(done, closing.size(), closing) != 0)
            continue; // a template took the stand-in apart: the text will differ
        done += closing.size();
        const auto begin = static_cast<std::int32_t>(prompt.text.size());
        prompt.text += words_[number];
        prompt.plain.push_back({begin, static_cast<std::int32_t>(prompt.text.size())});
    }
    prompt.text.append(rendered, done, std::string::npos);
    return prompt;
}

} // namespace cuset
