#include "core/text/added_tokens.h"

#include <algorithm>

#include "core/text/unicode.h"

namespace cuset::text {
namespace {

bool ends_with_word(std::string_view text) {
    return !text.empty()
        && unicode::is_word(unicode::decode(text, unicode::previous(text, text.size())).code);
}
bool starts_with_word(std::string_view text) {
    return !text.empty() && unicode::is_word(unicode::decode(text, 0).code);
}

// First byte of the white space that ends at `end`.
std::size_t space_begin(std::string_view text, std::size_t end) {
    while (end > 0) {
        const std::size_t at = unicode::previous(text, end);
        if (!unicode::is_white_space(unicode::decode(text, at).code))
            break;
        end = at;
    }
    return end;
}
std::size_t space_end(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const unicode::Decoded d = unicode::decode(text, at);
        if (!unicode::is_white_space(d.code))
            break;
        at += d.size;
    }
    return at;
}

} // namespace

void TokenMatcher::add(std::string pattern, const AddedToken& token) {
    if (pattern.empty())
        return;
    // Of two tokens with one pattern the first is kept.
    if (index_.find(pattern) != no_token)
        return;
    index_.insert(pattern, static_cast<std::int32_t>(tokens_.size()));
    tokens_.push_back(token);
    auto& lengths = lengths_by_first_[static_cast<unsigned char>(pattern[0])];
    const auto length = static_cast<std::uint32_t>(pattern.size());
    const auto at = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater<>());
    if (at == lengths.end() || *at != length)
        lengths.insert(at, length);
}

std::int32_t TokenMatcher::longest_at(std::string_view text, std::size_t at,
                                      std::size_t& length) const {
    for (const std::uint32_t candidate : lengths_by_first_[static_cast<unsigned char>(text[at])]) {
        if (candidate > text.size() - at)
            continue;
        const std::int32_t found = index_.find(text.substr(at, candidate));
        if (found != no_token) {
            length = candidate;
            return found;
        }
    }
    return no_token;
}

void TokenMatcher::split(AlignedView view, bool parse_special, std::span<const ByteSpan> plain,
                         std::vector<Section>& out) const {
    const std::string_view text = view.text;
    std::size_t done = 0;
    const auto is_plain = [&](std::size_t begin, std::size_t end) {
        const ByteSpan here{view.source(begin), view.source(end)};
        // They rise and do not overlap: only the first that ends behind the begin can.
        const auto span =
            std::upper_bound(plain.begin(), plain.end(), here.begin,
                             [](std::int32_t at, const ByteSpan& one) { return at < one.end; });
        return span != plain.end() && span->overlaps(here);
    };
    for (std::size_t at = 0; !tokens_.empty() && at < text.size();) {
        std::size_t length = 0;
        const std::int32_t found = longest_at(text, at, length);
        if (found == no_token) {
            ++at;
            continue;
        }
        std::size_t begin = at, end = at + length;
        at = end;
        const AddedToken& token = tokens_[found];
        if (token.special && (!parse_special || is_plain(begin, end)))
            continue;
        if (token.single_word
            && (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end))))
            continue;
        if (token.strip_left)
            begin = space_begin(text, begin);
        if (token.strip_right)
            end = space_end(text, end);
        // An earlier token that takes the white space after it may hold this one's place already:
        // the reference still emits it, and it spans what is left.
        begin = std::max(begin, done);
        end = std::max(end, done);
        if (done < begin)
            out.push_back({done, begin, no_token});
        out.push_back({begin, end, token.id});
        done = end;
    }
    if (done < text.size())
        out.push_back({done, text.size(), no_token});
}

} // namespace cuset::text
