#include "core/report/markup.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/message.h"

namespace cuset::markup {
namespace {

struct Character {
    char32_t value = 0;
    std::size_t length = 1;
};

// `text` is valid UTF-8, as printable() leaves it.
Character character_at(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80)
        return {lead, 1};
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    char32_t value = lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i)
        value = value << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    return {value, length};
}

// Characters that printable() lets through and that a page would not show, or XML forbids.
bool is_invisible(char32_t c) {
    static constexpr std::array<std::array<char32_t, 2>, 14> ranges{{{0xad, 0xad},
                                                                     {0x34f, 0x34f},
                                                                     {0x115f, 0x1160},
                                                                     {0x17b4, 0x17b5},
                                                                     {0x180b, 0x180e},
                                                                     {0x200b, 0x200d},
                                                                     {0x2028, 0x2029},
                                                                     {0x2060, 0x206f},
                                                                     {0x3164, 0x3164},
                                                                     {0xfe00, 0xfe0e},
                                                                     {0xffa0, 0xffa0},
                                                                     {0xfff0, 0xfffb},
                                                                     {0xfffe, 0xffff},
                                                                     {0xe0000, 0xe0fff}}};
    return (c & 0xfffe) == 0xfffe
        || std::any_of(ranges.begin(), ranges.end(),
                       [c](const auto& range) { return c >= range[0] && c <= range[1]; });
}

void append_entity(std::string& out, std::string_view character) {
    switch (character[0]) {
    case '&':
        out += "&amp;";
        break;
    case '<':
        out += "&lt;";
        break;
    case '>':
        out += "&gt;";
        break;
    case '"':
        out += "&quot;";
        break;
    case '\'':
        out += "&#39;";
        break;
    default:
        out += character;
    }
}

std::string visible(char32_t c) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(c));
    return text.data();
}

// Text without control characters.
void append_printed(std::string& out, std::string_view text, std::string_view before,
                    std::string_view after) {
    for (std::size_t at = 0; at < text.size();) {
        const Character c = character_at(text, at);
        if (is_invisible(c.value))
            out.append(before).append(visible(c.value)).append(after);
        else
            append_entity(out, text.substr(at, c.length));
        at += c.length;
    }
}

// The bytes of the character at `at`, 1 for what is no UTF-8.
std::size_t character_size(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    std::size_t size = 1;
    while (size < length && at + size < text.size() && (text[at + size] & 0xc0) == 0x80)
        ++size;
    return size;
}

} // namespace

std::string escaped(std::string_view text, std::size_t max_bytes) {
    std::string out;
    append_printed(out, printable(text, max_bytes), "", "");
    return out;
}

std::string escaped_code(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = character_size(text, at);
        const std::string_view piece = text.substr(at, size);
        at += size;
        if (piece == "\n" || piece == "\t") {
            out += piece;
            continue;
        }
        const std::string shown = printable(piece, 64);
        if (shown == piece)
            append_printed(out, shown, "<i>", "</i>");
        else
            out += "<i>" + shown + "</i>";
    }
    return out;
}

std::string number(double value, int digits) {
    if (!std::isfinite(value))
        return "-";
    std::array<char, 400> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::fixed, std::clamp(digits, 0, 17))
                         .ptr;
    const std::string_view shown(text.data(), static_cast<std::size_t>(end - text.data()));
    const bool zero = shown.find_first_not_of("-0.") == std::string_view::npos;
    return std::string(zero && shown[0] == '-' ? shown.substr(1) : shown);
}

std::string percent(double share, int digits) {
    return number(100 * share, digits) + " %";
}

std::string table(std::string_view caption, const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows) {
    std::string out = "<div class=\"scroll\"><table>";
    if (!caption.empty())
        out.append("<caption>").append(caption).append("</caption>");
    out += "\n<thead><tr>";
    for (const std::string& cell : header)
        out += "<th scope=\"col\">" + cell + "</th>";
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : rows) {
        out += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c)
            out += (c == 0 ? "<td class=\"id\">" : "<td>") + row[c] + "</td>";
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string figure(std::string_view picture, std::string_view caption) {
    return "<figure>" + std::string(picture) + "<figcaption>" + std::string(caption)
        + "</figcaption></figure>\n";
}

} // namespace cuset::markup
