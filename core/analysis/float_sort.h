// Sorting of many floats in linear time.
#pragma once

#include <span>
#include <vector>

namespace cuset {

// Ascending, in place; -0 before +0. No value may be a NaN. Radix sort in three passes of 11 bits;
// needs as much memory again.
void sort_floats(std::span<float> values);

// A sorted copy without the NaNs.
std::vector<float> sorted_copy(std::span<const float> values);

} // namespace cuset
