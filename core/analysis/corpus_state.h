// What CorpusAnalyzer keeps between settings, as columns. N samples, T tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis/corpus_summary.h"
#include "core/analysis/window.h"

namespace cuset {

struct CorpusState {
    std::shared_ptr<const ScoreSet> scores;
    ParallelFor parallel_for;

    std::vector<std::int64_t> chunk_begin; // [C+1] first sample of each chunk of about equal tokens
    std::vector<float> confidence; // [T]
    // Tokens in CUDA regions, then the others, each in `bins` bins of confidence, so that a count
    // above tau looks only into tau's own bin.
    std::vector<float> binned; // [T] by sample
    int bins = 1; // a power of two; more for longer samples
    std::vector<std::int32_t> bin_begin; // [N, 2 * bins + 1] where each bin begins in its sample
    std::vector<double> sums; // [T+N] prefix sums of each sample, [T_n + 1] each
    std::vector<float> sensitive, neutral; // sorted

    std::vector<std::int32_t> confident, confident_cuda; // [N] tokens with c > tau
    std::vector<WindowMinimum> minimum; // [N]
    std::vector<SampleSummary> rows; // [N]
    CorpusSummary summary;

    std::int64_t samples() const { return scores->sample_count(); }
    std::size_t begin(std::int64_t n) const {
        return static_cast<std::size_t>(scores->token_begin(n));
    }
    std::size_t tokens(std::int64_t n) const {
        return static_cast<std::size_t>(scores->token_end(n) - scores->token_begin(n));
    }
    std::span<const float> sample_confidence(std::int64_t n) const {
        return std::span(confidence).subspan(begin(n), tokens(n));
    }
    std::span<const LabelBits> sample_labels(std::int64_t n) const {
        return scores->columns().labels.subspan(begin(n), tokens(n));
    }
    std::span<const std::int32_t> sample_bins(std::int64_t n) const {
        const auto row = static_cast<std::size_t>(2 * bins + 1);
        return std::span(bin_begin).subspan(static_cast<std::size_t>(n) * row, row);
    }
    std::int32_t cuda_count(std::int64_t n) const {
        return sample_bins(n)[static_cast<std::size_t>(bins)];
    }
    std::span<const double> sample_sums(std::int64_t n) const {
        return std::span(sums).subspan(begin(n) + static_cast<std::size_t>(n), tokens(n) + 1);
    }

    // body(first sample, one past the last) for each chunk.
    void for_chunks(const std::function<void(std::int64_t, std::int64_t)>& body) const;

    void find_chunks(); // chunk_begin
    void prepare_tokens(); // confidence, binned, sums
    void prepare_statistics(RunControl& control); // sensitive, neutral, summary.confidence
    void bin_sample(std::int64_t n); // its part of binned and bin_begin
    void count_confident(); // confident, confident_cuda: what tau changes
    void find_minima(); // minimum: what the window changes
    void fill_rows(); // rows and the summary's shares and ranges
    void find_low_windows(); // summary.low_confidence
};

} // namespace cuset
