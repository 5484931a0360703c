// How much memory this process may still take before the machine swaps or the kernel ends it.
#pragma once

#include <cstdint>

namespace cuset {

struct HostMemory {
    std::uint64_t total_bytes = 0;
    std::uint64_t free_bytes = 0; // available without swapping, within the control group's limit
};

HostMemory host_memory();

} // namespace cuset
