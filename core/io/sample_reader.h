// Reads prompt/response samples from the data files people have: JSON, JSON Lines (whatever the suffix says),
// CSV, CUDA source files and folders of them. Records are recognised by their fields.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/data/sample.h"

namespace cuset {

struct ReadOptions {
    std::string prompt_field;   // names another field for the prompt ("" = by recognition)
    std::string response_field;
    std::string prompt;         // the prompt of plain source files
    bool strict = false;        // throw at the first bad record instead of listing it
};

// Reads all `paths` in order ("-" is standard input). A sample's id is the record's `id`, else file name and
// line. Bad records are listed in the result. Throws Error: not_found, unreadable, bad_format (a file with no
// usable record, or any bad record when strict).
Dataset read_samples(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     RunControl& control);

} // namespace cuset
