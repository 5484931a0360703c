// Files inside a model's folder, checked not to lie elsewhere. Used by ModelFolder and the hub
// cache.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cuset {

// folder / name if such a file is there, else nothing. Throws Error(bad_value) if it is a link that
// leads out of the folder (for a snapshot of the hub cache: out of its repository's folder; links
// into the hub cache are well), and Error(not_found) if it is a link to nothing.
std::optional<std::filesystem::path> find_model_file(const std::filesystem::path& folder,
                                                     const std::string& name);

// Names of the files in a folder that end with one of `endings`, sorted.
std::vector<std::string> files_ending_with(const std::filesystem::path& folder,
                                           const std::vector<std::string>& endings);

// "NAME is a pickle checkpoint ...": why, and how to convert the model in `folder`.
std::string pickle_refusal(const std::string& name, const std::filesystem::path& folder);

// The GGUF files of a folder as models: a split model counts once, by its first part. Sorted.
std::vector<std::string> gguf_models_in(const std::filesystem::path& folder);

} // namespace cuset
