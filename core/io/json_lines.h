// Lines of a text, for JSON Lines (https://jsonlines.org) and its kin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/io/text_source.h"

namespace cuset {

// The longest record that readers of data files accept, in bytes.
inline constexpr std::size_t max_record_bytes = std::size_t{16} << 20;

struct TextLine {
    std::string_view text; // without its line end (LF or CR LF); empty if too_long
    std::int64_t number = 0; // from 1
    bool too_long = false; // longer than the limit: skipped, not kept in memory
};

class LineReader {
public:
    explicit LineReader(TextSource& source, std::size_t max_bytes = max_record_bytes)
        : source_(source)
        , max_bytes_(max_bytes) { }

    // The next line, or nothing at the end. Its text stays valid until the next call. A last line
    // without a line end counts. Throws what TextSource::fill throws.
    std::optional<TextLine> next();

private:
    TextLine skip_long_line();

    TextSource& source_;
    std::size_t max_bytes_;
    std::size_t taken_ = 0; // bytes of the line handed out last, its line end included
    std::int64_t number_ = 0;
};

} // namespace cuset
