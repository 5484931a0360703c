#include "core/train/block_quantization.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

namespace cuset {

const std::array<float, 16> nf4_levels{-1.0f,
                                       -0.6961928009986877f,
                                       -0.5250730514526367f,
                                       -0.39491748809814453f,
                                       -0.28444138169288635f,
                                       -0.18477343022823334f,
                                       -0.09105003625154495f,
                                       0.0f,
                                       0.07958029955625534f,
                                       0.16093020141124725f,
                                       0.24611230194568634f,
                                       0.33791524171829224f,
                                       0.44070982933044434f,
                                       0.5626170039176941f,
                                       0.7229568362236023f,
                                       1.0f};

namespace {

float largest_magnitude(std::span<const float> values) {
    float largest = 0;
    for (const float x : values)
        largest = std::max(largest, std::abs(x));
    return largest;
}

// Of the nearest level.
std::uint8_t level_of(float x) {
    std::uint8_t code = 0;
    for (std::size_t i = 0; i + 1 < nf4_levels.size(); ++i)
        code += x > (nf4_levels[i] + nf4_levels[i + 1]) / 2;
    return code;
}

void put(float x, float& out) {
    out = x;
}

void put(float x, std::uint16_t& out) { // round to nearest even; weights are finite
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    out = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

template <class T>
void decode(std::span<const std::uint8_t> codes, std::span<const float> scales, std::int64_t begin,
            std::span<T> out) {
    assert(begin % nf4_block == 0);
    std::array<T, 16> levels;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto at = static_cast<std::size_t>(begin) + i;
        if (i % nf4_block == 0) {
            const float scale = scales[at / nf4_block];
            for (std::size_t level = 0; level < levels.size(); ++level)
                put(nf4_levels[level] * scale, levels[level]);
        }
        const std::uint8_t pair = codes[at / 2];
        out[i] = levels[at % 2 == 0 ? pair >> 4 : pair & 15u];
    }
}

} // namespace

void nf4_encode(std::span<const float> values, std::span<std::uint8_t> codes,
                std::span<float> scales) {
    assert(values.size() % 2 == 0 && codes.size() == values.size() / 2);
    for (std::size_t begin = 0; begin < values.size(); begin += nf4_block) {
        const auto part =
            values.subspan(begin, std::min<std::size_t>(nf4_block, values.size() - begin));
        const float scale = largest_magnitude(part);
        scales[begin / nf4_block] = scale;
        const float inverse = scale > 0 ? 1 / scale : 0;
        for (std::size_t i = 0; i < part.size(); i += 2)
            codes[(begin + i) / 2] = static_cast<std::uint8_t>(level_of(part[i] * inverse) << 4
                                                               | level_of(part[i + 1] * inverse));
    }
}

void nf4_decode(std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::int64_t begin, std::span<float> out) {
    decode(codes, scales, begin, out);
}

void nf4_decode(std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::int64_t begin, std::span<std::uint16_t> out) {
    decode(codes, scales, begin, out);
}

NarrowScales narrow_scales(std::span<const float> scales) {
    NarrowScales narrow;
    double sum = 0;
    for (const float s : scales)
        sum += static_cast<double>(s);
    if (!scales.empty())
        narrow.mean = static_cast<float>(sum / static_cast<double>(scales.size()));
    std::vector<float> rest(scale_group);
    for (std::size_t begin = 0; begin < scales.size(); begin += scale_group) {
        const std::size_t n = std::min<std::size_t>(scale_group, scales.size() - begin);
        for (std::size_t i = 0; i < n; ++i)
            rest[i] = scales[begin + i] - narrow.mean;
        narrow.codes.resize(begin + n);
        narrow.steps.push_back(
            int8_encode(std::span(rest).first(n), std::span(narrow.codes).subspan(begin, n)));
    }
    return narrow;
}

std::vector<float> widen_scales(const NarrowScales& narrow) {
    std::vector<float> scales(narrow.codes.size());
    for (std::size_t i = 0; i < scales.size(); ++i)
        scales[i] = narrow.mean + narrow.steps[i / scale_group] * narrow.codes[i];
    return scales;
}

float int8_encode(std::span<const float> row, std::span<std::int8_t> codes) {
    const float step = largest_magnitude(row) / 127;
    for (std::size_t i = 0; i < row.size(); ++i)
        codes[i] = step > 0 ? static_cast<std::int8_t>(std::lround(row[i] / step)) : std::int8_t{0};
    return step;
}

void int8_decode(std::span<const std::int8_t> codes, float step, std::span<float> out) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        out[i] = static_cast<float>(codes[i]) * step;
}

void int8_decode(std::span<const std::int8_t> codes, float step, std::span<std::uint16_t> out) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        put(static_cast<float>(codes[i]) * step, out[i]);
}

} // namespace cuset
