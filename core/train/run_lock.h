// The lock file of a run folder: who writes there. {"pid", "start_time", "host"}; the start time
// (of the process, in clock ticks since the machine's start, with the boot's id) tells a living
// writer from another process that got its number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cuset {

struct LockHolder {
    std::int64_t pid = 0;
    std::string start_time;
    std::string host;
};

LockHolder this_process();
// Whether that process of this machine still runs; one that ended and waits for its parent does
// not.
bool is_alive(const LockHolder& holder);

enum class LockState {
    free, // no lock file
    held, // its process lives, on this machine
    stale, // its process is gone, or its number is another process's
    foreign, // another machine's: whether it lives cannot be seen from here
};

struct LockReport {
    LockState state = LockState::free;
    LockHolder holder;
    bool recycled = false; // stale: its number is another process's now
};
// Who holds `path`; a file that cannot be understood counts as stale.
LockReport inspect_lock(const std::filesystem::path& path);

class RunLock {
public:
    // Takes over a stale lock. Throws Error: usage (held or foreign; says by whom and what to do),
    // disk.
    explicit RunLock(std::filesystem::path path);
    ~RunLock(); // removes the file
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    std::filesystem::path path_;
};

} // namespace cuset
