// run_queue: the runs of a sweep, one after another or several at a time.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/base/error.h"
#include "core/train/run_lock.h"
#include "core/train/run_process.h"
#include "core/train/run_sweep.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

class Queue {
public:
    Queue(const Sweep& sweep, int jobs, const fs::path& program,
          const std::function<void(const fs::path&)>& changed, RunControl& control)
        : sweep_(sweep)
        , jobs_(static_cast<std::size_t>(std::max(1, jobs)))
        , program_(program)
        , changed_(changed)
        , control_(control)
        , kills_(memory_kill_count()) { }

    QueueReport work() {
        for (;;) {
            collect();
            if (control_.stop_requested())
                return stop();
            const auto running = start_what_fits();
            if (children_.empty() && running == 0)
                return report(false);
            std::this_thread::sleep_for(children_.empty() ? 10 * pause : pause);
        }
    }

private:
    static constexpr std::chrono::milliseconds pause{100};

    RunState state(const fs::path& run) const {
        return is_run_folder(run) ? summarize_run(run).state : RunState::stopped;
    }

    // Returns how many runs others are writing and more would have to wait for.
    std::size_t start_what_fits() {
        if (children_.size() >= jobs_)
            return 0;
        std::size_t others = 0;
        std::vector<fs::path> waiting;
        for (const fs::path& run : sweep_.runs) {
            if (done_.contains(run) || is_child(run))
                continue;
            const RunState now = state(run);
            if (now == RunState::running || now == RunState::elsewhere) {
                ++others;
                others_.insert(run);
            } else if (now == RunState::stopped && others_.contains(run)) {
                done_.insert(run); // somebody stopped it while it was waited for
            } else if (now == RunState::stopped || now == RunState::interrupted) {
                waiting.push_back(run);
            } else {
                done_.insert(run);
            }
        }
        std::size_t begun = 0;
        for (; begun < waiting.size() && children_.size() + others < jobs_; ++begun) {
            const fs::path& run = waiting[begun];
            children_[spawn_training(training_arguments(program_, run), run)] = run;
            if (changed_)
                changed_(run);
        }
        return begun < waiting.size() ? others : 0;
    }

    bool is_child(const fs::path& run) const {
        return std::any_of(children_.begin(), children_.end(),
                           [&](const auto& child) { return child.second == run; });
    }

    void collect() {
        for (auto child = children_.begin(); child != children_.end();) {
            int status = 0;
            const auto pid = static_cast<pid_t>(child->first);
            const pid_t got = ::waitpid(pid, &status, WNOHANG);
            if (got == 0 || (got < 0 && errno == EINTR)) {
                ++child;
                continue;
            }
            const std::int64_t kills = memory_kill_count();
            if (got == pid)
                record_end(child->second, status, kills - kills_);
            kills_ = kills;
            // A run that a person stopped waits for the next time.
            done_.insert(child->second);
            if (changed_)
                changed_(child->second);
            child = children_.erase(child);
        }
    }

    QueueReport stop() {
        for (const auto& [pid, run] : children_)
            ::kill(static_cast<pid_t>(pid), SIGTERM);
        while (!children_.empty()) {
            collect();
            std::this_thread::sleep_for(pause);
        }
        return report(true);
    }

    QueueReport report(bool stopped) const {
        QueueReport result;
        result.stopped = stopped;
        for (const fs::path& run : sweep_.runs) {
            const RunState now = state(run);
            result.finished += now == RunState::finished;
            result.failed += now == RunState::failed;
            result.waiting += now == RunState::stopped || now == RunState::interrupted;
        }
        return result;
    }

    const Sweep& sweep_;
    std::size_t jobs_;
    fs::path program_;
    const std::function<void(const fs::path&)>& changed_;
    RunControl& control_;
    std::int64_t kills_;
    std::map<std::int64_t, fs::path> children_;
    std::set<fs::path> others_; // were written by another process meanwhile
    std::set<fs::path> done_; // ended in this session, or needing nothing
};

} // namespace

QueueReport run_queue(const Sweep& sweep, int jobs, const fs::path& program,
                      const std::function<void(const fs::path&)>& changed, RunControl& control) {
    const RunLock lock(sweep.folder / "lock");
    return Queue(sweep, jobs, program, changed, control).work();
}

} // namespace cuset
