// Invalid UTF-8 made valid, as the Unicode Standard recommends (section 3.9, "substitution of
// maximal subparts"): what Python's errors="replace" does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuset {

inline constexpr std::string_view replacement_utf8 = "\xef\xbf\xbd"; // U+FFFD

struct Utf8Step {
    std::size_t size = 0; // bytes of the character, or of the maximal part of one; >= 1
    bool valid = false;
};

// The character that begins at text[at]; at < text.size().
Utf8Step utf8_step(std::string_view text, std::size_t at) noexcept;

bool is_valid_utf8(std::string_view text) noexcept;

// Replaces every invalid sequence in `text` by U+FFFD; true if there was one.
bool repair_utf8(std::string& text);

} // namespace cuset
