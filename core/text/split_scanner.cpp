#include "core/text/split_scanner.h"

#include <array>

#include "core/text/unicode.h"

namespace cuset::text {
namespace {

using unicode::letter_bit;
using unicode::number_bit;
using unicode::space_bit;

constexpr std::string_view gpt2_text =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3_text =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2_text =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::uint8_t split_bits = letter_bit | number_bit | space_bit;

// Reads characters of one range as class bits.
class Reader {
public:
    Reader(std::string_view text, std::size_t end)
        : data_(text.data())
        , end_(end)
        , table_(unicode::ClassTable::instance()) { }

    // Class bits of the character at `at`, whose length goes to `size`. At the end: no bits, length
    // 0.
    std::uint8_t look(std::size_t at, std::size_t& size) const {
        if (at >= end_) {
            size = 0;
            return 0;
        }
        const auto byte = static_cast<unsigned char>(data_[at]);
        if (byte < 0x80) {
            size = 1;
            return table_[byte];
        }
        return table_[unicode::decode_valid(data_ + at, size)];
    }
    // End of the run of characters whose split bits are `wanted` (0: none of letter, number,
    // space).
    std::size_t run_end(std::size_t at, std::uint8_t wanted) const {
        for (std::size_t size = 0; at < end_; at += size)
            if ((look(at, size) & split_bits) != wanted)
                break;
        return at;
    }
    bool is_other(std::size_t at) const { // a character that is no letter, number or space
        std::size_t size = 0;
        return at < end_ && (look(at, size) & split_bits) == 0;
    }
    bool is(std::size_t at, std::uint8_t bit) const {
        std::size_t size = 0;
        return (look(at, size) & bit) != 0;
    }
    char byte(std::size_t at) const { return at < end_ ? data_[at] : '\0'; }
    std::size_t end() const { return end_; }

private:
    const char* data_;
    std::size_t end_;
    const unicode::ClassTable& table_;
};

bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

// End of the contraction ('s 't 're 've 'm 'll 'd) at `at`, or `at`.
std::size_t contraction_end(const Reader& in, std::size_t at, bool any_case) {
    if (in.byte(at) != '\'')
        return at;
    const auto letter = [&](std::size_t k) {
        const char c = in.byte(k);
        return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    const char a = letter(at + 1), b = letter(at + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return at + 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
        return at + 3;
    // U+017F folds to s.
    if (any_case && a == '\xc5' && in.byte(at + 2) == '\xbf')
        return at + 3;
    return at;
}

// \s+(?!\S)|\s+ at a run of white space [at, run): all of it at the end of the text, else all but
// its last character.
std::size_t blank_end(std::string_view text, const Reader& in, std::size_t at, std::size_t run) {
    if (run == in.end())
        return run;
    const std::size_t last = unicode::previous(text, run);
    return last > at ? last : run;
}

std::size_t gpt2_end(std::string_view text, const Reader& in, std::size_t at) {
    const std::size_t contracted = contraction_end(in, at, false);
    if (contracted != at)
        return contracted;
    std::size_t size = 0;
    const std::uint8_t bits = in.look(at, size) & split_bits;
    if (bits != space_bit)
        return in.run_end(at + size, bits);
    if (in.byte(at) == ' ' && at + 1 < in.end()) {
        const std::uint8_t next = in.look(at + 1, size) & split_bits;
        if (next != space_bit)
            return in.run_end(at + 1 + size, next);
    }
    return blank_end(text, in, at, in.run_end(at, space_bit));
}

// Llama 3's pattern; `digits` numbers in a group.
std::size_t llama3_end(std::string_view text, const Reader& in, std::size_t at, int digits) {
    const std::size_t contracted = contraction_end(in, at, true);
    if (contracted != at)
        return contracted;
    std::size_t size = 0;
    const std::uint8_t bits = in.look(at, size) & split_bits;
    if (bits == letter_bit)
        return in.run_end(at + size, letter_bit);
    if (bits == number_bit) {
        std::size_t end = at + size;
        for (int k = 1; k < digits && (in.look(end, size) & number_bit) != 0; ++k)
            end += size;
        return end;
    }
    if (!is_newline(in.byte(at)) && in.is(at + size, letter_bit))
        return in.run_end(at + size, letter_bit);
    if (bits == 0 || (in.byte(at) == ' ' && in.is_other(at + 1))) {
        std::size_t end = in.run_end(at + size, 0);
        while (end < in.end() && is_newline(in.byte(end)))
            ++end;
        return end;
    }
    const std::size_t run = in.run_end(at, space_bit);
    for (std::size_t k = run; k > at; --k)
        if (is_newline(in.byte(k - 1)))
            return k;
    return blank_end(text, in, at, run);
}

template <typename End>
void scan_with(std::string_view text, Piece range, std::vector<Piece>& out, End end_of) {
    const Reader in(text, range.end);
    for (std::size_t at = range.begin; at < range.end;) {
        const std::size_t end = end_of(in, at);
        out.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
        at = end;
    }
}

} // namespace

std::string_view pattern_text(KnownPattern known) {
    switch (known) {
    case KnownPattern::gpt2:
        return gpt2_text;
    case KnownPattern::llama3:
        return llama3_text;
    case KnownPattern::qwen2:
        return qwen2_text;
    case KnownPattern::none:
        break;
    }
    return {};
}

KnownPattern find_known_pattern(std::string_view pattern) {
    for (const KnownPattern known : {KnownPattern::gpt2, KnownPattern::llama3, KnownPattern::qwen2})
        if (pattern == pattern_text(known))
            return known;
    return KnownPattern::none;
}

void scan(KnownPattern known, std::string_view text, Piece range, std::vector<Piece>& out) {
    switch (known) {
    case KnownPattern::gpt2:
        return scan_with(text, range, out,
                         [&](const Reader& in, std::size_t at) { return gpt2_end(text, in, at); });
    case KnownPattern::llama3:
        return scan_with(text, range, out, [&](const Reader& in, std::size_t at) {
            return llama3_end(text, in, at, 3);
        });
    case KnownPattern::qwen2:
        return scan_with(text, range, out, [&](const Reader& in, std::size_t at) {
            return llama3_end(text, in, at, 1);
        });
    case KnownPattern::none:
        break;
    }
}

void scan_digits(std::string_view text, Piece range, bool individual, std::vector<Piece>& out) {
    std::size_t begin = range.begin; // of the piece being collected
    bool in_digits = false;
    const auto close = [&](std::size_t end) {
        if (begin < end)
            out.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
        begin = end;
    };
    for (std::size_t at = range.begin; at < range.end;) {
        const auto byte = static_cast<unsigned char>(text[at]);
        std::size_t size = 1;
        const bool digit = byte < 0x80
            ? byte >= '0' && byte <= '9'
            : unicode::is_number(unicode::decode_valid(text.data() + at, size));
        if (digit != in_digits || (digit && individual))
            close(at);
        in_digits = digit;
        at += size;
    }
    close(range.end);
}

} // namespace cuset::text
