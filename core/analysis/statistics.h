// Statistics of confidences: moments, histograms, densities, the two-sample Kolmogorov-Smirnov
// test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cuset {

struct Moments {
    std::int64_t count = 0;
    double mean = 0; // 0 without values
    double std = 0; // population standard deviation (divisor: count); 0 without values
};
Moments moments(std::span<const float> values);

// Most bins or points that histogram() and kernel_density() make.
inline constexpr int max_bins = 1 << 20;

// Counts of values in [0, 1] in equal bins; the last bin includes 1. numpy.histogram(range=(0, 1)):
// others are left out. Throws Error(bad_value) unless 1 <= bins <= max_bins.
std::vector<std::int64_t> histogram(std::span<const float> values, int bins);

struct Density {
    std::vector<double> x; // [P] in [0, 1]
    std::vector<double> y; // [P] density per unit
};
// Gaussian kernel density with Scott's bandwidth, as scipy.stats.gaussian_kde evaluates it at
// `points` equally spaced places from 0 to 1. Computed on bins of 1/32 bandwidth, each value shared
// between two: within 2e-4 of the curve's highest value (1e-3 promised). Values outside [0, 1] are
// left out. Without two different values there is no bandwidth: y is 0. Throws Error(bad_value)
// unless 2 <= points <= max_bins.
Density kernel_density(std::span<const float> values, int points);

struct KsTest {
    double statistic = 0; // sup |F1 - F2| in [0, 1]
    double p_value = 1; // two-sided, asymptotic; may underflow to 0
    double log10_p = 0; // does not underflow
};
// Two-sample Kolmogorov-Smirnov test; scipy.stats.ks_2samp(method="asymp"), whose p is that of one
// sample of round(nm / (n + m)) values (here at least 1). Empty samples: statistic 0, p 1. Complete
// separation (statistic 1): p is 0 as in scipy, and log10_p that of the exact two-sample test, 2 n!
// m! / (n + m)!. NaNs are left out. Sorts copies: O(n + m).
KsTest ks_test(std::span<const float> first, std::span<const float> second);
// The same for values that are sorted already and hold no NaN.
KsTest ks_test_sorted(std::span<const float> first, std::span<const float> second);

} // namespace cuset
