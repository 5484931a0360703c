// Files that are either the old or the new one, never half: written beside the target, synced, renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace cuset {

class AtomicFile {
public:
    // Opens a temporary file in the target's folder. Throws Error(disk).
    explicit AtomicFile(std::filesystem::path target);
    ~AtomicFile(); // removes the temporary file unless commit() succeeded
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    // Throws Error(disk), naming the target, the bytes needed and the bytes free.
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);
    // Syncs file and folder and renames over the target. Throws Error(disk).
    void commit();

private:
    std::filesystem::path target_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
};

// The whole of AtomicFile in one call.
void write_file_atomically(const std::filesystem::path& target, std::string_view text);

// Reads a whole file. Throws Error: not_found, unreadable, limit (larger than max_bytes).
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

} // namespace cuset
