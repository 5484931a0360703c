// CorpusSummary: the figures of a whole corpus at given MaskSettings, and CorpusAnalyzer, which
// keeps what does not change between settings so that a moved slider costs only what it touches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis/parallel_for.h"
#include "core/analysis/statistics.h"
#include "core/base/run_control.h"
#include "core/data/mask_settings.h"
#include "core/data/score_set.h"

namespace cuset {

// One row of the sample table. Shares are in [0, 1], 0 without tokens.
struct SampleSummary {
    std::int64_t tokens = 0;
    float mean_confidence = 0;
    float difficulty = 0; // C_n, Eq. 7
    float weight = 0; // w_n, Eq. 8
    std::int32_t min_window_begin = 0; // first token of the window with the smallest mean
    float confident_share = 0; // tokens with c > tau
    float cuda_share = 0; // tokens in CUDA regions (Eq. 3)
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

// Section 3 of the paper: a window is `window` consecutive tokens, one for each start token (stride
// 1), so T - window + 1 of them; a shorter sample is one window. It is low if its mean lies below
// the corpus' mean neutral confidence. Without neutral tokens there is no such line: all shares are
// 0. So are shares of nothing.
struct LowConfidenceSummary {
    std::int32_t window = 64;
    double samples_share = 0; // samples with at least one low window
    double windows_share = 0; // low windows among all windows
    double sensitive_share = 0; // low windows that touch a CUDA-sensitive token, among low windows
    std::array<double, sensitive_kind_count> by_kind{}; // the same for each kind
    std::int64_t windows = 0, low_windows = 0;
};

struct CorpusSummary {
    std::int64_t samples = 0, tokens = 0;
    MaskSettings settings;
    ConfidenceSummary confidence;
    MaskSummary mask;
    Range difficulty, weight; // over samples that have tokens
    LowConfidenceSummary low_confidence;
};

// Not thread-safe: one user at a time. Holds the set alive. Keeps about 22 bytes a token beside it.
class CorpusAnalyzer {
public:
    // Computes what no setting changes (confidences, moments, KS), then the rest for the default
    // settings. It works on the threads that `parallel_for` lends, here and later; the results do
    // not depend on their number. Throws Cancelled, and Error(limit) for a sample of more than 2^31
    // - 2 tokens.
    CorpusAnalyzer(std::shared_ptr<const ScoreSet> scores, RunControl& control,
                   ParallelFor parallel_for = serial_for);
    ~CorpusAnalyzer();
    CorpusAnalyzer(CorpusAnalyzer&&) noexcept;
    CorpusAnalyzer& operator=(CorpusAnalyzer&&) noexcept;

    // Brings everything up to `settings`; only what differs from the last call is computed again.
    // Throws Error(bad_value) as require_valid does, and then leaves all as it was.
    void update(const MaskSettings& settings);
    // The paper's window for low-confidence shares, >= 1; default 64. Throws Error(bad_value).
    void set_low_confidence_window(std::int32_t window);

    const CorpusSummary& summary() const;
    std::span<const SampleSummary> samples() const; // [N]
    std::span<const float> confidence() const; // [T] over the whole set
    // Confidences of sensitive or neutral tokens in ascending order: counts below any value by
    // bisection.
    std::span<const float> sorted_sensitive() const;
    std::span<const float> sorted_neutral() const;
    const std::shared_ptr<const ScoreSet>& scores() const;
    // What the analyzer works with; for others that pass over the whole corpus.
    const ParallelFor& parallel_for() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cuset
