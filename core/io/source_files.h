// The data files that a path given by a person stands for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cuset {

struct DataFile {
    std::filesystem::path path;
    std::string id; // file name, or the path inside the folder that was given
};

// `path` itself, or the source files in the folder `path` and below it, sorted by name; a folder
// without source files stands for the data files (JSON, CSV, Parquet, Arrow) directly in it. Hidden
// files and links to folders are left out. Throws Error: not_found, unreadable, limit (more than
// 1,000,000 files).
std::vector<DataFile> list_data_files(const std::filesystem::path& path);

// The suffix in lower case, with its dot.
std::string lower_suffix(const std::filesystem::path& path);

} // namespace cuset
