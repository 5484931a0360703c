// A tokenizer.json is refused with an Error, or what it makes of any text has spans that cover it and
// ids that can be decoded. The input is the file, then a zero byte, then the text.
#include <cstdint>
#include <cstdlib>

#include "core/base/error.h"
#include "core/text/tokenizer.h"

namespace {

void require(bool good) {
    if (!good)
        std::abort();
}

void check_spans(const cuset::TokenizedText& tokens, std::string_view text) {
    require(tokens.spans.size() == tokens.ids.size());
    std::int32_t end = 0;
    for (const cuset::ByteSpan& span : tokens.spans) {
        require(span.begin == end && span.end >= span.begin);
        end = span.end;
    }
    require(tokens.ids.empty() || static_cast<std::size_t>(end) == text.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::string_view file = input.substr(0, input.find('\0'));
    const std::string_view text = file.size() < size ? input.substr(file.size() + 1) : "a b1 \n";
    try {
        const auto tokenizer = cuset::Tokenizer::from_json(file, "tokenizer.json");
        for (const bool special : {false, true}) {
            cuset::TokenizeOptions options;
            options.parse_special = options.add_special_tokens = special;
            const cuset::TokenizedText tokens = tokenizer.encode(text, options);
            if (!special)
                check_spans(tokens, text);
            tokenizer.decode(tokens.ids);
        }
    } catch (const cuset::Error&) { }
    return 0;
}
