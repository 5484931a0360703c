#include "core/io/source_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/io/sample_reader.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 1'000'000;
constexpr int max_folder_depth = 64;

bool is_data_suffix(std::string_view suffix) {
    constexpr std::array<std::string_view, 8> suffixes{".jsonl", ".json",    ".ndjson", ".csv",
                                                       ".tsv",   ".parquet", ".arrow",  ".feather"};
    return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

void add_file(const fs::path& folder, const fs::path& path, std::vector<DataFile>& files) {
    if (files.size() >= max_files)
        throw Error(ErrorCode::limit, "holds more than a million files", folder.string());
    files.push_back({path, path.lexically_relative(folder).string()});
}

std::vector<DataFile> list_folder(const fs::path& folder) {
    std::vector<DataFile> sources;
    std::vector<DataFile> data;
    for (auto at = fs::recursive_directory_iterator(folder,
                                                    fs::directory_options::skip_permission_denied);
         at != fs::recursive_directory_iterator(); ++at) {
        const fs::path& path = at->path();
        std::error_code ignored; // of entries that vanish meanwhile
        const bool hidden = path.filename().native().starts_with('.');
        if (at->is_directory(ignored)) {
            if (hidden || at.depth() >= max_folder_depth)
                at.disable_recursion_pending();
            continue;
        }
        if (hidden || !at->is_regular_file(ignored))
            continue;
        const std::string suffix = lower_suffix(path);
        if (is_source_suffix(suffix))
            add_file(folder, path, sources);
        else if (at.depth() == 0 && is_data_suffix(suffix))
            add_file(folder, path, data);
    }
    return sources.empty() ? data : sources;
}

} // namespace

std::string lower_suffix(const fs::path& path) {
    std::string suffix = path.extension().string();
    for (char& c : suffix)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return suffix;
}

bool is_source_suffix(std::string_view suffix) {
    constexpr std::array<std::string_view, 12> suffixes{
        ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".hpp", ".hh", ".hxx", ".h", ".inl", ".py"};
    return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

std::vector<DataFile> list_data_files(const fs::path& path) {
    std::error_code ignored; // what is wrong with a file is found when it is opened
    if (path == "-" || !fs::is_directory(path, ignored))
        return {{path, path == "-" ? "stdin" : path.filename().string()}};
    try {
        std::vector<DataFile> files = list_folder(path);
        if (files.empty())
            throw Error(ErrorCode::not_found,
                        "the folder has no CUDA source, JSON, CSV or Parquet file", path.string());
        std::sort(files.begin(), files.end(),
                  [](const DataFile& a, const DataFile& b) { return a.path < b.path; });
        return files;
    } catch (const fs::filesystem_error& error) {
        throw Error(ErrorCode::unreadable, "cannot be listed: " + error.code().message(),
                    path.string());
    }
}

} // namespace cuset
