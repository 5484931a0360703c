#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace cuset {
namespace {

struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0; // 0: not valid UTF-8 at this place
};

CodePoint decode(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(at);
    if (lead < 0x80)
        return {lead, 1};
    const std::size_t length = lead >= 0xf0 && lead < 0xf5 ? 4
        : lead >= 0xe0 && lead < 0xf0                      ? 3
        : lead >= 0xc2 && lead < 0xe0                      ? 2
                                                           : 0;
    if (length == 0 || at + length > text.size())
        return {};
    char32_t value = lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80)
            return {};
        value = value << 6 | (byte(at + i) & 0x3fu);
    }
    static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return {};
    return {value, length};
}

bool is_hidden_control(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e)
        || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c || c == 0xfeff;
}

std::string escape(char32_t c) {
    if (c == '\n')
        return "\\n";
    if (c == '\t')
        return "\\t";
    if (c == '\r')
        return "\\r";
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), c < 0x100 ? "\\x%02x" : "\\u%04x",
                  static_cast<unsigned>(c));
    return text.data();
}

} // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decode(text, at);
        std::string piece;
        if (c.length == 0)
            piece = escape(static_cast<unsigned char>(text[at]));
        else if (is_hidden_control(c.value))
            piece = escape(c.value);
        else
            piece = text.substr(at, c.length);
        if (out.size() + piece.size() > max_bytes)
            return out + "...";
        out += piece;
        at += std::max<std::size_t>(c.length, 1);
    }
    return out;
}

std::string format_bytes(std::uint64_t bytes) {
    static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text.data();
}

std::string format_count(std::int64_t count) {
    const std::string digits = std::to_string(count);
    const std::size_t sign = count < 0 ? 1 : 0;
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > sign && (digits.size() - i) % 3 == 0)
            out += ',';
        out += digits[i];
    }
    return out;
}

std::string nearest_name(std::string_view word, const std::string* names, std::size_t count) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (std::size_t n = 0; n < count; ++n) {
        const std::string& name = names[n];
        std::vector<std::size_t> row(name.size() + 1);
        for (std::size_t j = 0; j <= name.size(); ++j)
            row[j] = j;
        for (std::size_t i = 1; i <= word.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i;
            for (std::size_t j = 1; j <= name.size(); ++j) {
                const std::size_t above = row[j];
                row[j] = std::min(
                    {row[j] + 1, row[j - 1] + 1, diagonal + (word[i - 1] == name[j - 1] ? 0 : 1)});
                diagonal = above;
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = name;
        }
    }
    return best;
}

} // namespace cuset
