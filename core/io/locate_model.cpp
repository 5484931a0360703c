#include <algorithm>
#include <system_error>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/hub_cache.h"
#include "core/io/mapped_file.h"
#include "core/io/model_folder.h"
#include "core/io/model_path.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

std::string folder_name(const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (const fs::path repository = hub_repository_of(real); !repository.empty())
        return hub_name_of(repository.filename().string());
    return (error ? folder : real).filename().string();
}

ModelLocation locate_in_folder(const fs::path& folder, const std::string& name) {
    std::error_code error;
    // A folder with an adapter or nothing at all is for ModelFolder to explain.
    const std::vector<std::string> ggufs = gguf_models_in(folder);
    if (fs::exists(folder / "config.json", error) || ggufs.empty())
        return {ModelKind::folder, folder, name};
    if (ggufs.size() == 1)
        return {ModelKind::gguf, folder / ggufs.front(), fs::path(ggufs.front()).stem().string()};
    std::string list;
    for (const std::string& gguf : ggufs)
        list += (list.empty() ? "" : ", ") + printable(gguf, 80);
    throw Error(ErrorCode::bad_value,
                "holds several GGUF files, name one of them: " + printable(list, 400),
                folder.string());
}

ModelLocation locate_file(const fs::path& path) {
    const std::string ending = path.extension().string();
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (path.filename() == "config.json" || ending == ".safetensors"
        || path.filename().string().ends_with(".safetensors.index.json"))
        return {ModelKind::folder, folder, folder_name(folder)};
    for (const char* pickle : {".bin", ".pt", ".pth", ".ckpt"}) {
        if (ending == pickle)
            throw Error(ErrorCode::unsupported, pickle_refusal(path.filename().string(), folder),
                        path.string());
    }
    const MappedFile file(path);
    const std::string_view begin(reinterpret_cast<const char*>(file.bytes().data()),
                                 std::min<std::size_t>(file.bytes().size(), 4));
    // Whatever is wrong with a .gguf file its reader explains better.
    if (ending == ".gguf" || begin == "GGUF")
        return {ModelKind::gguf, path, path.stem().string()};
    throw Error(ErrorCode::bad_format,
                "is neither a model folder nor a GGUF file (name the folder that holds config.json "
                "and model.safetensors)",
                path.string());
}

[[noreturn]] void throw_not_located(const std::string& name) {
    std::string text = "no such file or folder";
    if (is_hub_name(name)) {
        text += ", and no model of that name in the hub cache "
            + printable(hub_cache_folder().string());
        std::vector<std::string> names;
        for (const CachedModel& model : list_hub_models())
            names.push_back(model.name);
        const std::string near = nearest_name(name, names.data(), names.size());
        text += near.empty() ? " (download it with `hf download " + name + "`)"
                             : " (did you mean " + near + "?)";
    }
    throw Error(ErrorCode::not_found, text, printable(name));
}

} // namespace

ModelLocation locate_model(const std::string& name_or_path) {
    if (name_or_path.empty())
        throw Error(ErrorCode::not_found, "no model was named");
    const fs::path path(name_or_path);
    std::error_code error;
    if (fs::is_directory(path, error)) {
        // The repository's folder of a cached model stands for its snapshot.
        const fs::path real = fs::canonical(path, error);
        const std::string name = hub_name_of(real.filename().string());
        if (!name.empty() && fs::equivalent(real.parent_path(), hub_cache_folder(), error))
            return locate_model(name);
        return locate_in_folder(path, folder_name(path));
    }
    if (fs::symlink_status(path, error).type() != fs::file_type::not_found
        && fs::symlink_status(path, error).type() != fs::file_type::none)
        return locate_file(path);
    if (const std::optional<fs::path> snapshot = find_hub_snapshot(name_or_path))
        return locate_in_folder(*snapshot, name_or_path);
    throw_not_located(name_or_path);
}

} // namespace cuset
