// ByteSpan: a stretch of UTF-8 text.
#pragma once

#include <cstdint>

namespace cuset {

// Half-open range [begin, end) of byte offsets into a text.
struct ByteSpan {
    std::int32_t begin = 0;
    std::int32_t end = 0;

    std::int32_t size() const { return end - begin; }
    bool empty() const { return end <= begin; }
    bool contains(std::int32_t offset) const { return begin <= offset && offset < end; }
    // True if the two share at least one byte.
    bool overlaps(ByteSpan other) const {
        return begin < other.end && other.begin < end && !empty() && !other.empty();
    }
    friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
};

} // namespace cuset
