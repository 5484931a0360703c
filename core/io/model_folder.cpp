#include "core/io/model_folder.h"

#include <span>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/foreign_content.h"
#include "core/io/model_path.h"
#include "core/io/weight_files.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_config_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t max_text_bytes = std::uint64_t{256} << 20; // tokenizer.json reaches 35 MB

std::string read_text(const fs::path& path, std::uint64_t max_bytes) {
    std::string text = read_file(path, max_bytes);
    const std::string foreign = explain_foreign_content(std::as_bytes(std::span(text)));
    if (!foreign.empty())
        throw Error(ErrorCode::bad_format, foreign, path.string());
    return text;
}

void require_folder(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error))
        throw Error(ErrorCode::not_found, "no such folder", path.string());
    if (!fs::is_directory(path, error))
        throw Error(ErrorCode::bad_value, "is a file, a model folder is needed", path.string());
}

[[noreturn]] void throw_no_config(const fs::path& folder) {
    std::error_code error;
    if (fs::exists(folder / "adapter_config.json", error))
        throw Error(ErrorCode::not_found,
                    "is a LoRA adapter, not a model: name its base model and add it with --adapter",
                    folder.string());
    const std::vector<std::string> ggufs = gguf_models_in(folder);
    throw Error(ErrorCode::not_found,
                "no config.json in it"
                    + (ggufs.empty()
                           ? std::string(" (a model folder holds config.json and "
                                         "model.safetensors)")
                           : "; it holds " + printable(ggufs.front()) + ", open that file instead"),
                folder.string());
}

} // namespace

ModelFolder::ModelFolder(const fs::path& path)
    : path_(path) {
    require_folder(path);
    const std::optional<fs::path> config = find_model_file(path, "config.json");
    if (!config)
        throw_no_config(path);
    config_json_ = read_text(*config, max_config_bytes);
    const WeightFiles files = find_weight_files(path);
    warnings_ = files.warnings;
    std::map<std::string, const SafetensorsFile*, std::less<>> by_name;
    for (const std::string& name : files.names) {
        shards_.push_back(std::make_unique<SafetensorsFile>(path / name));
        by_name[name] = shards_.back().get();
    }
    check_homes(files, by_name, path);
    for (const auto& [tensor, shard] : files.homes)
        tensors_[tensor] = by_name.find(shard)->second->find_tensor(tensor);
    add_unnamed_tensors(!files.homes.empty());
}

// Tensors that no index mentions: all of them if there is no index, else leftovers.
void ModelFolder::add_unnamed_tensors(bool has_index) {
    std::int64_t unnamed = 0;
    for (const std::unique_ptr<SafetensorsFile>& shard : shards_) {
        for (const auto& [name, tensor] : shard->tensors()) {
            const bool added = tensors_.emplace(name, &tensor).second;
            if (!has_index && !added)
                throw Error(ErrorCode::bad_value,
                            "the tensor `" + printable(name) + "` is in another shard too",
                            shard->path().string());
            unnamed += added ? 1 : 0;
        }
    }
    if (has_index && unnamed > 0)
        warnings_.push_back(format_count(unnamed)
                            + " tensors of the shards are not in model.safetensors.index.json");
}

const TensorView* ModelFolder::find_tensor(std::string_view name) const {
    const auto at = tensors_.find(name);
    return at == tensors_.end() ? nullptr : at->second;
}

const TensorView& ModelFolder::require_tensor(std::string_view name) const {
    if (const TensorView* tensor = find_tensor(name))
        return *tensor;
    throw Error(ErrorCode::not_found,
                "no tensor `" + printable(name) + "` among its "
                    + format_count(static_cast<std::int64_t>(tensors_.size())),
                path_.string());
}

std::vector<std::string> ModelFolder::tensor_names() const {
    std::vector<std::string> names;
    names.reserve(tensors_.size());
    for (const auto& [name, tensor] : tensors_)
        names.push_back(name);
    return names;
}

std::optional<std::string> ModelFolder::find_text(std::string_view file_name) const {
    const std::optional<fs::path> path = find_model_file(path_, std::string(file_name));
    return path ? std::optional(read_text(*path, max_text_bytes)) : std::nullopt;
}

} // namespace cuset
