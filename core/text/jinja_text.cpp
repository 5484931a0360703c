#include "core/text/jinja_text.h"

#include <algorithm>

#include <utf8proc.h>

namespace cuset::jinja {
namespace {

struct Character {
    utf8proc_int32_t value = 0;
    std::size_t length = 1;
};

Character decode(std::string_view text, std::size_t at) {
    Character c;
    const utf8proc_ssize_t read =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &c.value);
    if (read <= 0)
        return {static_cast<unsigned char>(text[at]), 1};
    c.length = static_cast<std::size_t>(read);
    return c;
}

template <typename Map> std::string mapped(std::string_view text, Map map) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const Character c = decode(text, at);
        const utf8proc_int32_t to = map(c.value);
        if (to == c.value || (c.length == 1 && c.value >= 0x80)) {
            out.append(text, at, c.length);
        } else {
            utf8proc_uint8_t bytes[4];
            out.append(reinterpret_cast<const char*>(bytes),
                       static_cast<std::size_t>(utf8proc_encode_char(to, bytes)));
        }
        at += c.length;
    }
    return out;
}

bool in_set(std::string_view set, std::string_view character) {
    if (set.empty())
        return is_space(code_point(character, 0));
    for (std::size_t at = 0; at < set.size(); at += character_length(set, at))
        if (set.substr(at, character_length(set, at)) == character)
            return true;
    return false;
}

std::size_t last_character(std::string_view text) {
    std::size_t at = text.size() - 1;
    for (int back = 0; back < 3 && at > 0 && (text[at] & 0xc0) == 0x80; ++back)
        --at;
    return at + character_length(text, at) == text.size() ? at : text.size() - 1;
}

} // namespace

std::size_t character_length(std::string_view text, std::size_t at) {
    return decode(text, at).length;
}

char32_t code_point(std::string_view text, std::size_t at) {
    return static_cast<char32_t>(decode(text, at).value);
}

std::size_t character_count(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); at += character_length(text, at))
        ++count;
    return count;
}

std::vector<std::string> characters(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size(); at += out.back().size())
        out.emplace_back(text.substr(at, character_length(text, at)));
    return out;
}

bool is_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0
        || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f
        || c == 0x205f || c == 0x3000;
}

bool is_printable(char32_t c) {
    if (c == ' ')
        return true;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
        return false;
    default:
        return true;
    }
}

std::string lower(std::string_view text) {
    return mapped(text, utf8proc_tolower);
}

std::string upper(std::string_view text) {
    // Only this letter among those in use grows when it is made upper case.
    return replace(mapped(text, utf8proc_toupper), "ß", "SS", -1);
}

std::string capitalize(std::string_view text) {
    if (text.empty())
        return {};
    const std::size_t first = character_length(text, 0);
    return upper(text.substr(0, first)) + lower(text.substr(first));
}

std::string title(std::string_view text) {
    bool inside = false;
    return mapped(text, [&inside](utf8proc_int32_t c) {
        const bool cased =
            is_upper_case(static_cast<char32_t>(c)) || is_lower_case(static_cast<char32_t>(c));
        const utf8proc_int32_t to = !cased ? c : inside ? utf8proc_tolower(c) : utf8proc_totitle(c);
        inside = cased;
        return to;
    });
}

std::string swap_case(std::string_view text) {
    return mapped(text, [](utf8proc_int32_t c) {
        return is_upper_case(static_cast<char32_t>(c)) ? utf8proc_tolower(c) : utf8proc_toupper(c);
    });
}

std::string_view strip_left(std::string_view text, std::string_view set) {
    while (!text.empty() && in_set(set, text.substr(0, character_length(text, 0))))
        text.remove_prefix(character_length(text, 0));
    return text;
}

std::string_view strip_right(std::string_view text, std::string_view set) {
    while (!text.empty() && in_set(set, text.substr(last_character(text))))
        text = text.substr(0, last_character(text));
    return text;
}

std::vector<std::string> split(std::string_view text, std::string_view separator,
                               std::int64_t limit) {
    std::vector<std::string> parts;
    const auto full = [&] {
        return limit >= 0 && static_cast<std::int64_t>(parts.size()) >= limit;
    };
    if (separator.empty()) {
        for (text = strip_left(text, {}); !text.empty(); text = strip_left(text, {})) {
            if (full()) {
                parts.emplace_back(strip_right(text, {}));
                break;
            }
            std::size_t end = 0;
            while (end < text.size() && !is_space(code_point(text, end)))
                end += character_length(text, end);
            parts.emplace_back(text.substr(0, end));
            text.remove_prefix(end);
        }
        return parts;
    }
    for (;;) {
        const std::size_t found = full() ? std::string_view::npos : text.find(separator);
        parts.emplace_back(text.substr(0, found));
        if (found == std::string_view::npos)
            return parts;
        text.remove_prefix(found + separator.size());
    }
}

std::vector<std::string> split_right(std::string_view text, std::string_view separator,
                                     std::int64_t limit) {
    std::vector<std::string> parts;
    const auto full = [&] {
        return limit >= 0 && static_cast<std::int64_t>(parts.size()) >= limit;
    };
    if (separator.empty()) {
        for (text = strip_right(text, {}); !text.empty(); text = strip_right(text, {})) {
            if (full()) {
                parts.emplace_back(strip_left(text, {}));
                break;
            }
            std::size_t begin = text.size();
            while (begin > 0 && !is_space(code_point(text, last_character(text.substr(0, begin)))))
                begin = last_character(text.substr(0, begin));
            parts.emplace_back(text.substr(begin));
            text = text.substr(0, begin);
        }
    } else {
        for (;;) {
            const std::size_t found = full() ? std::string_view::npos : text.rfind(separator);
            if (found == std::string_view::npos) {
                parts.emplace_back(text);
                break;
            }
            parts.emplace_back(text.substr(found + separator.size()));
            text = text.substr(0, found);
        }
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
}

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = code_point(text, at);
        std::size_t length = character_length(text, at);
        const bool ends = (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85
            || c == 0x2028 || c == 0x2029;
        if (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n')
            ++length;
        if (ends) {
            lines.emplace_back(text.substr(begin, at - begin + (keep_ends ? length : 0)));
            begin = at + length;
        }
        at += length;
    }
    if (begin < text.size())
        lines.emplace_back(text.substr(begin));
    return lines;
}

std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    std::int64_t limit) {
    std::string out;
    std::int64_t done = 0;
    std::size_t at = 0;
    if (from.empty()) { // between all characters, as Python does
        while (limit < 0 || done < limit) {
            out += to;
            ++done;
            if (at == text.size())
                return out;
            const std::size_t length = character_length(text, at);
            out.append(text, at, length);
            at += length;
        }
    }
    while (!from.empty() && (limit < 0 || done < limit)) {
        const std::size_t found = text.find(from, at);
        if (found == std::string_view::npos)
            break;
        out.append(text, at, found - at);
        out += to;
        at = found + from.size();
        ++done;
    }
    out.append(text, at);
    return out;
}

bool all_characters(std::string_view text, bool (*property)(char32_t)) {
    for (std::size_t at = 0; at < text.size(); at += character_length(text, at))
        if (!property(code_point(text, at)))
            return false;
    return !text.empty();
}

bool is_alpha(char32_t c) {
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_digit(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND || c == 0xb2
        || c == 0xb3 || c == 0xb9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079)
        || (c >= 0x2080 && c <= 0x2089);
}

bool is_numeric(char32_t c) {
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_upper_case(char32_t c) {
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT;
}

bool is_lower_case(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LL || c == 0xaa
        || c == 0xba;
}

} // namespace cuset::jinja
