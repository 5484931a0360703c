#include "core/base/error.h"

#include <utility>

namespace cuset {

Error::Error(ErrorCode code, std::string message, std::string subject)
    : code_(code)
    , message_(std::move(message))
    , subject_(std::move(subject))
    , text_(subject_.empty() ? message_ : subject_ + ": " + message_) { }

ExitCode exit_code(ErrorCode code) noexcept {
    switch (code) {
    case ErrorCode::usage:
        return ExitCode::usage;
    case ErrorCode::not_found:
    case ErrorCode::unreadable:
    case ErrorCode::bad_format:
    case ErrorCode::bad_value:
    case ErrorCode::unsupported:
    case ErrorCode::limit:
        return ExitCode::bad_input;
    case ErrorCode::out_of_memory:
    case ErrorCode::no_device:
        return ExitCode::no_memory_or_device;
    case ErrorCode::disk:
        return ExitCode::disk;
    case ErrorCode::failure:
        break;
    }
    return ExitCode::failure;
}

std::string_view error_code_name(ErrorCode code) noexcept {
    switch (code) {
    case ErrorCode::failure:
        return "failure";
    case ErrorCode::usage:
        return "usage";
    case ErrorCode::not_found:
        return "not_found";
    case ErrorCode::unreadable:
        return "unreadable";
    case ErrorCode::bad_format:
        return "bad_format";
    case ErrorCode::bad_value:
        return "bad_value";
    case ErrorCode::unsupported:
        return "unsupported";
    case ErrorCode::out_of_memory:
        return "out_of_memory";
    case ErrorCode::no_device:
        return "no_device";
    case ErrorCode::disk:
        return "disk";
    case ErrorCode::limit:
        return "limit";
    }
    return "failure";
}

} // namespace cuset
