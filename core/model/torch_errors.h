// torch's exceptions become Errors here and nowhere else.
#pragma once

#include <c10/util/Exception.h>

#include <new>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace cuset {

// Runs f(); `subject` names what was being done or which file. Errors and Cancelled pass through.
template <class F> auto with_torch_errors(const std::string& subject, F f) {
    const auto is_memory = [](std::string_view what) {
        return what.find("out of memory") != std::string_view::npos
            || what.find("can't allocate memory") != std::string_view::npos;
    };
    try {
        return f();
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory, "out of memory", subject);
    } catch (const c10::Error& error) {
        std::string what = error.what_without_backtrace();
        if (is_memory(what))
            throw Error(ErrorCode::out_of_memory,
                        "out of memory; use a shorter maximum length, a smaller model or bfloat16",
                        subject);
        throw Error(ErrorCode::failure, "the tensor library failed: " + what, subject);
    }
}

} // namespace cuset
