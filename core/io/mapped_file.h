// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace cuset {

class MappedFile {
public:
    // Throws Error: not_found, unreadable (a folder, no permission). An empty file gives empty
    // bytes().
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    std::span<const std::byte> bytes_;
};

} // namespace cuset
