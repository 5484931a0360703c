// Round places for axis ticks and their labels.
#pragma once

#include <vector>

#include <QString>

namespace cuset {

struct AxisTick {
    double value = 0;
    QString label;
};

// Ticks at multiples of 1, 2 or 5 times a power of ten inside [low, high], at most `most` (>= 2) of
// them; of whole numbers only if `whole`. Empty if the range is empty or not finite.
std::vector<AxisTick> linearTicks(double low, double high, int most, bool whole = false);

// For an axis that holds log10 of its values: ticks at whole decades inside [low, high] (both
// log10), with 2 and 5 between them where few decades are shown. The labels give the values.
std::vector<AxisTick> logTicks(double low, double high, int most);

// A number with `digits` significant digits and a true minus sign; "not a number" as a dash.
QString numberText(double value, int digits = 3);

} // namespace cuset
