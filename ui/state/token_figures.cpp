#include "ui/state/token_figures.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/analysis/mask.h"

namespace cuset {

TokenFigures::TokenFigures(std::shared_ptr<const ScoreSet> scores, int index,
                           const MaskSettings& settings, TokenObjective objective,
                           const ComparedSample& compared)
    : scores_(std::move(scores))
    , index_(index)
    , settings_(settings)
    , objective_(objective)
    , compared_(compared) {
    assert(index >= 0 && index < scores_->sample_count());
    const auto begin = static_cast<std::size_t>(scores_->token_begin(index));
    const auto tokens = static_cast<std::size_t>(scores_->token_end(index)) - begin;
    labels_ = scores_->columns().labels.subspan(begin, tokens);
    confidence_.resize(tokens);
    confidences(scores_->columns().log_prob.subspan(begin, tokens), confidence_);
    spans_.resize(tokens);
    for (std::size_t t = 0; t < tokens; ++t)
        spans_[t] = scores_->span(static_cast<std::int64_t>(begin + t));
    masked_ = mask_sample(confidence_, labels_, settings_);
    objectiveWeights_.resize(tokens);
    objective_weights(objective_, confidence_, entropyTop20(), labels_, settings_, masked_.weight,
                      {}, objectiveWeights_);
    if (!compared_.scores)
        return;
    const auto afterBegin =
        static_cast<std::size_t>(compared_.scores->token_begin(compared_.index));
    assert(static_cast<std::size_t>(compared_.scores->token_end(compared_.index))
           == afterBegin + tokens);
    after_.resize(tokens);
    confidences(compared_.scores->columns().log_prob.subspan(afterBegin, tokens), after_);
    windowMeanAfter_ = mask_sample(after_, labels_, settings_).window_mean;
}

float TokenFigures::change(int t) const {
    const auto index = static_cast<std::size_t>(t);
    return isCompared() ? after_[index] - confidence_[index] : 0.0f;
}

std::span<const float> TokenFigures::entropyTop20() const {
    return scores_->columns().entropy_top20.subspan(
        static_cast<std::size_t>(scores_->token_begin(index_)), confidence_.size());
}

float TokenFigures::objectivePush(int t) const {
    assert(t >= 0 && t < count());
    const auto index = static_cast<std::size_t>(t);
    return objectiveWeights_[index] * (1 - confidence_[index]);
}

std::size_t TokenFigures::position(int t) const {
    assert(t >= 0 && t < count());
    return static_cast<std::size_t>(scores_->token_begin(index_)) + static_cast<std::size_t>(t);
}

std::int32_t TokenFigures::tokenId(int t) const {
    return scores_->columns().token_id[position(t)];
}

float TokenFigures::logProbability(int t) const {
    return scores_->columns().log_prob[position(t)];
}

float TokenFigures::entropy(int t) const {
    return scores_->columns().entropy[position(t)];
}

std::int32_t TokenFigures::rank(int t) const {
    return scores_->columns().rank[position(t)];
}

float TokenFigures::mask(int t) const {
    assert(t >= 0 && t < count());
    return masked_.mask[static_cast<std::size_t>(t)];
}

float TokenFigures::trainingWeight(int t) const {
    return masked_.weight * mask(t);
}

float TokenFigures::push(int t) const {
    return cuset::push(confidence_[static_cast<std::size_t>(t)], mask(t), masked_.weight);
}

std::span<const std::int32_t> TokenFigures::alternatives(int t) const {
    const auto k = static_cast<std::size_t>(scores_->columns().top_k);
    return scores_->columns().top_id.subspan(position(t) * k, k);
}

std::span<const float> TokenFigures::alternativeLogProbabilities(int t) const {
    const auto k = static_cast<std::size_t>(scores_->columns().top_k);
    return scores_->columns().top_log_prob.subspan(position(t) * k, k);
}

double TokenFigures::meanConfidence() const {
    if (confidence_.empty())
        return 0;
    return std::accumulate(confidence_.begin(), confidence_.end(), 0.0)
        / static_cast<double>(confidence_.size());
}

int TokenFigures::tokenAt(int byte) const {
    const auto after =
        std::upper_bound(spans_.begin(), spans_.end(), byte,
                         [](int offset, const ByteSpan& span) { return offset < span.end; });
    if (after == spans_.end() || !after->contains(byte))
        return -1;
    return static_cast<int>(after - spans_.begin());
}

} // namespace cuset
