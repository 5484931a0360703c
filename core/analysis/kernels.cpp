#include "core/analysis/kernels.h"

#include <algorithm>
#include <limits>

// A sanitizer's start-up order does not fit the resolvers of multiversioned functions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)                                \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CUSET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CUSET_CLONES
#endif

namespace cuset::kernels {

CUSET_CLONES std::int32_t count_above(const float* values, std::int32_t count, float threshold) {
    std::int32_t above = 0;
    for (std::int32_t i = 0; i < count; ++i)
        above += values[i] > threshold ? 1 : 0;
    return above;
}

CUSET_CLONES double min_difference(const double* high, const double* low, std::int32_t count) {
    double smallest = std::numeric_limits<double>::max();
    for (std::int32_t i = 0; i < count; ++i) {
        const double difference = high[i] - low[i];
        smallest = difference < smallest ? difference : smallest;
    }
    return smallest;
}

CUSET_CLONES std::int32_t first_mean_at(const double* high, const double* low, std::int32_t count,
                                        double length, float mean) {
    constexpr std::int32_t width = 32; // looked at together, so that the compiler may use vectors
    std::int32_t i = 0;
    for (; i + width <= count; i += width) {
        int any = 0;
        for (std::int32_t k = i; k < i + width; ++k)
            any |= static_cast<float>((high[k] - low[k]) / length) <= mean ? 1 : 0;
        if (any != 0)
            break;
    }
    while (i<count&& static_cast<float>((high[i] - low[i]) / length)> mean)
        ++i;
    return i;
}

CUSET_CLONES double min_growing_mean(const double* high, double first, std::int32_t count) {
    double smallest = std::numeric_limits<double>::max();
    for (std::int32_t i = 0; i < count; ++i) {
        const double mean = high[i] / (first + static_cast<double>(i));
        smallest = mean < smallest ? mean : smallest;
    }
    return smallest;
}

CUSET_CLONES double min_shrinking_mean(const double* low, double total, double first,
                                       std::int32_t count) {
    double smallest = std::numeric_limits<double>::max();
    for (std::int32_t i = 0; i < count; ++i) {
        const double mean = (total - low[i]) / (first - static_cast<double>(i));
        smallest = mean < smallest ? mean : smallest;
    }
    return smallest;
}

CUSET_CLONES std::int32_t flag_low_windows(const double* sums, std::int32_t count,
                                           std::int32_t window, double threshold,
                                           std::uint8_t* below) {
    const double length = window;
    std::int32_t flagged = 0;
    for (std::int32_t i = 0; i < count; ++i) {
        const bool low = (sums[i + window] - sums[i]) / length < threshold;
        below[i] = low ? 1 : 0;
        flagged += low ? 1 : 0;
    }
    return flagged;
}

CUSET_CLONES void count_touched(const LabelBits* labels, const std::uint8_t* below,
                                std::int32_t count, std::int32_t window,
                                std::array<std::int64_t, lanes>& touched) {
    typedef std::int32_t Lanes __attribute__((vector_size(4 * lanes)));
    Lanes bit, last, counted = {};
    for (int k = 0; k < lanes; ++k) {
        bit[k] = 1 << k;
        last[k] = -1; // the newest token that has the bit
    }
    const std::int32_t tokens = count + window - 1;
    for (std::int32_t t = 0; t < tokens; ++t) {
        const std::int32_t bits =
            labels[t] | (is_cuda_sensitive(labels[t]) ? 1 << any_sensitive_lane : 0);
        const Lanes has = (bit & bits) != 0;
        last = (has & t) | (~has & last);
        const std::int32_t begin = t - window + 1;
        if (begin >= 0)
            counted -= (last >= begin) & -static_cast<std::int32_t>(below[begin]);
    }
    for (int k = 0; k < lanes; ++k)
        touched[static_cast<std::size_t>(k)] += counted[k];
}

CUSET_CLONES PushSums push_sums(const float* confidence, const std::uint8_t* sensitive,
                                std::int32_t count, float threshold) {
    constexpr std::int32_t width = 8; // sums of their own, so that the compiler may use vectors
    double all[width] = {}, some[width] = {};
    const std::int32_t whole = count - count % width;
    for (std::int32_t i = 0; i < whole; i += width)
        for (std::int32_t k = 0; k < width; ++k) {
            const float c = confidence[i + k];
            const double room = c > threshold ? 1.0 - static_cast<double>(c) : 0.0;
            all[k] += room;
            some[k] += room * static_cast<double>(sensitive[i + k]);
        }
    for (std::int32_t i = whole; i < count; ++i) {
        const float c = confidence[i];
        const double room = c > threshold ? 1.0 - static_cast<double>(c) : 0.0;
        all[i - whole] += room;
        some[i - whole] += room * static_cast<double>(sensitive[i]);
    }
    PushSums sums;
    for (int k = 0; k < width; ++k) {
        sums.confident += all[k];
        sums.confident_sensitive += some[k];
    }
    return sums;
}

} // namespace cuset::kernels
