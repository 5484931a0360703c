// The first records of data files as a table, for a person who says what their fields mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/io/sample_reader.h"

namespace cuset {

struct DataPreview {
    std::string format; // of the first file: "JSON Lines", "CSV", "Parquet", ...
    std::vector<std::string> columns; // fields in the order in which they turn up
    std::vector<std::int64_t> lines; // where each row stands
    // A row holds a text for each column that was known when it was read; values that are no text
    // as JSON, a field that is not there as "". Cut at `cell_bytes`, at a character's end.
    std::vector<std::vector<std::string>> rows;

    // Row and column's text; "" past the row's end.
    const std::string& cell(std::size_t row, std::size_t column) const;
};

// Reads at most `row_count` records of `paths`. Fields, filters and response of `options` are not
// applied. A source file is a row with the columns prompt and response. Throws as read_samples.
DataPreview preview_data(const std::vector<std::filesystem::path>& paths,
                         const ReadOptions& options, std::size_t row_count, std::size_t cell_bytes,
                         RunControl& control);

} // namespace cuset
