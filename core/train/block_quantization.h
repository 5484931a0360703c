// Weights in few bits. NF4: blocks of 64 values, each divided by the block's largest magnitude and
// rounded to one of 16 levels, the quantiles of a normal distribution (QLoRA: Dettmers et al.,
// arXiv 2305.14314, appendix E); the magnitudes themselves are kept in 8 bits, in groups of 256,
// about their mean ("double quantisation"). int8: each row divided by its largest magnitude / 127.
// Plain C++; elements of the result: float, or the bits of bfloat16 as std::uint16_t.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace cuset {

inline constexpr std::int64_t nf4_block = 64; // values
inline constexpr std::int64_t scale_group = 256; // blocks
extern const std::array<float, 16> nf4_levels; // ascending, -1 to 1, 0 among them

// values [n], n a multiple of 2, cut into blocks (the last may be shorter) -> codes [n / 2], the
// first value of each pair in the high bits; scales [ceil(n / 64)], the largest magnitudes.
void nf4_encode(std::span<const float> values, std::span<std::uint8_t> codes,
                std::span<float> scales);
// Values begin .. begin + out.size(); begin a multiple of 64.
void nf4_decode(std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::int64_t begin, std::span<float> out);
void nf4_decode(std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::int64_t begin, std::span<std::uint16_t> out);

// Scales in 8 bits: mean + step of the group * code, code -127 to 127.
struct NarrowScales {
    std::vector<std::int8_t> codes; // [blocks]
    std::vector<float> steps; // [ceil(blocks / 256)]
    float mean = 0;
};
NarrowScales narrow_scales(std::span<const float> scales);
std::vector<float> widen_scales(const NarrowScales& scales);

// One row. Returns its step: value = code * step. A row of zeros has step 0.
float int8_encode(std::span<const float> row, std::span<std::int8_t> codes);
void int8_decode(std::span<const std::int8_t> codes, float step, std::span<float> out);
void int8_decode(std::span<const std::int8_t> codes, float step, std::span<std::uint16_t> out);

} // namespace cuset
