// AlignedText: text that was rewritten, and the place in the source that each of its byte borders
// came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuset {

// A stretch of aligned text. Without `origin` the text is a piece of the source itself, beginning
// at `base`.
struct AlignedView {
    std::string_view text;
    const std::int32_t* origin = nullptr; // [text.size() + 1], never decreasing
    std::int32_t base = 0;

    // Byte offset in the source of the border before byte `offset` of the text; offset in [0,
    // text.size()].
    std::int32_t source(std::size_t offset) const {
        return origin != nullptr ? origin[offset] : base + static_cast<std::int32_t>(offset);
    }
    // The bytes [begin, end) of this view.
    AlignedView slice(std::size_t begin, std::size_t end) const {
        return {text.substr(begin, end - begin), origin != nullptr ? origin + begin : nullptr,
                base + static_cast<std::int32_t>(begin)};
    }
};

// Owns rewritten text; built from left to right.
class AlignedText {
public:
    void reserve(std::size_t bytes) {
        text_.reserve(bytes);
        origin_.reserve(bytes + 1);
    }
    // Appends `bytes` that stand for the source's [begin, end); the borders inside are spread
    // evenly, so equal lengths map byte to byte. `begin` is not below any earlier place.
    void append(std::string_view bytes, std::int32_t begin, std::int32_t end);
    // Appends a view as it stands.
    void append(AlignedView view);
    // Closes the text: `end` is the source place after its last byte. Call once, after the last
    // append.
    void finish(std::int32_t end) { origin_.push_back(end); }

    std::size_t size() const { return text_.size(); }
    // Valid after finish(), until this object changes or moves.
    AlignedView view() const { return {text_, origin_.data(), 0}; }

private:
    std::string text_;
    std::vector<std::int32_t> origin_;
};

} // namespace cuset
