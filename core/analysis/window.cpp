#include "core/analysis/window.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <vector>

#include "core/analysis/kernels.h"
#include "core/analysis/window_sums.h"

namespace cuset {
namespace {

constexpr std::int64_t block_tokens = 512;

// The first token where the smallest mean is reached, found block by block: the blocks come in the
// order of their tokens, and only a smaller float replaces the best one.
struct BestBlock {
    float mean = 2; // above any mean
    std::int64_t begin = 0;
    std::int64_t end = 0;

    void offer(double smallest, std::int64_t from, std::int64_t to) {
        const float rounded = static_cast<float>(smallest);
        if (rounded < mean)
            *this = {rounded, from, to};
    }
};

// Calls with each block of [begin, end): its first token and its length.
template <typename Function>
void for_blocks(std::int64_t begin, std::int64_t end, Function function) {
    for (std::int64_t t = begin; t < end; t += block_tokens)
        function(t, static_cast<std::int32_t>(std::min(block_tokens, end - t)));
}

} // namespace

void prefix_sums(std::span<const float> confidence, std::span<double> sums) {
    assert(sums.size() == confidence.size() + 1);
    // Adding and taking away 1.5 * 2^(52 - q) rounds to a multiple of 2^-q; q = 50 still holds c
    // = 1.
    const int q = std::min(50, 53 - static_cast<int>(std::bit_width(confidence.size())));
    assert(q > 0);
    const double magic = 1.5 * static_cast<double>(std::int64_t{1} << 52)
        / static_cast<double>(std::int64_t{1} << q);
    double sum = 0;
    sums[0] = 0;
    for (std::size_t t = 0; t < confidence.size(); ++t) {
        sum += (static_cast<double>(confidence[t]) + magic) - magic;
        sums[t + 1] = sum;
    }
}

WindowSegments window_segments(std::int64_t tokens, std::int32_t window, bool whole_if_short) {
    WindowSegments result;
    result.before = window / 2;
    result.after = window - result.before;
    const std::int64_t first_cut_right = tokens - result.after + 1;
    result.whole = result.before > tokens - result.after;
    if (whole_if_short && tokens < window) {
        result.whole = true;
        result.right_begin = tokens;
        return result;
    }
    result.left_end = std::clamp<std::int64_t>(std::min(result.before, first_cut_right), 0, tokens);
    result.right_begin =
        std::clamp<std::int64_t>(std::max(result.before, first_cut_right), 0, tokens);
    return result;
}

double window_mean_at(std::span<const double> sums, const WindowSegments& segments,
                      std::int64_t t) {
    const std::int64_t tokens = static_cast<std::int64_t>(sums.size()) - 1;
    std::int64_t begin = 0, end = tokens;
    if (t < segments.left_end) {
        end = t + segments.after;
    } else if (t >= segments.right_begin) {
        begin = t - segments.before;
    } else if (!segments.whole) {
        begin = t - segments.before;
        end = t + segments.after;
    }
    return (sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(begin)])
        / static_cast<double>(end - begin);
}

WindowMinimum window_minimum_of(std::span<const float> confidence, std::span<const double> sums,
                                std::int32_t window, bool whole_if_short) {
    const std::int64_t tokens = static_cast<std::int64_t>(confidence.size());
    if (tokens == 0)
        return {};
    if (window == 1) {
        const auto smallest = std::min_element(confidence.begin(), confidence.end());
        return {*smallest, static_cast<std::int32_t>(smallest - confidence.begin())};
    }
    const WindowSegments cut = window_segments(tokens, window, whole_if_short);
    const double* p = sums.data();
    BestBlock best;
    for_blocks(0, cut.left_end, [&](std::int64_t t, std::int32_t n) {
        best.offer(
            kernels::min_growing_mean(p + t + cut.after, static_cast<double>(t + cut.after), n), t,
            t + n);
    });
    if (cut.whole && cut.left_end < cut.right_begin)
        best.offer(p[tokens] / static_cast<double>(tokens), cut.left_end, cut.right_begin);
    else
        for_blocks(cut.left_end, cut.right_begin, [&](std::int64_t t, std::int32_t n) {
            const double sum = kernels::min_difference(p + t + cut.after, p + t - cut.before, n);
            best.offer(sum / static_cast<double>(window), t, t + n);
        });
    for_blocks(cut.right_begin, tokens, [&](std::int64_t t, std::int32_t n) {
        const auto first = static_cast<double>(tokens - t + cut.before);
        best.offer(kernels::min_shrinking_mean(p + t - cut.before, p[tokens], first, n), t, t + n);
    });
    std::int64_t at = best.begin;
    if (at >= cut.left_end && at < cut.right_begin && !cut.whole)
        at += kernels::first_mean_at(p + at + cut.after, p + at - cut.before,
                                     static_cast<std::int32_t>(best.end - at), window, best.mean);
    while (static_cast<float>(window_mean_at(sums, cut, at)) != best.mean)
        ++at;
    assert(at < best.end);
    return {best.mean, static_cast<std::int32_t>(at)};
}

WindowRange window_at(std::int32_t t, std::int32_t tokens, std::int32_t window,
                      bool whole_if_short) {
    assert(t >= 0 && t < tokens && window >= 1);
    if (whole_if_short && tokens < window)
        return {0, tokens};
    const std::int64_t before = window / 2, after = window - before;
    return {static_cast<std::int32_t>(std::max<std::int64_t>(0, t - before)),
            static_cast<std::int32_t>(std::min<std::int64_t>(tokens, t + after))};
}

void window_means(std::span<const float> confidence, std::int32_t window, bool whole_if_short,
                  std::span<float> means) {
    assert(window >= 1 && means.size() == confidence.size());
    if (window == 1) { // the token itself, without the sums' rounding
        std::copy(confidence.begin(), confidence.end(), means.begin());
        return;
    }
    std::vector<double> sums(confidence.size() + 1);
    prefix_sums(confidence, sums);
    const auto tokens = static_cast<std::int64_t>(confidence.size());
    const WindowSegments cut = window_segments(tokens, window, whole_if_short);
    for (std::int64_t t = 0; t < tokens; ++t)
        means[static_cast<std::size_t>(t)] = static_cast<float>(window_mean_at(sums, cut, t));
}

WindowMinimum window_minimum(std::span<const float> confidence, std::int32_t window,
                             bool whole_if_short) {
    assert(window >= 1);
    std::vector<double> sums(confidence.size() + 1);
    prefix_sums(confidence, sums);
    return window_minimum_of(confidence, sums, window, whole_if_short);
}

} // namespace cuset
