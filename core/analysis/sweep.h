// Sweeps: a corpus' figures over a grid of tau, lambda and window.
#pragma once

#include <vector>

#include "core/analysis/corpus_summary.h"

namespace cuset {

struct SweepGrid {
    std::vector<double> tau{0.1, 0.3, 0.5, 0.7, 0.9};
    std::vector<double> lambda{0.5, 1, 2, 4};
    std::vector<int> window{64, 128, 256, 512};
};

struct SweepPoint {
    MaskSettings settings;
    MaskSummary mask;
    double mean_difficulty = 0;
    double mean_weight = 0;
    double push_sensitive =
        0; // share of the corpus' total push (w M (1 - c)) that falls on sensitive tokens
};

// The full grid around `base` (its switches are kept): tau outermost, window innermost. The
// analyzer is put back to its settings. Throws Cancelled, Error(bad_value) for a value out of
// range, Error(limit) for over 100,000 points.
std::vector<SweepPoint> sweep(CorpusAnalyzer& analyzer, const MaskSettings& base,
                              const SweepGrid& grid, RunControl& control);

} // namespace cuset
