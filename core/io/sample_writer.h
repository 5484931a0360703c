// Adds a sample to a JSON Lines file of samples.
#pragma once

#include <filesystem>
#include <string>

#include "core/data/sample.h"

namespace cuset {

// Appends one record: `prompt` and `response`, or the conversation if the sample has one. The file
// is made if it is not there; what it holds stays byte for byte, and a crash leaves the old file.
// An empty id becomes "generated-" and eight digits of the text's SHA-256. Returns the id. Throws
// Error: usage (another kind of file), bad_value (the id is in the file already), limit (larger
// than 1 GiB), disk.
std::string append_sample(const std::filesystem::path& path, const Sample& sample);

} // namespace cuset
