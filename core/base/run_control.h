// RunControl: the one seam between long work in core and whoever started it. Work reports and can
// be stopped in one call, at each natural step.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace cuset {

struct Progress {
    std::string stage; // what is being done, e.g. "loading weights"
    std::int64_t done = 0; // in `unit`
    std::int64_t total = 0; // in `unit`; 0 when it is not known
    std::string unit = {}; // "tokens", "bytes", ...
};

// Shared by the thread that works and the threads that watch; all members are thread-safe.
class RunControl {
public:
    using Report = std::function<void(const Progress&)>;

    RunControl() = default;
    // `report` runs on the working thread, at most once every `interval` within one stage; the
    // first and the last report of a stage always get through.
    explicit RunControl(Report report,
                        std::chrono::milliseconds interval = std::chrono::milliseconds(50));
    RunControl(const RunControl&) = delete;
    RunControl& operator=(const RunControl&) = delete;

    // Reports, then throws Cancelled if a stop was asked for.
    void checkpoint(const Progress& progress);
    // Throws Cancelled if a stop was asked for.
    void throw_if_stopped() const;

    // Safe to call from a signal handler.
    void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
    bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }

private:
    Report report_;
    std::chrono::milliseconds interval_{50};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::string last_stage_;
    std::chrono::steady_clock::time_point last_report_{};
};

} // namespace cuset
