// The inner loops over many tokens, compiled for several instruction sets where the compiler can.
// No value here is ever a NaN; the file is compiled with that promise.
#pragma once

#include <array>
#include <cstdint>

#include "core/data/token_labels.h"

namespace cuset::kernels {

// Number of values > threshold.
std::int32_t count_above(const float* values, std::int32_t count, float threshold);

// min over i of high[i] - low[i]. count >= 1.
double min_difference(const double* high, const double* low, std::int32_t count);
// The first i with float((high[i] - low[i]) / length) = mean; count if there is none. `mean` is the
// smallest of these. length > 0.
std::int32_t first_mean_at(const double* high, const double* low, std::int32_t count, double length,
                           float mean);
// min over i of high[i] / (first + i). count >= 1, first >= 1.
double min_growing_mean(const double* high, double first, std::int32_t count);
// min over i of (total - low[i]) / (first - i). count >= 1, first >= count.
double min_shrinking_mean(const double* low, double total, double first, std::int32_t count);

// below[i] = (sums[i + window] - sums[i]) / window < threshold, as 0 or 1. Returns how many are 1.
std::int32_t flag_low_windows(const double* sums, std::int32_t count, std::int32_t window,
                              double threshold, std::uint8_t* below);

// touched[k]: number of windows with below[s] = 1, [s, s + window), that hold a token with bit k.
// `labels` has count + window - 1 tokens; bit 15 must be free: it becomes "any sensitive bit".
inline constexpr int lanes = 16;
inline constexpr int any_sensitive_lane = 15;
void count_touched(const LabelBits* labels, const std::uint8_t* below, std::int32_t count,
                   std::int32_t window, std::array<std::int64_t, lanes>& touched);

struct PushSums {
    double confident = 0; // sum of (1 - c) over c > tau
    double confident_sensitive = 0; // the same over sensitive tokens
};
// `sensitive` in {0, 1}.
PushSums push_sums(const float* confidence, const std::uint8_t* sensitive, std::int32_t count,
                   float threshold);

} // namespace cuset::kernels
