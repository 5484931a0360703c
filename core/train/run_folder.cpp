#include "core/train/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t events_limit = std::uint64_t{4} << 30;

[[noreturn]] void fail_disk(const fs::path& path, const std::string& doing, int code) {
    throw Error(ErrorCode::disk, doing + " failed: " + std::generic_category().message(code),
                path.string());
}

void make_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        throw Error(ErrorCode::disk, "cannot be made: " + error.message(), path.string());
}

// Writes all of `text`, or cuts the file back to what it was, so that a full disk leaves no half
// line.
void append_all(int descriptor, std::string_view text, const fs::path& path) {
    struct stat before { };
    ::fstat(descriptor, &before);
    for (std::string_view rest = text; !rest.empty();) {
        const ssize_t written = ::write(descriptor, rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            const int code = errno;
            if (::ftruncate(descriptor, before.st_size) != 0)
                fail_disk(path, "cutting back a half line", errno);
            fail_disk(path, "appending to it", code);
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

int open_for_append(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0)
        fail_disk(path, "opening it", errno);
    return descriptor;
}

// A line without its end was never an event: a writer died in it.
void cut_half_line(const fs::path& path, const std::string& text) {
    const std::size_t end = text.rfind('\n');
    const std::size_t whole = end == std::string::npos ? 0 : end + 1;
    if (whole == text.size())
        return;
    std::error_code error;
    fs::resize_file(path, whole, error);
    if (error)
        throw Error(ErrorCode::disk, "cutting off a half line failed: " + error.message(),
                    path.string());
}

template <class See> void each_event(const std::string& text, See see) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string::npos)
            return;
        if (const auto event = parse_event(std::string_view(text).substr(begin, end - begin)))
            see(*event);
        begin = end + 1;
    }
}

std::string events_text(const fs::path& folder) {
    return read_file(folder / "events.jsonl", events_limit);
}

} // namespace

std::string_view run_state_name(RunState state) noexcept {
    switch (state) {
    case RunState::running:
        return "running";
    case RunState::elsewhere:
        return "elsewhere";
    case RunState::finished:
        return "finished";
    case RunState::stopped:
        return "stopped";
    case RunState::failed:
        return "failed";
    case RunState::interrupted:
        return "interrupted";
    }
    return "";
}

bool is_run_folder(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / "config.json", ignored)
        && fs::is_regular_file(folder / "events.jsonl", ignored);
}

std::vector<TrainEvent> read_events(const fs::path& folder) {
    std::vector<TrainEvent> events;
    each_event(events_text(folder), [&](const TrainEvent& event) { events.push_back(event); });
    return events;
}

void RunSummary::add(const TrainEvent& event) {
    if (const auto* begun = std::get_if<StartedEvent>(&event.body)) {
        earlier_seconds = seconds();
        session_begin = event.time;
        if (first_time.empty())
            first_time = event.time;
        started = *begun;
        state = RunState::interrupted;
        failed = {};
    } else if (const auto* step = std::get_if<StepEvent>(&event.body)) {
        last_step = *step;
    } else if (const auto* evaluation = std::get_if<EvaluationEvent>(&event.body)) {
        last_evaluation = *evaluation;
        if (best_evaluation.step == 0 || evaluation->loss < best_evaluation.loss)
            best_evaluation = *evaluation;
    } else if (const auto* checkpoint = std::get_if<CheckpointEvent>(&event.body)) {
        checkpoint_step = checkpoint->step;
    } else if (const auto* log = std::get_if<LogEvent>(&event.body)) {
        if (log->level != "info")
            last_warning = *log;
    } else if (const auto* end = std::get_if<FinishedEvent>(&event.body)) {
        finished = *end;
        state = end->reason == "stopped" ? RunState::stopped : RunState::finished;
    } else if (const auto* failure = std::get_if<FailedEvent>(&event.body)) {
        failed = *failure;
        state = RunState::failed;
    }
    last_time = event.time;
}

double RunSummary::seconds() const {
    if (session_begin.empty())
        return earlier_seconds;
    const double session = event_seconds(last_time) - event_seconds(session_begin);
    return earlier_seconds + (session > 0 ? session : 0);
}

RunState state_with_lock(RunState by_events, LockState lock) {
    if (lock == LockState::held)
        return RunState::running;
    // A writer elsewhere that has ended removed its lock, whatever its events say.
    return lock == LockState::foreign ? RunState::elsewhere : by_events;
}

RunSummary summarize_run(const fs::path& folder) {
    RunSummary run;
    run.path = folder;
    each_event(events_text(folder), [&](const TrainEvent& event) { run.add(event); });
    run.state = state_with_lock(run.state, inspect_lock(folder / "lock").state);
    return run;
}

std::vector<fs::path> find_runs(const std::vector<fs::path>& paths) {
    std::set<fs::path> runs;
    for (const fs::path& path : paths) {
        if (is_run_folder(path)) {
            runs.insert(path);
            continue;
        }
        std::error_code error;
        fs::directory_iterator entries(path, error);
        if (error)
            throw Error(ErrorCode::not_found, "is no folder that can be read", path.string());
        for (const fs::directory_entry& entry : entries)
            if (is_run_folder(entry.path()))
                runs.insert(entry.path());
    }
    return {runs.begin(), runs.end()};
}

RunFolder RunFolder::create(const TrainConfig& config) {
    const fs::path path = config.output;
    make_folder(path);
    std::error_code ignored;
    if (fs::exists(path / "events.jsonl", ignored))
        throw Error(ErrorCode::usage,
                    "holds a run already; go on with it (--resume " + printable(path.string(), 200)
                        + ") or name another output",
                    path.string());
    return RunFolder(path, &config);
}

RunFolder RunFolder::reopen(const fs::path& path) {
    if (!is_run_folder(path))
        throw Error(ErrorCode::not_found,
                    "is no run folder: config.json or events.jsonl is missing", path.string());
    return RunFolder(path, nullptr);
}

RunFolder::RunFolder(fs::path path, const TrainConfig* config)
    : path_(std::move(path))
    , lock_(std::make_unique<RunLock>(path_ / "lock")) {
    make_folder(checkpoints());
    if (config) {
        // Before events.jsonl, which makes it a run: one without its configuration could neither be
        // started nor gone on with.
        write_file_atomically(path_ / "config.json", train_config_json(*config));
    } else {
        const std::string text = events_text(path_);
        cut_half_line(path_ / "events.jsonl", text);
        each_event(text, [&](const TrainEvent& event) {
            if (const auto* step = std::get_if<StepEvent>(&event.body))
                reported_step_ = std::max(reported_step_, step->step);
            else if (const auto* evaluation = std::get_if<EvaluationEvent>(&event.body))
                reported_evaluation_ = std::max(reported_evaluation_, evaluation->step);
            else if (const auto* checkpoint = std::get_if<CheckpointEvent>(&event.body))
                reported_checkpoint_ = std::max(reported_checkpoint_, checkpoint->step);
        });
    }
    events_ = open_for_append(path_ / "events.jsonl");
    log_ = open_for_append(path_ / "log.txt");
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_))
    , lock_(std::move(other.lock_))
    , events_(std::exchange(other.events_, -1))
    , log_(std::exchange(other.log_, -1))
    , reported_step_(other.reported_step_)
    , reported_evaluation_(other.reported_evaluation_)
    , reported_checkpoint_(other.reported_checkpoint_) { }

RunFolder::~RunFolder() {
    if (events_ >= 0)
        ::close(events_);
    if (log_ >= 0)
        ::close(log_);
}

void RunFolder::append(const TrainEvent& event) {
    append_all(events_, to_json_line(event) + "\n", path_ / "events.jsonl");
}

void RunFolder::log(const std::string& text) {
    try {
        append_all(log_, time_now() + " " + printable(text, 100000) + "\n", path_ / "log.txt");
    } catch (const Error&) {
        // The event that is written beside it reports a full disk.
    }
}

void RunFolder::sync() {
    if (::fsync(events_) != 0 && errno != EINVAL && errno != ENOTSUP)
        fail_disk(path_ / "events.jsonl", "writing it to the disk", errno);
}

} // namespace cuset
