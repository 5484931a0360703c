// Files that stand beside data and carry its name: NAME.labels.json, NAME.notes.json.
#pragma once

#include <filesystem>
#include <string_view>

namespace cuset {

// NAME + `suffix` beside a data file, a folder of data, or NAME.scores.safetensors. Scores of
// several models of one data set (NAME.MODEL.scores.safetensors) share the data's file: if only
// that exists, it is meant.
std::filesystem::path companion_file(const std::filesystem::path& data_or_scores,
                                     std::string_view suffix);

} // namespace cuset
