// Python's str operations on UTF-8 text, as the Jinja engine needs them. Positions count code
// points. Bytes that are no UTF-8 count as one character each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuset::jinja {

std::size_t character_length(std::string_view text, std::size_t at); // bytes, 1 to 4
char32_t code_point(std::string_view text, std::size_t at);
std::size_t character_count(std::string_view text);
std::vector<std::string> characters(std::string_view text);

bool is_space(char32_t c); // str.isspace
bool is_printable(char32_t c); // str.isprintable

std::string lower(std::string_view text);
std::string upper(std::string_view text);
std::string capitalize(std::string_view text); // first character upper, the rest lower
std::string title(std::string_view text); // str.title
std::string swap_case(std::string_view text);

// str.strip, lstrip, rstrip; `set` empty: white space.
std::string_view strip_left(std::string_view text, std::string_view set);
std::string_view strip_right(std::string_view text, std::string_view set);

// str.split(sep, limit) and rsplit; separator empty: runs of white space. limit < 0: no limit.
std::vector<std::string> split(std::string_view text, std::string_view separator,
                               std::int64_t limit);
std::vector<std::string> split_right(std::string_view text, std::string_view separator,
                                     std::int64_t limit);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends);

// str.replace(from, to, limit); limit < 0: all.
std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    std::int64_t limit);

// All characters satisfy the property, and there is at least one: str.isdigit and its kin.
bool all_characters(std::string_view text, bool (*property)(char32_t));
bool is_alpha(char32_t c);
bool is_digit(char32_t c); // general category Nd, or a superscript or subscript digit
bool is_numeric(char32_t c); // general category Nd, Nl or No
bool is_upper_case(char32_t c);
bool is_lower_case(char32_t c);

} // namespace cuset::jinja
