#include "core/train/run_reporter.h"

#include <utility>

namespace cuset {

RunReporter::RunReporter(std::optional<RunFolder> folder,
                         std::function<void(const TrainEvent&)> on_event)
    : folder_(std::move(folder))
    , on_event_(std::move(on_event)) { }

void RunReporter::write(const TrainEvent& event) {
    if (!folder_)
        return;
    folder_->append(event);
    if (on_event_)
        on_event_(event);
}

void RunReporter::log(const std::string& level, const std::string& message) {
    if (!folder_)
        return;
    folder_->log(level + ": " + message);
    event(LogEvent{level, message});
}

void RunReporter::failure(const Error& error, std::int64_t step,
                          const std::string& last_checkpoint) noexcept {
    if (!folder_)
        return;
    try {
        folder_->log(std::string("failed: ") + error.what());
        FailedEvent failed;
        failed.code = std::string(error_code_name(error.code()));
        failed.message = error.what();
        failed.exit_code = static_cast<int>(exit_code(error.code()));
        failed.step = step;
        failed.checkpoint = last_checkpoint;
        event(failed);
    } catch (const std::exception&) {
        return; // the message goes to the caller all the same
    }
}

} // namespace cuset
