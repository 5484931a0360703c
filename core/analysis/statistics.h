// Statistics of confidences: moments, histograms, densities, the two-sample Kolmogorov-Smirnov test.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cuset {

struct Moments {
    std::int64_t count = 0;
    double mean = 0; // 0 without values
    double std = 0;  // population standard deviation (divisor: count); 0 without values
};
Moments moments(std::span<const float> values);

// Counts of values in [0, 1] in equal bins; the last bin includes 1.
std::vector<std::int64_t> histogram(std::span<const float> values, int bins);

struct Density {
    std::vector<double> x; // [P] in [0, 1]
    std::vector<double> y; // [P] density per unit
};
// Gaussian kernel density with Scott's bandwidth, as scipy.stats.gaussian_kde evaluates it at `points` equally spaced
// places from 0 to 1 (computed on `bins` fine bins: within 1e-3 of the exact sum).
Density kernel_density(std::span<const float> values, int points);

struct KsTest {
    double statistic = 0;  // sup |F1 - F2| in [0, 1]
    double p_value = 1;    // two-sided, asymptotic; may underflow to 0
    double log10_p = 0;    // does not underflow
};
// Two-sample Kolmogorov-Smirnov test; scipy.stats.ks_2samp(method="asymp"). Empty samples: statistic 0, p 1.
// Sorts copies: O((n + m) log(n + m)).
KsTest ks_test(std::span<const float> first, std::span<const float> second);

} // namespace cuset
