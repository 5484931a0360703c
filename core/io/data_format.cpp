#include "core/io/data_format.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/io/columnar_file.h"
#include "core/io/json_lines.h"
#include "core/io/sample_reader.h"

namespace cuset {
namespace {

constexpr std::size_t first_bytes = 4096;

void refuse_foreign(std::string_view start, const std::string& name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> magics{{
        {"\x1f\x8b", "gzip"},
        {"PK\x03\x04", "a zip archive"},
        {"\x28\xb5\x2f\xfd", "zstd"},
    }};
    for (const auto& [magic, what] : magics)
        if (start.starts_with(magic))
            throw Error(ErrorCode::unsupported,
                        "is " + std::string(what) + ", not a data file: unpack it first", name);
    if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff"))
        throw Error(ErrorCode::bad_format, "is UTF-16, needs UTF-8", name);
}

// How far brackets and strings are open at the end of a line of JSON.
struct OpenState {
    std::int64_t depth = 0;
    bool in_string = false;

    bool complete() const { return depth <= 0 && !in_string; }
};

OpenState scan_line(std::string_view line) {
    OpenState state;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (state.in_string) {
            i += c == '\\';
            state.in_string = c != '"';
        } else {
            state.in_string = c == '"';
            state.depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        }
    }
    return state;
}

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin == std::string_view::npos
        ? std::string_view()
        : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// JSON Lines, or one value over several lines? Decided so that a broken first line of JSON Lines
// does not swallow the lines after it.
bool is_json_lines(TextSource& source) {
    std::array<std::string_view, 2> lines;
    for (std::size_t wanted = first_bytes; wanted <= max_record_bytes; wanted *= 4) {
        const std::string_view text = source.peek(wanted);
        lines = {};
        std::size_t found = 0;
        std::size_t begin = 0;
        while (found < lines.size() && begin < text.size()) {
            const std::size_t end = text.find('\n', begin);
            const bool ended = end != std::string_view::npos || text.size() < wanted;
            const std::string_view line = text.substr(begin, end - begin);
            if (ended && !trim(line).empty())
                lines[found++] = line;
            begin = end == std::string_view::npos ? text.size() : end + 1;
        }
        if (found == lines.size() || text.size() < wanted)
            break;
    }
    const std::string_view first = trim(lines[0]);
    const OpenState state = scan_line(first);
    if (first.empty() || state.complete() || state.in_string)
        return true; // no JSON string holds a line end
    const std::string_view second = lines[1];
    return second.starts_with('{') && trim(second).ends_with('}')
        && scan_line(trim(second)).complete()
        && std::string_view("{[,:").find(first.back()) == std::string_view::npos;
}

} // namespace

DataFormat find_data_format(TextSource& source, const std::string& suffix) {
    if (source.peek(first_bytes).starts_with("\xef\xbb\xbf"))
        source.consume(3);
    const std::string_view start = source.pending();
    if (is_source_suffix(suffix))
        return DataFormat::source;
    if (start.empty())
        throw Error(ErrorCode::bad_format, "is empty, needs samples", source.name());
    if (columnar_format(start))
        return DataFormat::columnar;
    refuse_foreign(start, source.name());
    if (suffix == ".csv" || suffix == ".tsv")
        return DataFormat::csv;
    const std::size_t begin = start.find_first_not_of(" \t\r\n");
    const char first = begin == std::string_view::npos ? ' ' : start[begin];
    if (first == '[')
        return DataFormat::json_document;
    if (first == '{')
        return is_json_lines(source) ? DataFormat::json_lines : DataFormat::json_document;
    if (suffix == ".jsonl" || suffix == ".ndjson")
        return DataFormat::json_lines; // its first line may be the only broken one
    if (suffix == ".json")
        throw Error(ErrorCode::bad_format, "is not JSON: must begin with { or [", source.name());
    if (start.substr(0, first_bytes).find('\0') != std::string_view::npos)
        throw Error(ErrorCode::bad_format, "is binary, needs JSON, CSV or source text",
                    source.name());
    return DataFormat::source;
}

} // namespace cuset
