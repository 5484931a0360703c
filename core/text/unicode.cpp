#include "core/text/unicode.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>

namespace cuset::unicode {
namespace {

struct CategoryRun {
    char32_t begin;
    Category category;
};
struct CodeRange {
    char32_t first, last;
};

#include "core/text/unicode_tables.inc"

template <std::size_t N> bool in_ranges(const CodeRange (&ranges)[N], char32_t code) {
    const auto* at = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                      [](char32_t c, const CodeRange& r) { return c < r.first; });
    return at != std::begin(ranges) && code <= std::prev(at)->last;
}

bool between(Category c, Category first, Category last) {
    return first <= c && c <= last;
}

std::uint8_t class_bits(Category c) {
    int bits = 0;
    if (between(c, Lu, Lo))
        bits |= letter_bit;
    if (between(c, Nd, No))
        bits |= number_bit;
    if (between(c, Mn, Me))
        bits |= mark_bit;
    if (between(c, Pc, Po))
        bits |= punctuation_bit;
    if (between(c, Sm, So))
        bits |= symbol_bit;
    if (c == Lu || between(c, Lt, Me))
        bits |= upper_bit;
    if (c == Ll || between(c, Lm, Me))
        bits |= lower_bit;
    return static_cast<std::uint8_t>(bits);
}

constexpr std::string_view category_names[] = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn"};

} // namespace

Decoded decode(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t k) -> unsigned {
        return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0;
    };
    const unsigned a = byte(0);
    if (a < 0x80)
        return {a, 1, true};
    // Second byte's range by first byte (Unicode, table 3-7).
    unsigned low = 0x80, high = 0xbf;
    int more = 0;
    if (a >= 0xc2 && a <= 0xdf) {
        more = 1;
    } else if (a >= 0xe0 && a <= 0xef) {
        more = 2;
        low = a == 0xe0 ? 0xa0 : 0x80;
        high = a == 0xed ? 0x9f : 0xbf;
    } else if (a >= 0xf0 && a <= 0xf4) {
        more = 3;
        low = a == 0xf0 ? 0x90 : 0x80;
        high = a == 0xf4 ? 0x8f : 0xbf;
    } else {
        return {0xfffd, 1, false};
    }
    char32_t code = a & (0x3fU >> more);
    for (int k = 1; k <= more; ++k) {
        const unsigned b = byte(static_cast<std::size_t>(k));
        if (b < low || b > high)
            return {0xfffd, static_cast<std::uint8_t>(k), false};
        code = code << 6 | (b & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    return {code, static_cast<std::uint8_t>(more + 1), true};
}

std::size_t previous(std::string_view text, std::size_t end) {
    do {
        --end;
    } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
    return end;
}

void append_utf8(std::string& out, char32_t code) {
    const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | code >> 6);
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

bool is_ascii(std::string_view text) {
    std::size_t k = 0;
    for (; k + 8 <= text.size(); k += 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + k, 8);
        if ((word & 0x8080808080808080U) != 0)
            return false;
    }
    for (; k < text.size(); ++k)
        if (static_cast<unsigned char>(text[k]) >= 0x80)
            return false;
    return true;
}

bool is_valid_utf8(std::string_view text) {
    for (std::size_t k = 0; k < text.size();) {
        if (static_cast<unsigned char>(text[k]) < 0x80) {
            ++k;
            continue;
        }
        const Decoded d = decode(text, k);
        if (!d.valid)
            return false;
        k += d.size;
    }
    return true;
}

AlignedText replace_invalid(std::string_view text) {
    AlignedText out;
    out.reserve(text.size());
    for (std::size_t k = 0; k < text.size();) {
        const Decoded d = decode(text, k);
        const auto begin = static_cast<std::int32_t>(k);
        out.append(d.valid ? text.substr(k, d.size) : std::string_view("\xef\xbf\xbd"), begin,
                   begin + d.size);
        k += d.size;
    }
    out.finish(static_cast<std::int32_t>(text.size()));
    return out;
}

Category category(char32_t code) {
    if (code >= 0x110000)
        return Cn;
    const auto* at = std::upper_bound(std::begin(category_runs), std::end(category_runs), code,
                                      [](char32_t c, const CategoryRun& r) { return c < r.begin; });
    return std::prev(at)->category;
}

bool is_letter(char32_t code) {
    return (ClassTable::instance()[code] & letter_bit) != 0;
}
bool is_number(char32_t code) {
    return (ClassTable::instance()[code] & number_bit) != 0
        || (code > 0xffff && in_ranges(digits_beyond_n, code));
}
bool is_white_space(char32_t code) {
    return (ClassTable::instance()[code] & space_bit) != 0;
}

bool is_punctuation(char32_t code) {
    const std::uint8_t bits = ClassTable::instance()[code];
    if (code < 0x80)
        return (bits & (punctuation_bit | symbol_bit)) != 0;
    return in_ranges(punctuation_added, code)
        || ((bits & punctuation_bit) != 0 && !in_ranges(punctuation_missing, code));
}

bool is_word(char32_t code) {
    const std::uint8_t bits = ClassTable::instance()[code];
    const bool usual = (bits & (letter_bit | number_bit | mark_bit)) != 0 || category(code) == Pc;
    return code < 0x80 ? usual
                       : in_ranges(word_added, code) || (usual && !in_ranges(word_missing, code));
}

bool is_never_normalized(char32_t code) {
    return code >= 0x300 && (in_ranges(not_normalized, code) || in_ranges(newer_than_14, code));
}

const ClassTable& ClassTable::instance() {
    static const ClassTable table;
    return table;
}

ClassTable::ClassTable() {
    std::string all(0x110000, '\0');
    for (std::size_t k = 0; k < std::size(category_runs); ++k) {
        const std::size_t begin = category_runs[k].begin;
        const std::size_t end =
            k + 1 < std::size(category_runs) ? category_runs[k + 1].begin : all.size();
        std::fill(all.begin() + begin, all.begin() + end,
                  static_cast<char>(class_bits(category_runs[k].category)));
    }
    // White_Space: the separators and these controls.
    for (char32_t c = 0; c < 0x3001; ++c)
        if ((c >= 9 && c <= 13) || c == 0x85 || between(category(c), Zs, Zp))
            all[c] = static_cast<char>(all[c] | space_bit);
    std::map<std::string, std::uint16_t> blocks;
    for (std::size_t k = 0; k < std::size(stage_); ++k) {
        const std::string block = all.substr(k << 8, 256);
        const auto [at, added] =
            blocks.try_emplace(block, static_cast<std::uint16_t>(blocks.size()));
        if (added)
            storage_ += block;
        stage_[k] = at->second;
    }
    blocks_ = reinterpret_cast<const std::uint8_t*>(storage_.data());
}

std::string newer_members(std::string_view property) {
    // Ideographs newer than Unicode 14 are all in these two blocks.
    if (property == "Han")
        return R"(\x{2ebf0}-\x{2ee5d}\x{31350}-\x{33479})";
    std::string out;
    const auto range = [&](char32_t first, char32_t last) {
        char text[32];
        std::snprintf(text, sizeof text, "\\x{%x}-\\x{%x}", static_cast<unsigned>(first),
                      static_cast<unsigned>(last));
        out += text;
    };
    for (const CodeRange& newer : newer_than_14) {
        char32_t begin = newer.first;
        for (char32_t c = newer.first; c <= newer.last; ++c) {
            const bool has = category_names[category(c)].starts_with(property);
            if (has && c == newer.last)
                range(begin, c);
            else if (!has && begin < c)
                range(begin, c - 1);
            if (!has)
                begin = c + 1;
        }
    }
    return out;
}

} // namespace cuset::unicode
