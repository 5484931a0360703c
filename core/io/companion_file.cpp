#include "core/io/companion_file.h"

#include <string>

namespace cuset {

std::filesystem::path companion_file(const std::filesystem::path& data_or_scores,
                                     std::string_view suffix) {
    constexpr std::string_view score_suffix = ".scores.safetensors";
    std::error_code ignored; // what cannot be looked up is not there
    std::filesystem::path path = data_or_scores.lexically_normal();
    if (!path.has_filename()) // "folder/"
        path = path.parent_path();
    std::string name = path.filename().string();
    const bool scores = name.ends_with(score_suffix);
    if (scores)
        name.resize(name.size() - score_suffix.size());
    else if (!std::filesystem::is_directory(path, ignored))
        name = path.stem().string();
    const std::filesystem::path beside = path.parent_path() / (name + std::string(suffix));
    const std::size_t dot = name.rfind('.');
    if (!scores || dot == std::string::npos || dot == 0 || std::filesystem::exists(beside, ignored))
        return beside;
    const std::filesystem::path shared =
        path.parent_path() / (name.substr(0, dot) + std::string(suffix));
    return std::filesystem::exists(shared, ignored) ? shared : beside;
}

} // namespace cuset
