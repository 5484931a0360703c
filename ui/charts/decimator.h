// Decimation of long curves for drawing: the minimum and the maximum of every pixel column, so that
// a single low token stays visible at any zoom. Free of Qt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cuset {

// Indices into `values`, ascending, of the first smallest and the first largest value of each of
// `columns` equal parts of [begin, end): at most two a column. All finite values are kept where
// there are at most two a column. NaN and infinities are left out. The range is clipped to the
// values.
std::vector<std::int64_t> decimateRange(std::span<const float> values, std::int64_t begin,
                                        std::int64_t end, int columns);

// The same for points at the ascending positions `x` ([P], as `y`): columns are equal parts of
// [from, to]. The nearest points outside the range are kept as well, so that a line runs on to the
// edges.
std::vector<std::int64_t> decimatePoints(std::span<const double> x, std::span<const double> y,
                                         double from, double to, int columns);

} // namespace cuset
