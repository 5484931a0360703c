// Files that are either the old or the new one, never half: written beside the target, synced,
// renamed.
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
    // Opens a temporary file in the target's folder, and removes those that killed writers left
    // there. A link is followed and stays; the mode of an old file is kept. A device or pipe
    // (/dev/stdout) is written straight. Throws Error(disk).
    explicit AtomicFile(std::filesystem::path target);
    ~AtomicFile(); // removes the temporary file unless commit() succeeded
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    // Throws Error(disk) now rather than in the middle if fewer than `bytes` are free.
    void reserve(std::uint64_t bytes);
    // Buffered. Throws Error(disk), naming the target, the bytes needed and the bytes free.
    void write(std::span<const std::byte> bytes);
    void write(std::string_view text);
    // Syncs file and folder and renames over the target. Throws Error(disk).
    void commit();

private:
    [[noreturn]] void fail(const std::string& doing, int code) const;
    void flush();
    void write_through(std::string_view text);
    std::filesystem::path folder() const;

    std::filesystem::path target_; // as the caller named it, for messages
    std::filesystem::path final_; // what is renamed over: the target, its links resolved
    std::filesystem::path temporary_; // empty for a device or pipe, and after commit()
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0; // accepted by write() so far
    std::string buffer_;
};

// The whole of AtomicFile in one call.
void write_file_atomically(const std::filesystem::path& target, std::string_view text);

// Reads a whole file; a pipe or device is read to its end. Throws Error: not_found, unreadable,
// limit (larger than max_bytes).
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

} // namespace cuset
