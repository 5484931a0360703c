// The values of a JSON document one by one: the elements of a top-level array, or values one after
// another. A broken or over-long value does not hide those after it, as far as brackets and quotes
// let us see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/io/json_lines.h"
#include "core/io/text_source.h"

namespace cuset {

struct JsonPiece {
    std::string_view text;
    std::int64_t line = 0; // where the value begins, from 1
    bool too_long = false; // skipped, `text` is empty
};

class JsonPieceReader {
public:
    explicit JsonPieceReader(TextSource& source, std::size_t max_bytes = max_record_bytes)
        : source_(source)
        , max_bytes_(max_bytes) { }

    // The next value's text (not yet parsed; cut off if the input is), or nothing at the end. Valid
    // until the next call. Throws what TextSource::fill throws.
    std::optional<JsonPiece> next();

private:
    bool skip_between();
    bool value_ends(char c);

    TextSource& source_;
    std::size_t max_bytes_;
    std::size_t taken_ = 0;
    std::int64_t line_ = 1;
    bool begun_ = false;
    bool in_array_ = false;
    std::int64_t depth_ = 0;
    bool in_string_ = false;
    bool escaped_ = false;
};

} // namespace cuset
