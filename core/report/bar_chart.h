// Rows of horizontal bars with their numbers beside them, as inline SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuset {

struct BarRow {
    std::string label; // escaped here
    double value = 0; // >= 0
    double part = 0; // of value, drawn in the colour of sensitive tokens
    std::string numbers; // shown after the bar, escaped here
};

// All bars on one scale from 0 to `most` (0: the largest value).
std::string bar_chart(std::string_view label, const std::vector<BarRow>& rows, double most = 0);

} // namespace cuset
