// The run folder (contracts.md): config.json, events.jsonl, log.txt, checkpoints/, final/, lock,
// and validation.json where a share of the data is held out. One process writes it, any number
// follow it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/train/run_lock.h"
#include "core/train/train_config.h"
#include "core/train/train_event.h"

namespace cuset {

// What a reader makes of a run folder.
enum class RunState {
    running, // its writer lives
    elsewhere, // another machine's lock is there
    finished,
    stopped, // on request, can go on
    failed, // says why
    interrupted, // its writer is gone without a word
};
std::string_view run_state_name(RunState state) noexcept;

struct RunSummary {
    std::filesystem::path path;
    RunState state = RunState::interrupted;
    StartedEvent started;
    StepEvent last_step; // step 0: none yet
    EvaluationEvent last_evaluation;
    FinishedEvent finished;
    FailedEvent failed;
    std::int64_t checkpoint_step = -1; // of the last checkpoint event
    EvaluationEvent best_evaluation; // of the lowest loss; step 0: none yet
    LogEvent last_warning; // of level "warning" or "error"
    std::string first_time, last_time;
    double earlier_seconds = 0; // of the sessions before the last "started"
    std::string session_begin; // time of the last "started"

    // Follows the events in order; the state is what they say, without a look at the lock.
    void add(const TrainEvent& event);
    // Seconds between "started" and the last event, over all sessions.
    double seconds() const;
};

// True if the folder looks like a run: config.json and events.jsonl are there.
bool is_run_folder(const std::filesystem::path& folder);
// The state of a run whose events say `by_events` and whose lock is in that state.
RunState state_with_lock(RunState by_events, LockState lock);
// Throws Error: not_found, unreadable.
RunSummary summarize_run(const std::filesystem::path& folder);
// The run folders among `paths` and directly in them, sorted.
std::vector<std::filesystem::path> find_runs(const std::vector<std::filesystem::path>& paths);
// All events that can be understood, in order.
std::vector<TrainEvent> read_events(const std::filesystem::path& folder);

// The writer's side. Only rank 0 has one.
class RunFolder {
public:
    // Makes the folder, or takes the one of a run to go on with; locks it. A cut-off last line of
    // events.jsonl is removed. Throws Error: usage (locked; a run is there already), disk.
    static RunFolder create(const TrainConfig& config);
    static RunFolder reopen(const std::filesystem::path& folder);
    RunFolder(RunFolder&&) noexcept;
    ~RunFolder();

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
    std::filesystem::path final_folder() const { return path_ / "final"; }
    // What events.jsonl holds already: a resumed run does not report it a second time.
    std::int64_t reported_step() const { return reported_step_; }
    std::int64_t reported_evaluation() const { return reported_evaluation_; }
    std::int64_t reported_checkpoint() const { return reported_checkpoint_; }

    // Appends one line at once. Throws Error(disk).
    void append(const TrainEvent& event);
    // Appends to log.txt, with the time; failures are ignored: a log must not end a run.
    void log(const std::string& text);
    // Flushes events.jsonl to the disk.
    void sync();

private:
    // `config`: of a new run, else null.
    RunFolder(std::filesystem::path path, const TrainConfig* config);

    std::filesystem::path path_;
    std::unique_ptr<RunLock> lock_;
    int events_ = -1;
    int log_ = -1;
    std::int64_t reported_step_ = 0, reported_evaluation_ = 0, reported_checkpoint_ = 0;
};

} // namespace cuset
