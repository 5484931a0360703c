#include "core/io/model_path.h"

#include <algorithm>
#include <system_error>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/hub_cache.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& path, const fs::path& folder) {
    const auto [folder_at, path_at] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return folder_at == folder.end();
}

} // namespace

std::optional<fs::path> find_model_file(const fs::path& folder, const std::string& name) {
    const fs::path path = folder / name;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!fs::exists(status))
        return std::nullopt;
    if (!fs::is_symlink(status))
        return path;
    const fs::path real = fs::canonical(path, error);
    if (error)
        throw Error(ErrorCode::not_found,
                    "is a link to " + printable(fs::read_symlink(path, error).string())
                        + ", which is not there (an incomplete download?)",
                    path.string());
    if (lies_in(real, fs::weakly_canonical(folder, error)))
        return path;
    const fs::path hub = fs::weakly_canonical(hub_cache_folder(), error);
    const fs::path repository = hub_repository_of(fs::weakly_canonical(folder, error));
    if (repository.empty() ? lies_in(real, hub) : lies_in(real, repository))
        return path;
    throw Error(ErrorCode::bad_value,
                "is a link that leaves the model's folder, to " + printable(real.string())
                    + " (put the file itself there if that is what you want)",
                path.string());
}

std::vector<std::string> files_ending_with(const fs::path& folder,
                                           const std::vector<std::string>& endings) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        const auto ends = [&](const std::string& ending) { return name.ends_with(ending); };
        if (std::ranges::any_of(endings, ends) && !name.starts_with('.'))
            names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

std::string pickle_refusal(const std::string& name, const fs::path& folder) {
    return printable(name)
        + " is a pickle checkpoint, which may run code when loaded and is not read. Convert it in "
          "Python: `from transformers import AutoModelForCausalLM; "
          "AutoModelForCausalLM.from_pretrained('"
        + printable(folder.string()) + "').save_pretrained('NEW_FOLDER')`";
}

std::vector<std::string> gguf_models_in(const fs::path& folder) {
    std::vector<std::string> names = files_ending_with(folder, {".gguf"});
    std::erase_if(names, [](const std::string& name) {
        const std::size_t of = name.rfind("-of-");
        return of != std::string::npos && of >= 6 && name[of - 6] == '-'
            && name.compare(of - 5, 5, "00001") != 0;
    });
    return names;
}

} // namespace cuset
