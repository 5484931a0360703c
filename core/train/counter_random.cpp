#include "core/train/counter_random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
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
CUSET_INLINE void factors(std::uint64_t key, std::int64_t begin, std::int64_t count,
                          std::uint32_t threshold, float scale, float* factor) {
    std::array<std::uint64_t, block / 4> draws;
    const std::int64_t words = (count + 3) / 4;
    for (std::int64_t i = 0; i < words; ++i)
        draws[static_cast<std::size_t>(i)] =
            random_bits(key, static_cast<std::uint64_t>(begin / 4 + i));
    // The low bits first: the order of the words' halves in memory.
    std::array<std::uint16_t, block> halves;
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(halves.data(), draws.data(), static_cast<std::size_t>(words) * 8);
    for (std::int64_t i = 0; i < count; ++i)
        factor[i] = halves[static_cast<std::size_t>(i)] < threshold ? 0.f : scale;
}

template <bool adds, class T>
CUSET_INLINE void apply(const T* in, T* out, const float* factor, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + simd::lanes <= n; i += simd::lanes) {
        simd::Floats x, f, y{};
        simd::load(in + i, x);
        simd::load(factor + i, f);
        if constexpr (adds)
            simd::load(out + i, y);
        y += x * f;
        simd::store(y, out + i);
    }
    if (i == n)
        return;
    std::array<T, simd::lanes> from{}, to{};
    std::copy_n(in + i, n - i, from.begin());
    std::copy_n(out + i, n - i, to.begin());
    simd::Floats x, f{}, y{};
    simd::load(from.data(), x);
    for (std::int64_t j = 0; j < n - i; ++j)
        f[j] = factor[i + j];
    if constexpr (adds)
        simd::load(to.data(), y);
    y += x * f;
    simd::store(y, to.data());
    std::copy_n(to.begin(), n - i, out + i);
}

template <bool adds, class T> CUSET_INLINE void drop(const T* in, T* out, const DropRange& range) {
    const Dropping dropping(range.p);
    std::array<float, block> factor;
    for (std::int64_t done = 0; done < range.count;) {
        const std::int64_t first = range.begin + done;
        const std::int64_t aligned = first / 4 * 4, skip = first - aligned;
        const std::int64_t n = std::min(block - skip, range.count - done);
        factors(range.key, aligned, skip + n, dropping.threshold, dropping.scale, factor.data());
        apply<adds>(in + done, out + done, factor.data() + skip, n);
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

CUSET_SIMD void drop_elements(const float* in, float* out, const DropRange& range) {
    drop<false>(in, out, range);
}

CUSET_SIMD void drop_elements(const std::uint16_t* in, std::uint16_t* out, const DropRange& range) {
    drop<false>(in, out, range);
}

CUSET_SIMD void add_dropped(const float* in, float* out, const DropRange& range) {
    drop<true>(in, out, range);
}

CUSET_SIMD void add_dropped(const std::uint16_t* in, std::uint16_t* out, const DropRange& range) {
    drop<true>(in, out, range);
}

} // namespace cuset
