#include "core/model/row_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/model/simd.h"

namespace cuset {
namespace {

constexpr std::int64_t tile = 128; // logits that share one maximum
constexpr std::int64_t block = 16 * tile; // logits that stay in the first-level cache
constexpr int entropy_top = 20; // EAFT's K, arXiv 2601.02151
constexpr float infinity = std::numeric_limits<float>::infinity();

// Sums of the row against the running maximum m: s = sum e^(z-m), e = sum (z-m) e^(z-m).
struct RowSums {
    float max = -infinity;
    double s = 0, e = 0;
    std::int64_t larger = 0; // logits over the target's
    bool valid = true; // no NaN before the first finite logit
};

CUSET_INLINE float widen(float value) {
    return value;
}
CUSET_INLINE float widen(std::uint16_t bits) {
    return simd::bfloat16_to_float(bits);
}

// Tile maxima of a block of whole tiles, and how many logits are over the target's.
template <class T>
CUSET_INLINE float scan_block(const T* z, std::int64_t count, float target, float* tile_max,
                              RowSums& sums) {
    float block_max = -infinity;
    simd::Ints larger{};
    for (std::int64_t t = 0; t < count; t += tile) {
        simd::Floats m = simd::Floats{} - infinity;
        for (std::int64_t i = t; i < t + tile; i += simd::lanes) {
            simd::Floats v;
            simd::load(z + i, v);
            m = v > m ? v : m;
            larger -= v > target;
        }
        tile_max[t / tile] = simd::largest(m);
        block_max = std::max(block_max, tile_max[t / tile]);
    }
    for (int l = 0; l < simd::lanes; ++l)
        sums.larger += larger[l];
    return block_max;
}

// Sums against the old maximum, seen from the new one.
CUSET_INLINE void raise_max(float new_max, RowSums& sums) {
    if (sums.s > 0) {
        const double shift = static_cast<double>(sums.max) - static_cast<double>(new_max);
        const double scale = std::exp(shift);
        sums.e = scale * (sums.e + shift * sums.s);
        sums.s *= scale;
    }
    sums.max = new_max;
}

// A NaN among the logits makes s a NaN.
template <class T> CUSET_INLINE void add_block(const T* z, std::int64_t count, RowSums& sums) {
    simd::Floats s{}, e{};
    const simd::Floats lowest = simd::Floats{} - 87.f;
    for (std::int64_t i = 0; i < count; i += simd::lanes) {
        simd::Floats d;
        simd::load(z + i, d);
        d -= sums.max;
        d = d < lowest ? lowest : d;
        simd::Floats p = d;
        simd::exp_negative(p);
        // -infinity (padding, or a token that the model rules out) counts for nothing.
        p = d <= lowest ? simd::Floats{} : p;
        s += p;
        e += p * d;
    }
    sums.s += static_cast<double>(simd::sum(s));
    sums.e += static_cast<double>(simd::sum(e));
}

template <class T>
CUSET_INLINE void sum_block(const T* z, std::int64_t count, float target, float* tile_max,
                            RowSums& sums) {
    const float m = scan_block(z, count, target, tile_max, sums);
    if (m > sums.max)
        raise_max(m, sums);
    if (sums.max > -infinity)
        add_block(z, count, sums);
    else
        for (std::int64_t i = 0; i < count; ++i)
            sums.valid = sums.valid && widen(z[i]) == -infinity;
}

template <class T>
CUSET_INLINE void sum_blocks(const T* row, std::int64_t n, float target, T lowest, float* tile_max,
                             RowSums& sums) {
    std::int64_t b = 0;
    for (; b + block <= n; b += block)
        sum_block(row + b, block, target, tile_max + b / tile, sums);
    if (b == n)
        return;
    alignas(64) std::array<T, block> rest;
    const std::int64_t padded = (n - b + tile - 1) / tile * tile;
    std::fill_n(std::copy_n(row + b, n - b, rest.begin()), padded - (n - b), lowest);
    sum_block(rest.data(), padded, target, tile_max + b / tile, sums);
}

CUSET_SIMD void sum_row(const float* row, std::int64_t n, float target, float* tile_max,
                        RowSums& sums) {
    sum_blocks(row, n, target, -infinity, tile_max, sums);
}

CUSET_SIMD void sum_row_bf16(const std::uint16_t* row, std::int64_t n, float target,
                             float* tile_max, RowSums& sums) {
    sum_blocks(row, n, target, std::uint16_t{0xff80}, tile_max, sums);
}

struct Candidate {
    float value;
    std::int32_t id;
};

bool before(const Candidate& a, const Candidate& b) {
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

// The `count` largest logits, largest first. Every one of them lies in a tile whose maximum is at
// least the count-th largest of the tile maxima, so few tiles are looked at.
template <class T>
void find_largest(const T* row, std::int64_t n, const std::vector<float>& tile_max,
                  std::size_t count, std::vector<Candidate>& found) {
    float threshold = -infinity;
    if (tile_max.size() > count) {
        std::vector<float> order = tile_max;
        const auto nth = order.begin() + static_cast<std::ptrdiff_t>(count - 1);
        std::nth_element(order.begin(), nth, order.end(), std::greater<>());
        threshold = *nth;
    }
    found.clear();
    for (std::size_t t = 0; t < tile_max.size(); ++t) {
        if (tile_max[t] < threshold)
            continue;
        const std::int64_t begin = static_cast<std::int64_t>(t) * tile;
        const std::int64_t end = std::min(n, begin + tile);
        for (std::int64_t i = begin; i < end; ++i)
            if (const float value = widen(row[i]); value >= threshold)
                found.push_back({value, static_cast<std::int32_t>(i)});
    }
    count = std::min(count, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
                      found.end(), before);
    found.resize(count);
}

// Of the probabilities of `top` renormalised to 1, nats.
float entropy_of(std::span<const Candidate> top) {
    double s = 0, e = 0;
    for (const Candidate& c : top) {
        const double d = static_cast<double>(c.value) - static_cast<double>(top.front().value);
        if (d > -700.0) {
            s += std::exp(d);
            e += d * std::exp(d);
        }
    }
    return static_cast<float>(std::max(0.0, std::log(s) - e / s));
}

template <class T, class Sum>
bool score(const T* row, std::int64_t n, std::int32_t target, RowScore& out,
           std::span<std::int32_t> top_ids, std::span<float> top_log_probs, Sum sum) {
    thread_local std::vector<float> tile_max;
    thread_local std::vector<Candidate> top;
    tile_max.resize(static_cast<std::size_t>((n + tile - 1) / tile));
    const float target_logit = widen(row[target]);
    RowSums sums;
    sum(row, n, target_logit, tile_max.data(), sums);
    if (!sums.valid || !(sums.max < infinity) || !(sums.s > 0))
        return false;
    const double log_sum = std::log(sums.s);
    const double log_sum_exp = static_cast<double>(sums.max) + log_sum;
    out.log_prob =
        static_cast<float>(std::min(0.0, static_cast<double>(target_logit) - log_sum_exp));
    out.entropy = static_cast<float>(std::max(0.0, log_sum - sums.e / sums.s));
    out.rank = static_cast<std::int32_t>(sums.larger);
    const std::size_t wanted = std::max<std::size_t>(entropy_top, top_ids.size());
    find_largest(row, n, tile_max, wanted, top);
    out.entropy_top20 = entropy_of(
        std::span<const Candidate>(top).first(std::min<std::size_t>(entropy_top, top.size())));
    for (std::size_t k = 0; k < top_ids.size(); ++k) {
        const bool there = k < top.size();
        top_ids[k] = there ? top[k].id : -1;
        top_log_probs[k] = there
            ? static_cast<float>(std::min(0.0, static_cast<double>(top[k].value) - log_sum_exp))
            : -infinity;
    }
    return true;
}

} // namespace

bool score_row(std::span<const float> row, std::int32_t target, RowScore& out,
               std::span<std::int32_t> top_ids, std::span<float> top_log_probs) {
    return score(row.data(), static_cast<std::int64_t>(row.size()), target, out, top_ids,
                 top_log_probs, sum_row);
}

bool score_row(std::span<const BFloat16Bits> row, std::int32_t target, RowScore& out,
               std::span<std::int32_t> top_ids, std::span<float> top_log_probs) {
    return score(reinterpret_cast<const std::uint16_t*>(row.data()),
                 static_cast<std::int64_t>(row.size()), target, out, top_ids, top_log_probs,
                 sum_row_bf16);
}

} // namespace cuset
