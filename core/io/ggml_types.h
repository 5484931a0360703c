// ggml's tensor types: names and block sizes.
// https://github.com/ggml-org/ggml (src/ggml-common.h, src/ggml.c: type_traits)
#pragma once

#include <cstdint>
#include <string_view>

namespace cuset {

struct GgmlTypeInfo {
    std::uint32_t number = 0;
    std::string_view name;
    std::uint32_t block_elements = 1;
    std::uint32_t block_bytes = 0;
    bool readable = false; // false: known by name, to be refused by it
};

// Nothing if ggml has no type of that number.
const GgmlTypeInfo* find_ggml_type(std::uint32_t number) noexcept;

} // namespace cuset
