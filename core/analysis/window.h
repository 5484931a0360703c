// Sliding-window confidence: Eq. 5-7 of Chen et al., "From Tokens to Regions", Findings of EMNLP
// 2026, doi 10.18653/2026.findings-emnlp.2045. T tokens of one sample, window length l, stride 1.
#pragma once

#include <cstdint>
#include <span>

namespace cuset {

struct WindowRange {
    std::int32_t begin = 0; // 0-based
    std::int32_t end = 0; // one past the last
};

// Eq. 5: the window at token t (0-based) is [max(0, t - floor(l/2)), min(T, t + ceil(l/2))). With
// whole_if_short and T < l it is [0, T) for every t.
WindowRange window_at(std::int32_t t, std::int32_t tokens, std::int32_t window,
                      bool whole_if_short);

// Eq. 6: mean confidence of the window at each token, [T]. Sums are kept in double.
void window_means(std::span<const float> confidence, std::int32_t window, bool whole_if_short,
                  std::span<float> means);

struct WindowMinimum {
    float mean = 0; // Eq. 7's C_n; 0 without tokens
    std::int32_t at = -1; // the first t where it is reached; -1 without tokens
};
WindowMinimum window_minimum(std::span<const float> confidence, std::int32_t window,
                             bool whole_if_short);

} // namespace cuset
