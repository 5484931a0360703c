// Statistics a reviewer accepts: tokens of one sample are not independent, so intervals are
// bootstrapped by sample (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, ch.
// 5: percentile intervals), the KS test is also made over one value a sample, and effect sizes
// stand beside the p-values.
#pragma once

#include <cstdint>
#include <span>

#include "core/analysis/corpus_summary.h"

namespace cuset {

struct Interval {
    double estimate = 0, low = 0, high = 0;
};

struct BootstrapOptions {
    int replicates = 2000; // 1 .. 1,000,000
    double level = 0.95; // of the interval, in (0, 1)
    std::uint64_t seed = 42;
};

// How far the first set lies above the second. All 0, and 0.5, without values on both sides.
struct EffectSize {
    double cohens_d =
        0; // difference of means over the pooled standard deviation (divisor n + m - 2)
    double cliffs_delta = 0; // P(first > second) - P(first < second), [-1, 1]
    double common_language = 0.5; // P(first > second) + P(equal) / 2, [0, 1]
};
// Sorts copies. Cohen's d is 0 where the pooled deviation is 0. NaNs are left out.
EffectSize effect_size(std::span<const float> first, std::span<const float> second);

struct SampleStatistics {
    // Mean confidence of the corpus' sensitive and neutral tokens, and the first less the second.
    // Each replicate draws as many samples as have tokens, with replacement; one without a token of
    // the class is left out.
    Interval sensitive, neutral, difference;
    std::int64_t samples = 0; // that have tokens
    std::int64_t samples_sensitive = 0, samples_neutral = 0; // that have a token of the class
    KsTest ks_tokens; // sensitive against neutral tokens
    KsTest ks_samples; // the samples' mean sensitive against the samples' mean neutral confidences
    EffectSize by_token, by_sample; // of the same two pairs of sets
};

// The random numbers are a function of seed, replicate and draw alone. O(replicates x samples).
// Throws Cancelled, Error(bad_value) for an option out of range.
SampleStatistics sample_statistics(const CorpusAnalyzer& analyzer, const BootstrapOptions& options,
                                   RunControl& control);

} // namespace cuset
