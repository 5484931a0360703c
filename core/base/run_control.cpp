#include "core/base/run_control.h"

#include <utility>

#include "core/base/error.h"

namespace cuset {

RunControl::RunControl(Report report, std::chrono::milliseconds interval)
    : report_(std::move(report))
    , interval_(interval) { }

void RunControl::checkpoint(const Progress& progress) {
    throw_if_stopped();
    if (!report_)
        return;
    {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        const bool ends_stage = progress.total > 0 && progress.done >= progress.total;
        if (progress.stage == last_stage_ && !ends_stage && now - last_report_ < interval_)
            return;
        last_stage_ = progress.stage;
        last_report_ = now;
    }
    report_(progress);
    throw_if_stopped();
}

void RunControl::throw_if_stopped() const {
    if (stop_requested())
        throw Cancelled();
}

} // namespace cuset
