#include "core/model/host_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace cuset {
namespace {

std::uint64_t meminfo(const std::string& key) {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    std::uint64_t kilobytes = 0;
    while (file >> name >> kilobytes && std::getline(file, unit))
        if (name == key + ":")
            return kilobytes * 1024;
    return 0;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (file >> value)
        return value;
    return std::nullopt; // not there, or "max"
}

// Pages of files count as used in a control group although they can be dropped.
std::uint64_t inactive_file_bytes(const std::string& path) {
    std::ifstream file(path);
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value)
        if (name == "inactive_file" || name == "total_inactive_file")
            return value;
    return 0;
}

void apply_group(const std::string& limit, const std::string& usage, const std::string& stat,
                 HostMemory& memory) {
    const auto most = number_in(limit), used = number_in(usage);
    if (!most || !used || *most >= memory.total_bytes)
        return;
    const std::uint64_t held = *used - std::min(*used, inactive_file_bytes(stat));
    memory.total_bytes = *most;
    memory.free_bytes = std::min(memory.free_bytes, *most - std::min(*most, held));
}

} // namespace

HostMemory host_memory() {
    HostMemory memory{meminfo("MemTotal"), meminfo("MemAvailable")};
    const std::string two = "/sys/fs/cgroup/", one = two + "memory/";
    apply_group(two + "memory.max", two + "memory.current", two + "memory.stat", memory);
    apply_group(one + "memory.limit_in_bytes", one + "memory.usage_in_bytes", one + "memory.stat",
                memory);
    return memory;
}

} // namespace cuset
