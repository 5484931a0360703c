// Checkpoints on the disk: checkpoints/step-N/ with a manifest of sizes and SHA-256 written last. A
// folder is written under another name, synced and renamed, so that step-N is whole or not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cuset {

struct CheckpointPlace {
    std::int64_t step = 0;
    std::filesystem::path path;
};

class CheckpointWriter {
public:
    // Makes checkpoints/.unfinished-step-N. Throws Error(disk): fewer than `bytes` are free
    // (nothing is made), ...
    CheckpointWriter(std::filesystem::path checkpoints, std::int64_t step, std::uint64_t bytes);
    ~CheckpointWriter(); // removes the folder unless commit() succeeded
    CheckpointWriter(const CheckpointWriter&) = delete;
    CheckpointWriter& operator=(const CheckpointWriter&) = delete;

    const std::filesystem::path& folder() const { return temporary_; } // write the files here
    // Hashes and syncs every file, writes manifest.json, renames, syncs the parent. Throws
    // Error(disk).
    CheckpointPlace commit();

private:
    void write_manifest();
    CheckpointPlace rename_to_place();

    std::filesystem::path checkpoints_, temporary_;
    std::int64_t step_;
};

// Every step-N, newest first; whether they are whole is not looked at.
std::vector<CheckpointPlace> list_checkpoints(const std::filesystem::path& checkpoints);
// "" if sizes and hashes are as the manifest says, else what is wrong.
std::string checkpoint_fault(const std::filesystem::path& folder);
// The newest that verifies; `faults` gets a line for each newer one that does not.
std::optional<CheckpointPlace> newest_checkpoint(const std::filesystem::path& checkpoints,
                                                 std::vector<std::string>& faults);
// Removes all but the newest `keep` and `best_step` (-1: none), and what is unfinished.
void prune_checkpoints(const std::filesystem::path& checkpoints, std::int64_t keep,
                       std::int64_t best_step);
// Removes what a killed writer left.
void clean_unfinished(const std::filesystem::path& checkpoints);

// Throws Error(disk), with both figures, if fewer than `bytes` are free in `folder`.
void require_space(const std::filesystem::path& folder, std::uint64_t bytes);

} // namespace cuset
