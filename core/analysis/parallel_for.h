// ParallelFor: how a caller lends threads to work in this room. Core starts no thread of its own.
#pragma once

#include <cstdint>
#include <functional>

namespace cuset {

// Calls body(0) .. body(count - 1), in any order and on any threads, and returns when all are done.
// If a body throws, it rethrows the first exception after the others have ended.
// Results here never depend on the order or on the number of threads.
using ParallelFor =
    std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& body)>;

// One after another on the calling thread.
inline void serial_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    for (std::int64_t i = 0; i < count; ++i)
        body(i);
}

} // namespace cuset
