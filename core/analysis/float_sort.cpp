#include "core/analysis/float_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace cuset {
namespace {

// A float's bits as an unsigned number in the order of the floats.
std::uint32_t to_key(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

float from_key(std::uint32_t key) {
    return std::bit_cast<float>(key ^ ((key >> 31) != 0 ? 0x80000000u : 0xffffffffu));
}

constexpr int passes = 3;
constexpr int pass_bits = 11;
constexpr std::size_t buckets = std::size_t{1} << pass_bits;
constexpr std::size_t small = 2048; // below this the counting costs more than it saves

std::size_t digit(std::uint32_t key, int pass) {
    return key >> (pass * pass_bits) & (buckets - 1);
}

} // namespace

void sort_floats(std::span<float> values) {
    if (values.size() < small) {
        std::sort(values.begin(), values.end());
        return;
    }
    std::vector<std::uint32_t> keys(values.size()), other(values.size());
    std::vector<std::array<std::size_t, buckets>> counts(passes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        keys[i] = to_key(values[i]);
        for (int pass = 0; pass < passes; ++pass)
            ++counts[static_cast<std::size_t>(pass)][digit(keys[i], pass)];
    }
    for (int pass = 0; pass < passes; ++pass) {
        auto& place = counts[static_cast<std::size_t>(pass)];
        std::size_t next = 0;
        for (std::size_t& count : place) {
            const std::size_t here = count;
            count = next;
            next += here;
        }
        for (const std::uint32_t key : keys)
            other[place[digit(key, pass)]++] = key;
        keys.swap(other);
    }
    std::transform(keys.begin(), keys.end(), values.begin(), from_key);
}

std::vector<float> sorted_copy(std::span<const float> values) {
    std::vector<float> copy;
    copy.reserve(values.size());
    std::copy_if(values.begin(), values.end(), std::back_inserter(copy),
                 [](float value) { return !std::isnan(value); });
    sort_floats(copy);
    return copy;
}

} // namespace cuset
