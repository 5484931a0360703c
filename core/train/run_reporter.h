// RunReporter: where a run's events and messages go. Only rank 0 has a folder; the other ranks'
// reports go nowhere. Free of torch.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/train/run_folder.h"
#include "core/train/train_event.h"

namespace cuset {

class RunReporter {
public:
    // `on_event` sees every event as it is written; may be empty.
    RunReporter(std::optional<RunFolder> folder, std::function<void(const TrainEvent&)> on_event);

    RunFolder* folder() { return folder_ ? &*folder_ : nullptr; } // null: not rank 0
    // Throws Error(disk).
    template <class Body> void event(const Body& body) { write({time_now(), body}); }
    // To log.txt and as an event.
    void log(const std::string& level, const std::string& message);
    // The run's last event and log line; a disk that takes neither is no second error.
    void failure(const Error& error, std::int64_t step,
                 const std::string& last_checkpoint) noexcept;

private:
    void write(const TrainEvent& event);

    std::optional<RunFolder> folder_;
    std::function<void(const TrainEvent&)> on_event_;
};

} // namespace cuset
