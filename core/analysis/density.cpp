#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <string>

#include "core/analysis/statistics.h"
#include "core/base/error.h"

namespace cuset {
namespace {

constexpr double reach = 9; // bandwidths; beyond it a kernel is below 3e-18 of its peak
constexpr double bins_per_bandwidth = 32;
constexpr double most_bins = 1 << 20;

double kernel(double distance, double bandwidth) {
    const double u = distance / bandwidth;
    return std::abs(u) > reach ? 0.0 : std::exp(-0.5 * u * u);
}

// Each value shared between its two nearest bin centres, i * width.
std::vector<double> linear_bins(std::span<const float> values, std::size_t bins) {
    std::vector<double> weight(bins + 1);
    for (const float value : values) {
        const double place = static_cast<double>(value) * static_cast<double>(bins);
        const auto i = std::min(bins - 1, static_cast<std::size_t>(place));
        const double part = place - static_cast<double>(i);
        weight[i] += 1 - part;
        weight[i + 1] += part;
    }
    return weight;
}

void add_binned(std::span<const float> values, double bandwidth, Density& density) {
    const auto bins =
        static_cast<std::size_t>(std::max(1024.0, std::ceil(bins_per_bandwidth / bandwidth)));
    const std::vector<double> weight = linear_bins(values, bins);
    const double width = 1.0 / static_cast<double>(bins);
    for (std::size_t p = 0; p < density.x.size(); ++p) {
        const double x = density.x[p];
        const double low = std::max(0.0, std::floor((x - reach * bandwidth) / width));
        const double high = std::min(1.0, x + reach * bandwidth) / width;
        double sum = 0;
        for (auto i = static_cast<std::size_t>(low); i <= bins && static_cast<double>(i) <= high;
             ++i)
            sum += weight[i] * kernel(x - static_cast<double>(i) * width, bandwidth);
        density.y[p] = sum;
    }
}

// For bandwidths so narrow that bins cannot follow: each value reaches few of the points, or none.
void add_exact(std::span<const float> values, double bandwidth, Density& density) {
    const auto last = static_cast<double>(density.x.size() - 1);
    for (const float value : values) {
        const auto c = static_cast<double>(value);
        const double low = std::ceil((c - reach * bandwidth) * last);
        const double high = std::floor((c + reach * bandwidth) * last);
        for (double p = std::max(0.0, low); p <= std::min(last, high); ++p) {
            const auto i = static_cast<std::size_t>(p);
            density.y[i] += kernel(density.x[i] - c, bandwidth);
        }
    }
}

} // namespace

Density kernel_density(std::span<const float> values, int points) {
    if (points < 2 || points > max_bins)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(points) + ", needs 2 to " + std::to_string(max_bins),
                    "points");
    Density density;
    for (int p = 0; p < points; ++p)
        density.x.push_back(static_cast<double>(p) / (points - 1));
    density.y.assign(density.x.size(), 0.0);

    std::vector<float> usable;
    std::copy_if(values.begin(), values.end(), std::back_inserter(usable),
                 [](float c) { return c >= 0 && c <= 1; });
    const Moments all = moments(usable);
    if (all.count < 2 || !(all.std > 0))
        return density;
    const auto count = static_cast<double>(all.count);
    const double sample_std = all.std * std::sqrt(count / (count - 1));
    const double bandwidth = sample_std * std::pow(count, -0.2); // Scott's rule in one dimension
    if (bins_per_bandwidth / bandwidth <= most_bins)
        add_binned(usable, bandwidth, density);
    else
        add_exact(usable, bandwidth, density);
    const double scale = 1 / (count * bandwidth * std::sqrt(2 * std::numbers::pi));
    for (double& y : density.y)
        y *= scale;
    return density;
}

} // namespace cuset
