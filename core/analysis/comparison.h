// Comparison of two score sets of the same data: before and after training, or two models.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/data/score_set.h"

namespace cuset {

struct MeanChange {
    std::int64_t count = 0;
    double log_prob = 0; // mean of B - A, nats
    double confidence = 0; // mean of B - A
};

struct SampleChange {
    std::string id;
    std::int64_t index_a = 0, index_b = 0;
    MeanChange change;
};

struct Comparison {
    MeanChange all, sensitive, neutral;
    std::array<MeanChange, sensitive_kind_count> by_kind;
    std::vector<SampleChange> samples; // most improved (by confidence) first
    std::vector<std::string> only_in_a, only_in_b; // ids
    std::vector<std::string> warnings; // differences of provenance, samples whose tokens differ
};

// Matches samples by id; samples whose token ids differ, that have no token, or whose id occurs
// twice are left out and named in warnings (20 at most, then their number). Sensitive and neutral
// by the labels of `a`. A log-probability that is not finite is left out of the mean of log_prob's
// change and counts in confidence. Throws Error(bad_value) if no sample can be compared.
Comparison compare_scores(const ScoreSet& a, const ScoreSet& b);

} // namespace cuset
