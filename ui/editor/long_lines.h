// LongLines: which part of an overlong line is marked. Scintilla draws every mark of a line in
// sight, however far to the right, so a line of a megabyte with a mark a token would take seconds
// to paint. Only what is around the visible columns is marked there.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/byte_span.h"

namespace cuset {

class LongLines {
public:
    static constexpr int longest = 16384; // bytes of a line that is marked as a whole

    LongLines() = default;
    explicit LongLines(std::string_view text);

    bool any() const { return !lines_.empty(); }
    // The first visible column. True if other parts are marked now.
    bool moveTo(int column);
    // True if marks of that stretch are drawn.
    bool marks(ByteSpan span) const;

private:
    std::vector<ByteSpan> lines_; // the overlong ones, in order
    int column_ = 0;
};

} // namespace cuset
