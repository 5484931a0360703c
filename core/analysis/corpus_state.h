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
    std::vector<float> cuda_first; // [T] by sample: confidences in CUDA regions, then the others
    std::vector<std::int32_t> cuda_count; // [N] how many are in CUDA regions
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
    std::span<const double> sample_sums(std::int64_t n) const {
        return std::span(sums).subspan(begin(n) + static_cast<std::size_t>(n), tokens(n) + 1);
    }

    // body(first sample, one past the last) for each chunk.
    void for_chunks(const std::function<void(std::int64_t, std::int64_t)>& body) const;

    void find_chunks(); // chunk_begin
    void prepare_tokens(); // confidence, cuda_first, cuda_count, sums
    void prepare_statistics(RunControl& control); // sensitive, neutral, summary.confidence
    void count_confident(); // confident, confident_cuda: what tau changes
    void find_minima(); // minimum: what the window changes
    void fill_rows(); // rows and the summary's shares and ranges
    void find_low_windows(); // summary.low_confidence
};

} // namespace cuset
