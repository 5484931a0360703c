// Rows of Parquet files, Arrow files and Arrow streams as JSON records. Apache Arrow is an optional
// component of the build: its reader is a module of its own, loaded when the first such file is
// opened, so that nobody else waits for Arrow's libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cuset {

enum class ColumnarFormat { parquet, arrow_file, arrow_stream };

// The format that the first bytes of a file are those of, or none.
std::optional<ColumnarFormat> columnar_format(std::string_view start);

struct ColumnarRow {
    nlohmann::json record; // an object: column name -> value; dates, decimals and the like as text
    bool repaired = false; // held invalid UTF-8, replaced by U+FFFD
    bool too_long = false; // its text and lists exceed the limit; `record` is empty
};

class ColumnarRows {
public:
    virtual ~ColumnarRows() = default;
    virtual std::int64_t row_count() const = 0; // 0 when not known (a stream)
    // The next row, or nothing at the end. Throws Error(bad_format) where the file is damaged.
    virtual std::optional<ColumnarRow> next() = 0;
};

// Opens `path`. A row of more than `max_bytes` is skipped as too long. Throws Error: unsupported
// (built without Arrow, or its module cannot be loaded), bad_format.
std::unique_ptr<ColumnarRows> open_columnar(const std::filesystem::path& path,
                                            ColumnarFormat format, std::size_t max_bytes);

// True if this build can read such files: the module is beside the program.
bool has_columnar_reader();

} // namespace cuset
