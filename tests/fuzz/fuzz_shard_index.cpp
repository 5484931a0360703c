// A shard index is refused with an Error or names plain files only.
#include <cstdint>
#include <cstdlib>

#include "core/base/error.h"
#include "core/io/shard_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        for (const auto& [tensor, shard] : cuset::parse_shard_index(text, "index")) {
            if (shard.find('/') != std::string::npos || shard == "..")
                std::abort();
        }
    } catch (const cuset::Error&) { }
    return 0;
}
