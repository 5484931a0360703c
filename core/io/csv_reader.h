// Comma-separated values, RFC 4180: quoted fields may hold separators, line ends and doubled
// quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/io/json_lines.h"
#include "core/io/text_source.h"

namespace cuset {

struct CsvRow {
    std::vector<std::string> fields;
    std::int64_t line = 0; // where the row begins, from 1
    std::string fault = {}; // why the row cannot be used, or ""
};

class CsvReader {
public:
    // `separator` 0: the one of , ; and tab that occurs most often in the first line.
    explicit CsvReader(TextSource& source, char separator = 0,
                       std::size_t max_bytes = max_record_bytes)
        : source_(source)
        , separator_(separator)
        , max_bytes_(max_bytes) { }

    // The next row that is not blank, or nothing at the end. Throws what TextSource::fill throws.
    std::optional<CsvRow> next();

private:
    enum class State { field_start, plain, quoted, quote_in_quoted };

    void choose_separator();
    bool take(char c, CsvRow& row);
    void end_field(CsvRow& row);

    TextSource& source_;
    char separator_;
    std::size_t max_bytes_;
    std::int64_t line_ = 1;
    State state_ = State::field_start;
    std::string field_;
    std::size_t row_bytes_ = 0;
};

} // namespace cuset
