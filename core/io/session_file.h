// NAME.cuset-session: what was open and how it was looked at, as one JSON file with a version.
// Paths below the file's own folder are written relative to it, so that the folder can move.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/mask_settings.h"
#include "core/io/sample_reader.h"

namespace cuset {

struct SessionState {
    // What is open. Paths are absolute here; "" and empty for nothing.
    std::string model; // a path, or org/name
    std::vector<std::string> data;
    ReadOptions read = {}; // how the data's records are read
    std::string scores;
    std::string notes; // where tags, notes and quarantine are kept
    std::string labels; // where corrected labels are kept
    // How it is looked at.
    MaskSettings settings;
    std::string objective = "cuset"; // whose push is shown
    std::string color_by, color_map;
    std::string layout; // of the window's panels, opaque
    std::string filter; // of the sample table
    std::vector<std::string> kinds; // picked out
    std::string sample; // id of the selected one
    std::int64_t token = -1; // selected in it, -1 for none

    friend bool operator==(const SessionState&, const SessionState&) = default;
};

inline constexpr std::string_view session_suffix = ".cuset-session";

// The file's text for a file in `folder` (absolute).
std::string write_session(const SessionState& session, const std::filesystem::path& folder);
// Throws Error(bad_format) if `json` is no session, Error(bad_value) for thresholds that cannot be,
// Error(unsupported) for a newer version. Unknown fields are ignored. `path` names the file in
// messages; relative paths lie beside it.
SessionState read_session(std::string_view json, const std::filesystem::path& path);

// Throws Error: not_found, unreadable, limit (over 16 MiB), and as read_session.
SessionState read_session_file(const std::filesystem::path& path);
// Writes beside the target and renames. Throws Error(disk).
void write_session_file(const std::filesystem::path& path, const SessionState& session);

} // namespace cuset
