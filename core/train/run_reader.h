// RunReader: what `cuset runs` and the window see of a run, read as it grows. events.jsonl is read
// from where the last look ended; a line that is still being written waits. The folder may be on a
// shared file system, and may be taken away or made anew at any time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/train/run_folder.h"

namespace cuset {

// What came since the last look.
struct RunUpdate {
    bool restarted = false; // the file is another one, or shorter: what was read before is void
    std::vector<StepEvent> steps; // in order of the file
    std::vector<EvaluationEvent> evaluations;
    std::vector<CheckpointEvent> checkpoints;
    RunSummary summary; // of everything so far, the lock looked at just now
    LockReport lock;
    std::uint64_t bytes = 0; // read this time

    bool has_points() const { return restarted || !steps.empty() || !evaluations.empty(); }
};

class RunReader {
public:
    explicit RunReader(std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }
    // A missing events.jsonl has no events yet. Throws Error(unreadable), Cancelled.
    RunUpdate read(RunControl& control);

private:
    bool is_other_file(int descriptor) const;
    void read_lines(int descriptor, RunUpdate& update, RunControl& control);
    void take(std::string_view line, RunUpdate& update);

    std::filesystem::path folder_;
    RunSummary summary_; // by the events alone
    std::uint64_t offset_ = 0; // end of the last whole line
    std::uint64_t device_ = 0, inode_ = 0;
    std::string head_; // the file's first bytes: a file that was written anew has others
};

// The last `lines` lines of log.txt, oldest first; control characters made visible. A log without
// end is read at its end only. Empty if there is none.
std::vector<std::string> log_tail(const std::filesystem::path& folder, std::size_t lines);

// How a run stands, in a sentence for people: what it failed of (exit code, signal, want of
// memory), or why it counts as interrupted. "" where there is nothing to explain.
std::string run_explanation(const RunSummary& run, const LockReport& lock);

} // namespace cuset
