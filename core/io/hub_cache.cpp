#include "core/io/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/model_folder.h"
#include "core/io/model_path.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder_prefix = "models--";

// The value of an environment variable as a path, `~` expanded as the hub's own library does; "" if
// unset.
fs::path environment_path(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0')
        return {};
    const std::string text = value;
    const char* home = std::getenv("HOME");
    if (home != nullptr && (text == "~" || text.starts_with("~/")))
        return home + text.substr(1);
    return text;
}

std::string repository_folder(const std::string& name) {
    std::string folder(folder_prefix);
    for (const char c : name)
        folder += c == '/' ? std::string("--") : std::string(1, c);
    return folder;
}

bool is_commit_name(const std::string& name) {
    return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
}

// The commit in refs/main, or "" if there is no such ref.
std::string main_commit(const fs::path& repository) {
    const fs::path ref = repository / "refs" / "main";
    std::error_code ignored;
    if (!fs::is_regular_file(ref, ignored))
        return {};
    std::string commit = read_file(ref, 4096);
    commit.erase(std::find_if(commit.begin(), commit.end(),
                              [](char c) { return c == '\n' || c == '\r' || c == ' '; }),
                 commit.end());
    if (!is_commit_name(commit))
        throw Error(ErrorCode::bad_value,
                    "names `" + printable(commit, 80) + "`, which is not a commit", ref.string());
    return commit;
}

std::vector<fs::path> snapshots_of(const fs::path& repository) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(repository / "snapshots", error), end; !error && at != end;
         at.increment(error)) {
        if (at->is_directory(error))
            found.push_back(at->path());
    }
    return found;
}

std::uint64_t weight_bytes(const fs::path& folder, const std::vector<std::string>& names) {
    std::uint64_t total = 0;
    for (const std::string& name : names) {
        std::error_code error;
        const std::uintmax_t size = fs::file_size(folder / name, error);
        total += error ? 0 : size;
    }
    return total;
}

// What a repository folder of the cache offers, or nothing if that is no model we can open.
std::optional<CachedModel> cached_model(const fs::path& repository) {
    const std::string name = hub_name_of(repository.filename().string());
    if (name.empty())
        return std::nullopt;
    try {
        const std::optional<fs::path> snapshot = find_hub_snapshot(name);
        if (!snapshot)
            return std::nullopt;
        std::error_code ignored;
        const bool has_config = fs::exists(*snapshot / "config.json", ignored);
        std::vector<std::string> weights = has_config
            ? files_ending_with(*snapshot, {".safetensors"})
            : std::vector<std::string>();
        if (weights.empty())
            weights = files_ending_with(*snapshot, {".gguf"});
        const std::uint64_t bytes = weight_bytes(*snapshot, weights);
        if (bytes == 0)
            return std::nullopt;
        return CachedModel{name, *snapshot, bytes};
    } catch (const Error&) {
        return std::nullopt; // a damaged entry is no reason to hide the others
    }
}

} // namespace

fs::path hub_cache_folder() {
    if (const fs::path hub = environment_path("HF_HUB_CACHE"); !hub.empty())
        return hub;
    if (const fs::path home = environment_path("HF_HOME"); !home.empty())
        return home / "hub";
    if (const fs::path cache = environment_path("XDG_CACHE_HOME"); !cache.empty())
        return cache / "huggingface" / "hub";
    return environment_path("HOME") / ".cache" / "huggingface" / "hub";
}

bool is_hub_name(const std::string& name) {
    const auto allowed = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
            || c == '-' || c == '_' || c == '.' || c == '/';
    };
    return !name.empty() && name.size() <= 200 && std::ranges::all_of(name, allowed)
        && std::ranges::count(name, '/') <= 1 && name.front() != '/' && name.back() != '/'
        && name.front() != '.' && name.find("..") == std::string::npos
        && name.find("/.") == std::string::npos && name.find("--") == std::string::npos;
}

std::optional<fs::path> find_hub_snapshot(const std::string& name) {
    const fs::path repository = hub_cache_folder() / repository_folder(name);
    std::error_code error;
    if (!is_hub_name(name) || !fs::is_directory(repository, error))
        return std::nullopt;
    fs::path snapshot;
    if (const std::string commit = main_commit(repository); !commit.empty())
        snapshot = repository / "snapshots" / commit;
    else if (const std::vector<fs::path> all = snapshots_of(repository); all.size() == 1)
        snapshot = all.front();
    if (snapshot.empty() || !fs::is_directory(snapshot, error))
        throw Error(ErrorCode::not_found,
                    snapshot.empty() ? "refs/main is not there and it has not exactly one snapshot"
                                     : "snapshot " + snapshot.filename().string()
                            + ", which refs/main names, is not there (an incomplete download?)",
                    repository.string());
    const fs::path real = fs::canonical(snapshot, error);
    if (error || hub_repository_of(real) != fs::canonical(repository, error))
        throw Error(ErrorCode::bad_value, "is a link that leaves its repository's folder",
                    snapshot.string());
    return snapshot;
}

fs::path hub_repository_of(const fs::path& folder) {
    const fs::path snapshots = folder.parent_path();
    const fs::path repository = snapshots.parent_path();
    const bool is_snapshot = snapshots.filename() == "snapshots"
        && repository.filename().string().starts_with(folder_prefix);
    return is_snapshot ? repository : fs::path();
}

std::string hub_name_of(const std::string& folder) {
    if (!folder.starts_with(folder_prefix))
        return {};
    std::string name = folder.substr(folder_prefix.size());
    if (const std::size_t at = name.find("--"); at != std::string::npos)
        name.replace(at, 2, "/");
    return is_hub_name(name) ? name : std::string();
}

std::vector<CachedModel> list_hub_models() {
    std::vector<CachedModel> models;
    std::error_code error;
    for (fs::directory_iterator at(hub_cache_folder(), error), end; !error && at != end;
         at.increment(error)) {
        if (std::optional<CachedModel> model = cached_model(at->path()))
            models.push_back(std::move(*model));
    }
    std::ranges::sort(models, {}, &CachedModel::name);
    return models;
}

} // namespace cuset
