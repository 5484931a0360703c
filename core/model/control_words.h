// Words of a sample that look like control tokens, e.g. "<|im_end|>" in a string literal: control
// tokens come from the chat template only, so these must be found again in what it renders.
#pragma once

#include <string>
#include <vector>

#include "core/base/byte_span.h"
#include "core/text/tokenizer.h"

namespace cuset {

struct RenderedPrompt {
    std::string text;
    std::vector<ByteSpan> plain; // where no control token is meant
};

class ControlWords {
public:
    explicit ControlWords(const Tokenizer& tokenizer)
        : tokenizer_(tokenizer) { }

    // `text` with a stand-in for each such word. A text that holds what stand-ins are made of
    // (U+FDD0, which is no character) comes back as it is.
    std::string hide(const std::string& text);
    bool empty() const { return words_.empty(); }
    // `rendered` with the words in the stand-ins' places.
    RenderedPrompt restore(const std::string& rendered) const;

private:
    const Tokenizer& tokenizer_;
    std::vector<std::string> words_;
};

} // namespace cuset
