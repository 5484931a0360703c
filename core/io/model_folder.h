// Where a model's files are: a Hugging Face folder, a GGUF file, or org/name in the hub cache.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/safetensors_file.h"

namespace cuset {

// A folder with config.json and model.safetensors or shards with an index, mapped.
class ModelFolder {
public:
    // Reads the index and maps every shard: no weight is read. Without an index a full set of
    // numbered shards, or the only safetensors file, is taken with a warning. Links must stay in
    // the folder, its repository of the hub cache, or lead into the hub cache. Throws Error:
    // not_found (folder, config, shard: named with the tensors it should hold), bad_format,
    // bad_value (a shard name that leaves the folder, a tensor that is not where the index says),
    // unsupported (pickle checkpoints: says how to convert).
    explicit ModelFolder(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    const std::string& config_json() const { return config_json_; } // text of config.json
    const std::vector<std::string>& warnings() const { return warnings_; }
    const TensorView* find_tensor(std::string_view name) const;
    const TensorView& require_tensor(std::string_view name) const;
    std::vector<std::string> tensor_names() const; // sorted
    // Text of a small file in the folder (tokenizer.json, chat_template.jinja, ...), or nothing.
    std::optional<std::string> find_text(std::string_view file_name) const;

private:
    void add_unnamed_tensors(bool has_index);

    std::filesystem::path path_;
    std::string config_json_;
    std::vector<std::unique_ptr<SafetensorsFile>> shards_;
    std::map<std::string, const TensorView*, std::less<>> tensors_;
    std::vector<std::string> warnings_;
};

enum class ModelKind { folder, gguf };

struct ModelLocation {
    ModelKind kind = ModelKind::folder;
    std::filesystem::path path;
    std::string name; // what a person would call it
};

// Resolves a path or `org/name` (in hub_cache_folder(); refs/main names
// the snapshot; links must resolve inside that repository's folder). A folder without config.json
// that holds one GGUF model stands for it. Throws Error: not_found with what was tried, bad_format,
// bad_value, unsupported.
ModelLocation locate_model(const std::string& name_or_path);

struct CachedModel {
    std::string name;
    std::filesystem::path path;
    std::uint64_t bytes = 0;
};

// Models in the hub cache that have a config and weights, or GGUF files, sorted by name. `bytes`
// counts the weights.
std::vector<CachedModel> list_hub_models();

} // namespace cuset
