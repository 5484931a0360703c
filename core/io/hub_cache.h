// The Hugging Face hub cache: HUB/models--ORG--NAME/{refs/main, snapshots/COMMIT/..., blobs/...}.
// https://huggingface.co/docs/huggingface_hub/guides/manage-cache
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cuset {

// HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else
// ~/.cache/huggingface/hub. Need not exist.
std::filesystem::path hub_cache_folder();

// True for `name` and `org/name` as the hub allows them: letters, digits, '-', '_', '.'.
bool is_hub_name(const std::string& name);

// The snapshot that refs/main names (without it: the only one), or nothing if the cache has no such
// model. Throws Error: bad_value (a ref that is a path, a snapshot outside the repository),
// not_found (no complete snapshot).
std::optional<std::filesystem::path> find_hub_snapshot(const std::string& name);

// models--ORG--NAME above a snapshot's folder, or "" if the path is not a snapshot. `folder` is
// absolute.
std::filesystem::path hub_repository_of(const std::filesystem::path& folder);

// "org/name" from a folder name "models--org--name", else "".
std::string hub_name_of(const std::string& repository_folder);

} // namespace cuset
