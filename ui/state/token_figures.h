// TokenFigures: everything known of one scored sample at the present thresholds, by response token.
// Immutable once made; views share it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis/objective_weights.h"
#include "core/data/mask_settings.h"
#include "core/data/score_set.h"

namespace cuset {

// The same sample in other scores: after training, or of another model.
struct ComparedSample {
    std::shared_ptr<const ScoreSet> scores; // null: nothing to compare with
    int index = 0;
};

class TokenFigures {
public:
    // Sample `index` of `scores`, 0 <= index < sample_count(). `compared` has the same tokens.
    TokenFigures(std::shared_ptr<const ScoreSet> scores, int index, const MaskSettings& settings,
                 TokenObjective objective = TokenObjective::cuset,
                 const ComparedSample& compared = {});

    const ScoreSet& scores() const { return *scores_; }
    const MaskSettings& settings() const { return settings_; }
    const MaskedSample& masked() const { return masked_; }
    int index() const { return index_; }
    int count() const { return static_cast<int>(confidence_.size()); } // T

    std::span<const float> confidence() const { return confidence_; } // [T], Eq. 1
    std::span<const LabelBits> labels() const { return labels_; } // [T]
    std::span<const ByteSpan> spans() const { return spans_; } // [T], bytes of the response

    // 0 <= t < count(), asserted.
    std::int32_t tokenId(int t) const;
    float logProbability(int t) const;
    float entropy(int t) const; // nats
    std::int32_t rank(int t) const;
    float mask(int t) const; // M, Eq. 4
    float trainingWeight(int t) const; // w_n M, what multiplies -ln p in Eq. 9
    float push(int t) const; // w_n M (1 - c)
    // Under the chosen objective: its weight of the token times 1 - c.
    TokenObjective objective() const { return objective_; }
    float objectivePush(int t) const;
    std::span<const float> entropyTop20() const; // [T] nats
    // [K] most probable tokens and their log-probabilities.
    std::span<const std::int32_t> alternatives(int t) const;
    std::span<const float> alternativeLogProbabilities(int t) const;
    double meanConfidence() const; // 0 without tokens

    // Set beside other scores of the same tokens.
    bool isCompared() const { return compared_.scores != nullptr; }
    const std::shared_ptr<const ScoreSet>& comparedScores() const { return compared_.scores; }
    std::span<const float> confidenceAfter() const { return after_; } // [T], empty if not compared
    const std::vector<float>& windowMeanAfter() const { return windowMeanAfter_; } // [T], or empty
    float change(int t) const; // of confidence, after - before, in [-1, 1]; 0 if not compared

    // The token whose span holds the byte, or -1.
    int tokenAt(int byte) const;

private:
    std::size_t position(int t) const; // over the whole set

    std::shared_ptr<const ScoreSet> scores_;
    int index_;
    MaskSettings settings_;
    TokenObjective objective_;
    std::vector<float> objectiveWeights_; // [T]
    std::span<const LabelBits> labels_;
    std::vector<float> confidence_;
    ComparedSample compared_;
    std::vector<float> after_;
    std::vector<float> windowMeanAfter_;
    std::vector<ByteSpan> spans_;
    MaskedSample masked_;
};

} // namespace cuset
