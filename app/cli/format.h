// How results are printed: aligned tables for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/analysis/corpus_summary.h"

namespace cuset::cli {

using Json = nlohmann::ordered_json;

// One line of JSON on standard output; bytes that are no UTF-8 become U+FFFD.
void print_json(const Json& json);

// A table with a header; the first column is aligned left, the others right. Cells hold text from
// files: control characters are made visible.
void print_table(const std::vector<std::string>& header,
                 const std::vector<std::vector<std::string>>& rows);

// "%.4f", or "-" for a value that is not there.
std::string fixed(double value, int digits = 4);
std::string percent(double share); // "81.2 %"
// The same for a value that may not be there, as of a group without tokens: null, and "\u2013".
inline Json or_null(bool there, double value) {
    return there ? Json(value) : Json();
}
std::string fixed_or_dash(const Json& value, int digits = 4);
std::string percent_or_dash(const Json& share);

Json to_json(const Moments& moments); // no mean and no deviation of nothing: null
Json to_json(const CorpusSummary& summary); // contracts.md: analyze

} // namespace cuset::cli
