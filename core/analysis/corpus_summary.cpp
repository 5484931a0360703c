#include "core/analysis/corpus_summary.h"

#include <cassert>
#include <limits>
#include <string>
#include <utility>

#include "core/analysis/corpus_state.h"
#include "core/analysis/mask.h"
#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {

struct CorpusAnalyzer::Impl : CorpusState { };

CorpusAnalyzer::CorpusAnalyzer(std::shared_ptr<const ScoreSet> scores, RunControl& control,
                               ParallelFor parallel_for)
    : impl_(std::make_unique<Impl>()) {
    assert(scores && parallel_for);
    impl_->scores = std::move(scores);
    impl_->parallel_for = std::move(parallel_for);
    CorpusState& state = *impl_;
    const std::int64_t tokens = state.scores->token_count();
    for (std::int64_t n = 0; n < state.samples(); ++n)
        if (state.tokens(n) >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw Error(ErrorCode::limit,
                        "has " + std::to_string(state.tokens(n)) + " tokens, at most 2^31 - 2 fit",
                        printable(state.scores->id(n)));
    const auto report = [&](std::int64_t done) {
        control.checkpoint({"analysing", done * tokens / 4, tokens, "tokens"});
    };
    report(0);
    state.summary.samples = state.samples();
    state.summary.tokens = tokens;
    state.find_chunks();
    state.prepare_tokens();
    report(1);
    state.prepare_statistics(control);
    report(2);
    state.count_confident();
    state.find_minima();
    state.fill_rows();
    report(3);
    state.find_low_windows();
    report(4);
}

CorpusAnalyzer::~CorpusAnalyzer() = default;
CorpusAnalyzer::CorpusAnalyzer(CorpusAnalyzer&&) noexcept = default;
CorpusAnalyzer& CorpusAnalyzer::operator=(CorpusAnalyzer&&) noexcept = default;

void CorpusAnalyzer::update(const MaskSettings& settings) {
    require_valid(settings);
    const MaskSettings old = std::exchange(impl_->summary.settings, settings);
    if (old == settings)
        return;
    if (old.tau != settings.tau)
        impl_->count_confident();
    if (old.window != settings.window || old.whole_if_short != settings.whole_if_short)
        impl_->find_minima();
    impl_->fill_rows();
}

void CorpusAnalyzer::set_low_confidence_window(std::int32_t window) {
    if (window < 1)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(window) + ", needs 1 token or more",
                    "low-confidence window");
    if (std::exchange(impl_->summary.low_confidence.window, window) != window)
        impl_->find_low_windows();
}

const CorpusSummary& CorpusAnalyzer::summary() const {
    return impl_->summary;
}
std::span<const SampleSummary> CorpusAnalyzer::samples() const {
    return impl_->rows;
}
std::span<const float> CorpusAnalyzer::confidence() const {
    return impl_->confidence;
}
std::span<const float> CorpusAnalyzer::sorted_sensitive() const {
    return impl_->sensitive;
}
std::span<const float> CorpusAnalyzer::sorted_neutral() const {
    return impl_->neutral;
}
const std::shared_ptr<const ScoreSet>& CorpusAnalyzer::scores() const {
    return impl_->scores;
}
const ParallelFor& CorpusAnalyzer::parallel_for() const {
    return impl_->parallel_for;
}

} // namespace cuset
