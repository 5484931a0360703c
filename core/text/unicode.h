// UTF-8 decoding and the character properties that tokenizers ask for.
// The tables (unicode_tables.inc) hold what the reference library's regex engine answers for each
// code point, made by tests/reference/make_unicode_tables.py, so that a border never depends on the
// version of a system library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/aligned_text.h"

namespace cuset::unicode {

// General categories, in the order of the tables.
enum Category : std::uint8_t {
    Lu,
    Ll,
    Lt,
    Lm,
    Lo,
    Mn,
    Mc,
    Me,
    Nd,
    Nl,
    No,
    Pc,
    Pd,
    Ps,
    Pe,
    Pi,
    Pf,
    Po,
    Sm,
    Sc,
    Sk,
    So,
    Zs,
    Zl,
    Zp,
    Cc,
    Cf,
    Co,
    Cn
};

struct Decoded {
    char32_t code = 0; // U+FFFD where the bytes are not UTF-8
    std::uint8_t size =
        0; // bytes read, 1 to 4; for invalid bytes the longest prefix that a valid character has
    bool valid = true;
};

// The character at byte `at`; at < text.size().
Decoded decode(std::string_view text, std::size_t at);
// The same for text known to be valid UTF-8: faster. `size` receives 1 to 4.
inline char32_t decode_valid(const char* at, std::size_t& size) {
    const auto* p = reinterpret_cast<const unsigned char*>(at);
    if (p[0] < 0x80) {
        size = 1;
        return p[0];
    }
    if (p[0] < 0xe0) {
        size = 2;
        return (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU);
    }
    if (p[0] < 0xf0) {
        size = 3;
        return (p[0] & 0x0fU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
    }
    size = 4;
    return (p[0] & 0x07U) << 18 | (p[1] & 0x3fU) << 12 | (p[2] & 0x3fU) << 6 | (p[3] & 0x3fU);
}
// Offset of the character that ends before byte `end`; text valid, end > 0.
std::size_t previous(std::string_view text, std::size_t end);

void append_utf8(std::string& out, char32_t code);
bool is_ascii(std::string_view text);
bool is_valid_utf8(std::string_view text);
// `text` with every invalid sequence replaced by U+FFFD (as Python's errors="replace" does),
// aligned to the bytes given.
AlignedText replace_invalid(std::string_view text);

Category category(char32_t code);
bool is_letter(char32_t code); // L
bool is_number(char32_t code); // N
bool is_white_space(char32_t code); // White_Space, the reference's \s
bool is_punctuation(
    char32_t code); // the reference's Punctuation step: ASCII punctuation and P of an older Unicode
bool is_word(char32_t code); // the reference's \w in its Whitespace step
// True for characters that the reference's normalisation forms, whose tables are older, leave as
// they are: no decomposition, combining class 0.
bool is_never_normalized(char32_t code);

// Bits of a code point for the split scanners.
enum ClassBit : std::uint8_t {
    letter_bit = 1,
    number_bit = 2,
    space_bit = 4,
    mark_bit = 8,
    punctuation_bit = 16, // P
    symbol_bit = 32, // S
    upper_bit = 64, // Lu, Lt, Lm, Lo, M: what may stand in a run of capitals
    lower_bit = 128, // Ll, Lm, Lo, M
};

// Two-stage table of class bits over all code points.
class ClassTable {
public:
    static const ClassTable& instance();
    std::uint8_t operator[](char32_t code) const {
        return code < 0x110000
            ? blocks_[static_cast<std::size_t>(stage_[code >> 8]) << 8 | (code & 0xff)]
            : 0;
    }

private:
    ClassTable();
    std::uint16_t stage_[0x1100] = {};
    std::string storage_;
    const std::uint8_t* blocks_ = nullptr;
};

// For a regex engine whose tables are of Unicode 14: the newer characters of a general category
// ("L", "Lu", "Han" also), written as members of a character class; "" for other properties.
std::string newer_members(std::string_view property);

} // namespace cuset::unicode
