#include "core/model/weight_source.h"

#include <sys/mman.h>
#include <unistd.h>

namespace cuset {

void drop_pages(std::span<const std::byte> bytes) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
    if (begin < end)
        madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

} // namespace cuset
