// MaskSettings: everything a person tunes. Defaults are the paper's.
#pragma once

namespace cuset {

struct MaskSettings {
    double tau = 0.1; // [0, 1]: a token with confidence > tau is confident (Eq. 2)
    double lambda = 1.0; // > 0: weight of a token in a CUDA region (Eq. 3)
    int window = 256; // >= 1, tokens: l of Eq. 5
    bool confidence_mask = true;
    bool cuda_mask = true;
    bool region_weight = true;
    // Eq. 5 clips windows at both ends; true: a sample shorter than l is one window (the preprint's
    // reading).
    bool whole_if_short = false;

    friend bool operator==(const MaskSettings&, const MaskSettings&) = default;
};

// The same but for tau, lambda and window.
constexpr bool same_switches(const MaskSettings& a, const MaskSettings& b) {
    return a.confidence_mask == b.confidence_mask && a.cuda_mask == b.cuda_mask
        && a.region_weight == b.region_weight && a.whole_if_short == b.whole_if_short;
}

} // namespace cuset
