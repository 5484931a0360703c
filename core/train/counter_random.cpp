#include "core/train/counter_random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/model/simd.h"

namespace cuset {
namespace {

constexpr std::int64_t block = 256; // elements of a pass, in registers and the nearest cache

struct Dropping {
    std::uint32_t threshold = 0; // 16-bit draws below it are dropped
    float scale = 1;
    explicit Dropping(double p)
        : threshold(static_cast<std::uint32_t>(std::lround(p * 65536.0)))
        , scale(threshold >= 65536 ? 0.f : 65536.f / static_cast<float>(65536 - threshold)) { }
};

// The factor of each of `count` <= block elements from element `begin`, a multiple of 4.
CUSET_SIMD void factors(std::uint64_t key, std::int64_t begin, std::int64_t count,
                        std::uint32_t threshold, float scale, float* factor) {
    std::array<std::uint64_t, block / 4> draws;
    const std::int64_t words = (count + 3) / 4;
    for (std::int64_t i = 0; i < words; ++i)
        draws[static_cast<std::size_t>(i)] =
            random_bits(key, static_cast<std::uint64_t>(begin / 4 + i));
    for (std::int64_t i = 0; i < count; ++i) {
        const auto lane = static_cast<std::uint32_t>(
            draws[static_cast<std::size_t>(i / 4)] >> (16 * (i % 4)) & 0xffffu);
        factor[i] = lane < threshold ? 0.f : scale;
    }
}

float widen(float x) {
    return x;
}

float widen(std::uint16_t x) {
    return simd::bfloat16_to_float(x);
}

void narrow(float x, float& out) {
    out = x;
}

void narrow(float x, std::uint16_t& out) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    out = (bits & 0x7fffffffu) > 0x7f800000u
        ? std::uint16_t{0x7fc0}
        : static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

template <class T>
void drop(const T* in, T* out, std::uint64_t key, std::int64_t begin, std::int64_t count,
          double p) {
    const Dropping dropping(p);
    std::array<float, block> factor;
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t first = begin + done;
        const std::int64_t aligned = first / 4 * 4, skip = first - aligned;
        const std::int64_t n = std::min(block - skip, count - done);
        factors(key, aligned, skip + n, dropping.threshold, dropping.scale, factor.data());
        for (std::int64_t i = 0; i < n; ++i)
            narrow(widen(in[done + i]) * factor[static_cast<std::size_t>(skip + i)], out[done + i]);
        done += n;
    }
}

} // namespace

std::vector<std::int64_t> random_permutation(std::int64_t count, std::uint64_t key) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto draw = [&](std::int64_t i) {
        return random_bits(key, static_cast<std::uint64_t>(i));
    };
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const std::uint64_t x = draw(a), y = draw(b);
        return x != y ? x < y : a < b;
    });
    return order;
}

void drop_elements(const float* in, float* out, std::uint64_t key, std::int64_t begin,
                   std::int64_t count, double p) {
    drop(in, out, key, begin, count, p);
}

void drop_elements(const std::uint16_t* in, std::uint16_t* out, std::uint64_t key,
                   std::int64_t begin, std::int64_t count, double p) {
    drop(in, out, key, begin, count, p);
}

} // namespace cuset
