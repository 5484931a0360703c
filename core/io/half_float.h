// IEEE half precision and bfloat16 to float32, without branches or tables so that loops over them
// vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace cuset {

// Exact for every value; a NaN stays a NaN with its payload.
constexpr float half_to_float(std::uint16_t half) noexcept {
    const std::uint32_t magnitude = half & 0x7fffu;
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t normal = (magnitude << 13) + (112u << 23);
    const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
    // A subnormal counts units of 2^-24, which is the last place of 0.5: put there, then 0.5 taken
    // off.
    const float shifted = std::bit_cast<float>(magnitude | 0x3f000000u) - 0.5f;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted);
    const std::uint32_t bits = magnitude >= 0x7c00u ? special
        : magnitude >= 0x0400u                      ? normal
                                                    : subnormal;
    return std::bit_cast<float>(bits | sign);
}

constexpr float bfloat16_to_float(std::uint16_t value) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

} // namespace cuset
