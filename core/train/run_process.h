// A training run as a process of its own: started by an argument vector, without a shell, in a
// session of its own, its output in the run folder's log.txt. A small process waits for it and
// writes to the run folder how it ended where it could not do so itself. POSIX.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cuset {

// The program of the process that calls.
std::filesystem::path this_program();

// The arguments that train the configuration of `folder`, or go on with its run.
std::vector<std::string> training_arguments(const std::filesystem::path& program,
                                            const std::filesystem::path& folder);

// Starts `arguments` (the program first) and returns the process's number. Standard output and
// error are appended to `folder`/log.txt. Throws Error: not_found (no such program), disk, failure.
std::int64_t spawn_training(const std::vector<std::string>& arguments,
                            const std::filesystem::path& folder);
// Writes a "failed" event for a process that ended with this status of waitpid(2) and whose run's
// events do not say how. `memory_kills` is how many processes the system ended for want of memory
// meanwhile.
void record_end(const std::filesystem::path& folder, int status, std::int64_t memory_kills);
// Processes that the kernel ended for want of memory since the machine's start; 0 if not known.
std::int64_t memory_kill_count();

// Starts the arguments in a session of their own and returns at once with the process's number.
// To be called while the calling process has one thread. Throws as spawn_training.
std::int64_t spawn_detached(const std::vector<std::string>& arguments,
                            const std::filesystem::path& folder);

// Asks the run's writer to finish its step, save and end (SIGTERM). Throws Error: usage (nobody
// on this machine writes it), failure (not allowed).
void request_stop(const std::filesystem::path& folder);

} // namespace cuset
