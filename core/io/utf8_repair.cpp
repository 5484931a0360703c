#include "core/io/utf8_repair.h"

#include <cstdint>
#include <cstring>

namespace cuset {

Utf8Step utf8_step(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80)
        return {1, true};
    // The second byte's range rules out overlong forms, surrogates and what lies above U+10FFFF
    // (table 3-7).
    std::size_t size = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        size = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        size = 3;
        low = first == 0xE0 ? 0xA0 : low;
        high = first == 0xED ? 0x9F : high;
    } else if (first >= 0xF0 && first <= 0xF4) {
        size = 4;
        low = first == 0xF0 ? 0x90 : low;
        high = first == 0xF4 ? 0x8F : high;
    } else {
        return {1, false};
    }
    for (std::size_t i = 1; i < size; ++i) {
        if (at + i >= text.size() || byte(at + i) < low || byte(at + i) > high)
            return {i, false};
        low = 0x80;
        high = 0xBF;
    }
    return {size, true};
}

bool is_valid_utf8(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        // Eight ASCII bytes at once: nearly all of source code is.
        std::uint64_t eight = 0;
        if (text.size() - at >= sizeof eight) {
            std::memcpy(&eight, text.data() + at, sizeof eight);
            if ((eight & 0x8080808080808080u) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        const Utf8Step step = utf8_step(text, at);
        if (!step.valid)
            return false;
        at += step.size;
    }
    return true;
}

bool repair_utf8(std::string& text) {
    if (is_valid_utf8(text))
        return false;
    std::string repaired;
    std::size_t kept = 0; // text before this is in `repaired`, once something was replaced
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Step step = utf8_step(text, at);
        if (!step.valid) {
            repaired.append(text, kept, at - kept).append(replacement_utf8);
            kept = at + step.size;
        }
        at += step.size;
    }
    text = repaired.append(text, kept);
    return true;
}

} // namespace cuset
