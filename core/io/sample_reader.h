// Reads prompt/response samples from the data files people have: JSON, JSON Lines (whatever the
// suffix says), CSV, Parquet and Arrow (where built in), CUDA source files and folders of them.
// Records are recognised by their fields.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/run_control.h"
#include "core/data/sample.h"

namespace cuset {

struct ReadOptions {
    std::string
        prompt_field; // names another field for the prompt ("" = by recognition); a name that is no
    std::string response_field; // field and has dots leads through objects: extra_info.question
    std::string prompt; // of plain source files; "": the text file beside each, if there is one
    std::string dataset = {}; // the one to read of a dataset_info.json ("": all of them)
    // Each assistant turn that is to be trained becomes a sample, the turns before it its prompt;
    // else only the last.
    bool every_turn = false;
    bool strict = false; // throw at the first bad record instead of listing it
    // Field -> value: records where one of them has another value are left out. Values are compared
    // as text, ignoring case, so that "true" is JSON's true and a CSV file's True.
    std::map<std::string, std::string> filters = {};

    friend bool operator==(const ReadOptions&, const ReadOptions&) = default;
};

// Reads all `paths` in order ("-" is standard input). A sample's id is the record's `id`, else file
// name and line; an id that occurs again gets "#2", "#3", ... . Bad records are listed in the
// result. A record may take 16 MiB and nest 128 levels. Throws Error: not_found, unreadable,
// unsupported (compressed; Parquet and Arrow in a build without them), bad_format (a data file with
// no usable record, or any bad record when strict), limit (more than 100,000 bad records),
// bad_value (no record passes the filters); Cancelled.
Dataset read_samples(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     RunControl& control);

// True for the suffixes of files that are read as one response each: .cu, .cuh, .cpp, .h, ...
bool is_source_suffix(std::string_view suffix);

} // namespace cuset
