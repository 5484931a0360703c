#include "core/train/run_reader.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t chunk_bytes = 1 << 20;
constexpr std::size_t longest_line = 16 << 20; // no event is as long
constexpr std::size_t head_bytes = 256;

class File {
public:
    explicit File(const fs::path& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) { }
    ~File() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

// Bytes read at `offset`, fewer at the end of the file.
std::size_t read_at(int descriptor, char* to, std::size_t bytes, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got =
            ::pread(descriptor, to + done, bytes - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

} // namespace

RunReader::RunReader(fs::path folder)
    : folder_(std::move(folder)) {
    summary_.path = folder_;
}

// Before `offset_` nothing changes in a file that is only appended to.
bool RunReader::is_other_file(int descriptor) const {
    struct stat now { };
    if (::fstat(descriptor, &now) != 0)
        return true;
    if (offset_ == 0)
        return false;
    if (static_cast<std::uint64_t>(now.st_size) < offset_
        || static_cast<std::uint64_t>(now.st_ino) != inode_
        || static_cast<std::uint64_t>(now.st_dev) != device_)
        return true;
    std::string head(head_.size(), '\0');
    return read_at(descriptor, head.data(), head.size(), 0) != head.size() || head != head_;
}

void RunReader::take(std::string_view line, RunUpdate& update) {
    auto event = parse_event(line);
    if (!event)
        return;
    summary_.add(*event);
    if (const auto* step = std::get_if<StepEvent>(&event->body))
        update.steps.push_back(*step);
    else if (const auto* evaluation = std::get_if<EvaluationEvent>(&event->body))
        update.evaluations.push_back(*evaluation);
    else if (auto* checkpoint = std::get_if<CheckpointEvent>(&event->body))
        update.checkpoints.push_back(std::move(*checkpoint));
}

void RunReader::read_lines(int descriptor, RunUpdate& update, RunControl& control) {
    std::string text; // from offset_ on
    std::size_t searched = 0;
    for (;;) {
        const std::size_t had = text.size();
        text.resize(had + chunk_bytes);
        const std::size_t got = read_at(descriptor, text.data() + had, chunk_bytes, offset_ + had);
        text.resize(had + got);
        std::size_t begin = 0;
        for (std::size_t end; (end = text.find('\n', std::max(begin, searched))) != text.npos;
             begin = end + 1)
            take(std::string_view(text).substr(begin, end - begin), update);
        if (offset_ == 0)
            head_ = text.substr(0, std::min(begin, head_bytes));
        offset_ += begin;
        update.bytes += begin;
        text.erase(0, begin);
        searched = text.size();
        if (text.size() > longest_line) { // not an event: left out when its end is there
            offset_ += text.size();
            text.clear();
            searched = 0;
        }
        if (got < chunk_bytes)
            return;
        control.throw_if_stopped();
    }
}

RunUpdate RunReader::read(RunControl& control) {
    RunUpdate update;
    const File file(folder_ / "events.jsonl");
    if (file.descriptor() < 0 && errno != ENOENT && errno != ENOTDIR)
        throw Error(ErrorCode::unreadable, std::strerror(errno),
                    (folder_ / "events.jsonl").string());
    if (file.descriptor() < 0 ? offset_ > 0 : is_other_file(file.descriptor())) {
        *this = RunReader(folder_);
        update.restarted = true;
    }
    if (file.descriptor() >= 0) {
        struct stat now { };
        if (offset_ == 0 && ::fstat(file.descriptor(), &now) == 0) {
            inode_ = static_cast<std::uint64_t>(now.st_ino);
            device_ = static_cast<std::uint64_t>(now.st_dev);
        }
        // The lock is looked at first: a writer that ends now has written its last event before.
        update.lock = inspect_lock(folder_ / "lock");
        read_lines(file.descriptor(), update, control);
    } else {
        update.lock = inspect_lock(folder_ / "lock");
    }
    update.summary = summary_;
    update.summary.state = state_with_lock(summary_.state, update.lock.state);
    return update;
}

std::vector<std::string> log_tail(const fs::path& folder, std::size_t lines) {
    constexpr std::uint64_t most_bytes = 256 << 10;
    constexpr std::size_t most_shown = 2000;
    const File file(folder / "log.txt");
    struct stat now { };
    if (file.descriptor() < 0 || ::fstat(file.descriptor(), &now) != 0)
        return {};
    const auto size = static_cast<std::uint64_t>(now.st_size);
    const std::uint64_t from = size > most_bytes ? size - most_bytes : 0;
    std::string text(static_cast<std::size_t>(size - from), '\0');
    text.resize(read_at(file.descriptor(), text.data(), text.size(), from));
    if (!text.empty() && text.back() == '\n')
        text.pop_back();
    std::vector<std::string> tail;
    for (std::size_t end = text.size(); tail.size() < lines && !text.empty();) {
        const std::size_t before = end == 0 ? text.npos : text.rfind('\n', end - 1);
        const std::size_t begin = before == text.npos ? 0 : before + 1;
        if (begin == 0 && from > 0)
            break; // half a line
        tail.push_back(printable(std::string_view(text).substr(begin, end - begin), most_shown));
        if (before == text.npos)
            break;
        end = before;
    }
    std::reverse(tail.begin(), tail.end());
    return tail;
}

std::string run_explanation(const RunSummary& run, const LockReport& lock) {
    const std::string process = "process " + std::to_string(lock.holder.pid);
    const std::string go_on = run.checkpoint_step >= 0
        ? "; the last checkpoint is of step " + std::to_string(run.checkpoint_step)
        : "; there is no checkpoint: it would start again";
    switch (run.state) {
    case RunState::running:
        return "written by " + process;
    case RunState::elsewhere:
        return "locked by " + process + " of machine " + printable(lock.holder.host, 80)
            + ", which cannot be looked at from here; last event at "
            + printable(run.last_time, 40);
    case RunState::finished:
        return run.finished.reason == "early_stopping" ? "ended early: no improvement" : "";
    case RunState::stopped:
        return "stopped on request after step " + std::to_string(run.finished.step) + go_on;
    case RunState::failed: {
        std::string text = run.failed.code == "out_of_memory" ? "out of memory" : "failed";
        if (run.failed.exit_code > 128)
            text += " (signal " + std::to_string(run.failed.exit_code - 128) + ")";
        else
            text += " (exit code " + std::to_string(run.failed.exit_code) + ")";
        return text + ": " + printable(run.failed.message, 1000) + go_on;
    }
    case RunState::interrupted:
        if (lock.state == LockState::stale && lock.recycled)
            return process + " is another program now: the run's own ended without a word" + go_on;
        if (lock.state == LockState::stale)
            return process + " is gone without a word: it was killed, or the machine went down"
                + go_on;
        return "no process writes it, and its last event is no end" + go_on;
    }
    return {};
}

} // namespace cuset
