// CorpusSummary: the figures of a whole corpus at given MaskSettings, and CorpusAnalyzer, which keeps what does
// not change between settings so that a moved slider costs only what it touches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis/statistics.h"
#include "core/base/run_control.h"
#include "core/data/mask_settings.h"
#include "core/data/score_set.h"

namespace cuset {

// One row of the sample table. Shares are in [0, 1], 0 without tokens.
struct SampleSummary {
    std::int64_t tokens = 0;
    float mean_confidence = 0;
    float difficulty = 0;       // C_n, Eq. 7
    float weight = 0;           // w_n, Eq. 8
    std::int32_t min_window_begin = 0; // first token of the window with the smallest mean
    float confident_share = 0;  // tokens with c > tau
    float cuda_share = 0;       // tokens in CUDA regions (Eq. 3)
    float supervised_share = 0; // tokens with M > 0
    float mean_mask = 0;
};

struct ConfidenceSummary {
    Moments sensitive, neutral, all;
    std::array<Moments, sensitive_kind_count> by_kind;
    KsTest ks; // sensitive against neutral, by token
};

struct MaskSummary {
    double confident_share = 0, cuda_share = 0, supervised_share = 0, mean_mask = 0;
};

struct Range {
    double mean = 0, min = 0, max = 0;
};

// Section 3 of the paper: windows of `window` tokens whose mean lies below the corpus' mean neutral confidence.
struct LowConfidenceSummary {
    std::int32_t window = 64;
    double samples_share = 0;   // samples with at least one low window
    double windows_share = 0;   // low windows among all windows
    double sensitive_share = 0; // low windows that touch a CUDA-sensitive token, among low windows
    std::array<double, sensitive_kind_count> by_kind {}; // the same for each kind
};

struct CorpusSummary {
    std::int64_t samples = 0, tokens = 0;
    MaskSettings settings;
    ConfidenceSummary confidence;
    MaskSummary mask;
    Range difficulty, weight; // over samples that have tokens
    LowConfidenceSummary low_confidence;
};

// Not thread-safe: one user at a time. Holds the set alive.
class CorpusAnalyzer {
public:
    // Computes what no setting changes (confidences, moments, KS). Throws Cancelled.
    CorpusAnalyzer(std::shared_ptr<const ScoreSet> scores, RunControl& control);
    ~CorpusAnalyzer();
    CorpusAnalyzer(CorpusAnalyzer&&) noexcept;
    CorpusAnalyzer& operator=(CorpusAnalyzer&&) noexcept;

    // Brings everything up to `settings`; only what differs from the last call is computed again.
    void update(const MaskSettings& settings);
    // The paper's window for low-confidence shares; default 64.
    void set_low_confidence_window(std::int32_t window);

    const CorpusSummary& summary() const;
    std::span<const SampleSummary> samples() const;  // [N]
    std::span<const float> confidence() const;       // [T] over the whole set
    const std::shared_ptr<const ScoreSet>& scores() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cuset
