#include "ui/charts/decimator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cuset {
namespace {

// Appends the indices of the first smallest and first largest finite value of [begin, end).
template <typename Value>
void appendExtremes(std::span<const Value> values, std::int64_t begin, std::int64_t end,
                    std::vector<std::int64_t>& kept) {
    constexpr Value infinity = std::numeric_limits<Value>::infinity();
    Value low = infinity;
    Value high = -infinity;
    std::int64_t lowAt = -1;
    std::int64_t highAt = -1;
    for (std::int64_t i = begin; i < end; ++i) {
        const Value value = values[static_cast<std::size_t>(i)];
        if (value < low && value > -infinity) {
            low = value;
            lowAt = i;
        }
        if (value > high && value < infinity) {
            high = value;
            highAt = i;
        }
    }
    if (lowAt < 0)
        return;
    kept.push_back(std::min(lowAt, highAt));
    if (lowAt != highAt)
        kept.push_back(std::max(lowAt, highAt));
}

template <typename Value>
void appendFinite(std::span<const Value> values, std::int64_t begin, std::int64_t end,
                  std::vector<std::int64_t>& kept) {
    for (std::int64_t i = begin; i < end; ++i)
        if (std::isfinite(values[static_cast<std::size_t>(i)]))
            kept.push_back(i);
}

} // namespace

std::vector<std::int64_t> decimateRange(std::span<const float> values, std::int64_t begin,
                                        std::int64_t end, int columns) {
    begin = std::max<std::int64_t>(begin, 0);
    end = std::min(end, static_cast<std::int64_t>(values.size()));
    std::vector<std::int64_t> kept;
    if (begin >= end || columns <= 0)
        return kept;
    const std::int64_t count = end - begin;
    const std::int64_t parts = columns;
    kept.reserve(static_cast<std::size_t>(std::min(count, 2 * parts)));
    if (count <= 2 * parts) {
        appendFinite(values, begin, end, kept);
        return kept;
    }
    // The k-th boundary is begin + k * count / parts, split so that the product cannot overflow.
    const std::int64_t whole = count / parts;
    const std::int64_t rest = count % parts;
    for (std::int64_t k = 0; k < parts; ++k)
        appendExtremes(values, begin + k * whole + k * rest / parts,
                       begin + (k + 1) * whole + (k + 1) * rest / parts, kept);
    return kept;
}

std::vector<std::int64_t> decimatePoints(std::span<const double> x, std::span<const double> y,
                                         double from, double to, int columns) {
    std::vector<std::int64_t> kept;
    x = x.first(std::min(x.size(), y.size()));
    if (x.empty() || columns <= 0 || !(from < to))
        return kept;
    const auto indexOf = [&](auto place) {
        return static_cast<std::int64_t>(std::distance(x.begin(), place));
    };
    const std::int64_t begin = indexOf(std::lower_bound(x.begin(), x.end(), from));
    const std::int64_t end = indexOf(std::upper_bound(x.begin(), x.end(), to));
    if (begin > 0)
        appendFinite(y, begin - 1, begin, kept);
    if (end - begin <= 2 * static_cast<std::int64_t>(columns)) {
        appendFinite(y, begin, end, kept);
    } else {
        std::int64_t at = begin;
        for (int k = 1; k <= columns && at < end; ++k) {
            const double edge = from + (to - from) * k / columns;
            const auto next = k == columns
                ? x.begin() + end
                : std::lower_bound(x.begin() + at, x.begin() + end, edge);
            appendExtremes(y, at, indexOf(next), kept);
            at = indexOf(next);
        }
    }
    if (end < static_cast<std::int64_t>(x.size()))
        appendFinite(y, end, end + 1, kept);
    return kept;
}

} // namespace cuset
