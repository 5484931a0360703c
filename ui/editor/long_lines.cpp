#include "ui/editor/long_lines.h"

#include <algorithm>
#include <cstdlib>

namespace cuset {

LongLines::LongLines(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (end - begin > static_cast<std::size_t>(longest))
            lines_.push_back({static_cast<int>(begin), static_cast<int>(end)});
        begin = end + 1;
    }
}

bool LongLines::moveTo(int column) {
    if (!any() || std::abs(column - column_) < longest / 4)
        return false;
    column_ = column;
    return true;
}

bool LongLines::marks(ByteSpan span) const {
    const auto line = std::ranges::upper_bound(lines_, span.begin, {}, &ByteSpan::end);
    if (line == lines_.end() || !line->overlaps(span))
        return true;
    const int middle = line->begin + column_;
    return ByteSpan{middle - longest / 2, middle + longest / 2}.overlaps(span);
}

} // namespace cuset
