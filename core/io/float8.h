// 8-bit floats of FP8 checkpoints to float32.
// Formats: Micikevicius et al., "FP8 formats for deep learning", 2022, arXiv 2209.05433 (E4M3 has
// no infinities).
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "core/io/half_float.h"
#include "core/io/safetensors_file.h"

namespace cuset {

// torch's float8_e4m3fn. Exact; 0x7f and 0xff are NaN.
constexpr float float8_e4m3_to_float(std::uint8_t value) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x80u) << 24;
    const std::uint32_t magnitude = value & 0x7fu;
    if (magnitude == 0x7f)
        return std::bit_cast<float>(sign | 0x7fc00000u);
    if (magnitude < 8) // subnormal: units of 2^-9
        return (sign != 0 ? -1.0f : 1.0f) * static_cast<float>(magnitude) * 0x1p-9f;
    return std::bit_cast<float>(sign | ((magnitude << 20) + (120u << 23)));
}

// torch's float8_e5m2, the upper half of an IEEE half. Exact.
constexpr float float8_e5m2_to_float(std::uint8_t value) noexcept {
    return half_to_float(static_cast<std::uint16_t>(value << 8));
}

// A float8 matrix [R,C] times its scales: element (r, c) is multiplied by scales[r / block_rows][c
// / block_columns]
// (`weight_scale_inv` of FP8 checkpoints, blocks of 128 x 128; one block as large as the matrix for
// a scale per tensor). `scales` is [ceil(R / block_rows), ceil(C / block_columns)], `out` [R,C].
// Throws Error: unsupported (another dtype), bad_value (sizes that do not fit).
void decode_float8(const TensorView& matrix, std::span<const float> scales, std::int64_t block_rows,
                   std::int64_t block_columns, std::span<float> out);

} // namespace cuset
