// Comparison of two score sets of the same data: before and after training, or two models.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/score_set.h"

namespace cuset {

struct MeanChange {
    std::int64_t count = 0;
    double log_prob = 0; // mean of B - A, nats
    double confidence = 0; // mean of B - A
    double confidence_before = 0, confidence_after = 0; // means of A and of B, [0, 1]
};

struct SampleChange {
    std::string id;
    std::int64_t index_a = 0, index_b = 0;
    MeanChange change;
};

// A sample that is in both sets and cannot be compared.
struct LeftOutSample {
    std::string id;
    std::string reason; // "its tokens differ, it is left out"
};

struct Comparison {
    MeanChange all, sensitive, neutral;
    std::array<MeanChange, sensitive_kind_count> by_kind;
    std::vector<SampleChange> samples; // most improved (by confidence) first
    std::vector<std::string> only_in_a, only_in_b; // ids
    std::vector<LeftOutSample> left_out; // all of them
    std::vector<std::string> differences; // of provenance: provenance_differences
    std::vector<std::string> warnings; // those, and samples that were left out by name
};

// Matches samples by id; samples whose token ids differ, that were cut at another length, that have
// no token, or whose id occurs twice are left out and named in warnings (20 at most, then their
// number). What made the two sets in different ways (tokenizer, template, dtype, device, maximum
// length) is a warning too. Sensitive and neutral by the labels of `a`. A log-probability that is
// not finite is left out of the mean of log_prob's change and counts in confidence. Throws
// Error(bad_value) if no sample can be compared.
Comparison compare_scores(const ScoreSet& a, const ScoreSet& b);

// What makes confidences of two sets hard to compare, "dtype differs: 'float32' and 'bfloat16'"; a
// model or an adapter may differ: that is the point. Empty if nothing does.
std::vector<std::string> provenance_differences(const ScoreProvenance& a, const ScoreProvenance& b);

// Why sample `index_a` of `a` cannot be set beside sample `index_b` of `b` token by token; "" if it
// can.
std::string_view token_difference(const ScoreSet& a, std::int64_t index_a, const ScoreSet& b,
                                  std::int64_t index_b);

// [T] change of each token's confidence, B - A, in [-1, 1]. The two samples must have as many
// tokens (asserted): token_difference says whether they are the same.
std::vector<float> confidence_changes(const ScoreSet& a, std::int64_t index_a, const ScoreSet& b,
                                      std::int64_t index_b);

// Confidences of the tokens that were compared, before and after, in one order: for densities.
struct ComparedConfidences {
    std::vector<float> sensitive_before, sensitive_after; // [number of sensitive tokens]
    std::vector<float> neutral_before, neutral_after;
};
ComparedConfidences compared_confidences(const Comparison& comparison, const ScoreSet& a,
                                         const ScoreSet& b);

} // namespace cuset
