// Error: what ends an operation, with a message a person can act on. Cancelled is not an Error.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "core/base/exit_code.h"

namespace cuset {

enum class ErrorCode {
    failure, // anything without a code of its own
    usage, // the caller asked for something that makes no sense
    not_found, // a file, model, tensor or key is not there
    unreadable, // a file is there and cannot be read
    bad_format, // bytes do not follow the format
    bad_value, // well formed, but a value cannot be right
    unsupported, // valid, but not handled by this program
    out_of_memory, // host or device
    no_device, // the device asked for is not there
    disk, // writing failed: full, read-only, quota
    limit, // a budget for untrusted input was used up
};

// Ends an operation. `subject` names the file or thing at fault; `message` is lower case, says what
// was found and what was needed, and may end with a hint. what() is "subject: message".
class Error : public std::exception {
public:
    Error(ErrorCode code, std::string message, std::string subject = {});

    ErrorCode code() const noexcept { return code_; }
    const std::string& message() const noexcept { return message_; }
    const std::string& subject() const noexcept { return subject_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    ErrorCode code_;
    std::string message_;
    std::string subject_;
    std::string text_;
};

// Thrown by RunControl::checkpoint after a stop was asked for.
class Cancelled : public std::exception {
public:
    const char* what() const noexcept override { return "cancelled"; }
};

// The exit code a program ends with after this error.
ExitCode exit_code(ErrorCode code) noexcept;

// The enumerator's name, e.g. "bad_format".
std::string_view error_code_name(ErrorCode code) noexcept;

} // namespace cuset
