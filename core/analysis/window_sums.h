// Exact prefix sums of one sample's confidences, and window means made from them: Eq. 5-7 in linear
// time.
//
// Each confidence is rounded to a multiple of 2^-q with T * 2^q < 2^53, so every sum and every
// difference of sums is exact in double: equal windows have equal means whatever precedes them, and
// no order of summation or number of threads changes a bit. The rounding moves a mean by at most T
// * 2^-53 (1e-13 at 1,000 tokens).
#pragma once

#include <cstdint>
#include <span>

#include "core/analysis/window.h"

namespace cuset {

// sums[0] = 0, sums[t + 1] = sums[t] + rounded confidence[t]; [T + 1]. Confidences in [0, 1].
void prefix_sums(std::span<const float> confidence, std::span<double> sums);

// Eq. 5 cuts [0, T) in three: windows clipped on the left only, windows of one form (full, or the
// whole sample where both ends are clipped), windows clipped on the right only.
struct WindowSegments {
    std::int64_t before = 0; // floor(l/2)
    std::int64_t after = 0; // ceil(l/2)
    std::int64_t left_end = 0; // [0, left_end): [0, t + after)
    std::int64_t right_begin = 0; // [right_begin, T): [t - before, T)
    bool whole = false; // between them: [0, T) instead of [t - before, t + after)
};
WindowSegments window_segments(std::int64_t tokens, std::int32_t window, bool whole_if_short);

// Eq. 6 at token t, in double.
double window_mean_at(std::span<const double> sums, const WindowSegments& segments, std::int64_t t);

// Eq. 7 on kept prefix sums. `confidence` [T], `sums` [T + 1].
WindowMinimum window_minimum_of(std::span<const float> confidence, std::span<const double> sums,
                                std::int32_t window, bool whole_if_short);

} // namespace cuset
