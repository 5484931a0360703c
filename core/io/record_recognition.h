// Makes a sample of one record of a data file: finds out by its fields which of the known layouts
// it has.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/data/sample.h"
#include "core/io/sample_reader.h"

namespace cuset {

// The record's prompt, response, turns, tools, prepared ids and id ("" if it has none).
// Throws Error(bad_value) with the reason why the record cannot be used.
Sample sample_from_record(const nlohmann::json& record, const ReadOptions& options);

// True if the record passes options.filters.
bool passes_filters(const nlohmann::json& record, const ReadOptions& options);

// The benchmark whose test set the record's fields are those of, or "".
std::string benchmark_of_record(const nlohmann::json& record);

} // namespace cuset
