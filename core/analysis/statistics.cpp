#include "core/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/analysis/float_sort.h"
#include "core/analysis/kolmogorov.h"
#include "core/base/error.h"

namespace cuset {

Moments moments(std::span<const float> values) {
    Moments result;
    result.count = static_cast<std::int64_t>(values.size());
    if (values.empty())
        return result;
    const auto count = static_cast<double>(values.size());
    double sum = 0;
    for (const float value : values)
        sum += static_cast<double>(value);
    result.mean = sum / count;
    // Around the mean: a sum of squares would cancel for values that are nearly equal.
    double squares = 0, rest = 0;
    for (const float value : values) {
        const double distance = static_cast<double>(value) - result.mean;
        squares += distance * distance;
        rest += distance;
    }
    result.std = std::sqrt(std::max(0.0, (squares - rest * rest / count) / count));
    return result;
}

std::vector<std::int64_t> histogram(std::span<const float> values, int bins) {
    if (bins < 1 || bins > max_bins)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(bins) + ", needs 1 to " + std::to_string(max_bins),
                    "bins");
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
    const double width = 1.0 / bins;
    for (const float value : values) {
        const auto c = static_cast<double>(value);
        if (!(c >= 0 && c <= 1))
            continue;
        // The product may land one bin beside the edges i * width that NumPy compares with.
        int bin = std::min(bins - 1, static_cast<int>(c * bins));
        if (c < bin * width)
            --bin;
        else if (bin + 1 < bins && c >= (bin + 1) * width)
            ++bin;
        ++counts[static_cast<std::size_t>(bin)];
    }
    return counts;
}

KsTest ks_test_sorted(std::span<const float> first, std::span<const float> second) {
    KsTest result;
    if (first.empty() || second.empty())
        return result;
    const auto n = static_cast<double>(first.size()), m = static_cast<double>(second.size());
    std::size_t i = 0, j = 0;
    while (i < first.size() && j < second.size()) {
        const float value = std::min(first[i], second[j]);
        while (i < first.size() && first[i] == value)
            ++i;
        while (j < second.size() && second[j] == value)
            ++j;
        result.statistic = std::max(
            result.statistic, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
    }
    // scipy: one sample of round(nm / (n + m)) values. At least one, so that the smallest samples
    // have a p.
    const double larger = std::max(n, m), smaller = std::min(n, m);
    const double size = std::max(1.0, std::nearbyint(larger * smaller / (larger + smaller)));
    double log_p = log_kolmogorov_sf(static_cast<std::int64_t>(size), result.statistic);
    if (std::isinf(log_p)) // D = 1: the exact two-sample probability of complete separation
        log_p =
            std::numbers::ln2 + std::lgamma(n + 1) + std::lgamma(m + 1) - std::lgamma(n + m + 1);
    result.p_value = result.statistic < 1 ? std::exp(log_p) : 0.0;
    result.log10_p = std::min(0.0, log_p / std::numbers::ln10);
    return result;
}

KsTest ks_test(std::span<const float> first, std::span<const float> second) {
    return ks_test_sorted(sorted_copy(first), sorted_copy(second));
}

} // namespace cuset
