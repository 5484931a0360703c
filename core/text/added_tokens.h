// AddedTokens: tokens that are looked for in the text before the model sees it.
// Source: the reference's AddedVocabulary; of several tokens at a place the longest is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"
#include "core/text/aligned_text.h"
#include "core/text/vocabulary.h"

namespace cuset::text {

struct AddedToken {
    std::string content;
    std::int32_t id = 0;
    bool single_word = false; // only where no word character touches it
    bool strip_left = false; // takes the white space before it
    bool strip_right = false;
    bool normalized = false; // looked for in the normalised text
    bool special = false;
};

// A stretch of text that is one added token (id) or ordinary text (no_token).
struct Section {
    std::size_t begin, end;
    std::int32_t id;
};

// Finds a fixed set of tokens in a text.
class TokenMatcher {
public:
    // `pattern` is what stands in the text: the content, or its normalised form. Empty patterns are
    // left out.
    void add(std::string pattern, const AddedToken& token);
    bool empty() const { return tokens_.empty(); }
    // Cuts the view's text (valid UTF-8) into sections; special tokens count only if
    // `parse_special` and outside of the `plain` spans, which are places in the source.
    void split(AlignedView view, bool parse_special, std::span<const ByteSpan> plain,
               std::vector<Section>& out) const;

private:
    std::int32_t longest_at(std::string_view text, std::size_t at, std::size_t& length) const;

    std::vector<AddedToken> tokens_;
    StringTable index_; // pattern to place in tokens_
    std::vector<std::uint32_t> lengths_by_first_[256]; // pattern lengths, longest first
};

} // namespace cuset::text
