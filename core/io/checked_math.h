// Arithmetic on sizes that come from files: nothing wraps around unnoticed.
#pragma once

#include <cstdint>
#include <optional>

namespace cuset {

// a * b, or nothing if it does not fit into 64 bits.
constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        return std::nullopt;
    return product;
}

// a + b, or nothing if it does not fit into 64 bits.
constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return std::nullopt;
    return sum;
}

} // namespace cuset
