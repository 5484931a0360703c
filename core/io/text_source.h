// TextSource: bytes of a file, pipe or standard input through one growing window, so that readers
// of records never hold more than the record they are at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/run_control.h"

namespace cuset {

class TextSource {
public:
    // Opens `path`; "-" is standard input. Throws Error: not_found, unreadable (a folder, a device,
    // no permission). Every read reports to `control` in bytes, and throws Cancelled after a stop.
    TextSource(const std::filesystem::path& path, RunControl& control);
    ~TextSource();
    TextSource(const TextSource&) = delete;
    TextSource& operator=(const TextSource&) = delete;

    const std::string& name() const { return name_; } // for messages: the path, or "standard input"

    // What was read and not consumed. A view into memory that fill() and consume() invalidate.
    std::string_view pending() const { return std::string_view(buffer_).substr(begin_); }
    // Reads more; false at the end of the input. Throws Error(unreadable).
    bool fill();
    // Drops the first `count` <= pending().size() bytes.
    void consume(std::size_t count);
    // Fills until `count` bytes are pending or the input ends.
    std::string_view peek(std::size_t count);

private:
    std::string name_;
    RunControl& control_;
    int descriptor_ = -1;
    bool ended_ = false;
    std::int64_t size_ = 0; // bytes, 0 when not known
    std::int64_t read_ = 0; // bytes so far
    std::string buffer_;
    std::size_t begin_ = 0;
};

} // namespace cuset
