// Data map: each sample's mean confidence over the checkpoints of a run against its variability
// (Swayamdipta et al., "Dataset Cartography", EMNLP 2020, doi 10.18653/v1/2020.emnlp-main.746).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/comparison.h"
#include "core/data/score_set.h"

namespace cuset {

struct DataMapPoint {
    std::string id;
    std::int64_t index = 0; // in the first set
    std::int64_t tokens = 0; // response tokens, T
    std::vector<double> by_checkpoint; // [E] mean of c over the T tokens, at each checkpoint
    double confidence = 0; // mean of by_checkpoint, [0, 1]
    double variability = 0; // its population standard deviation, [0, 0.5]
    double correctness = 0; // share of tokens of rank 0, mean over the checkpoints, [0, 1]
};

struct DataMap {
    std::int64_t checkpoints = 0; // E
    std::vector<DataMapPoint> samples; // in the order of the first set
    std::vector<LeftOutSample> left_out; // not in every set, or with other tokens
    std::vector<std::string> warnings; // what made a set in another way than the first
};

// `sets` [E], E >= 2, in the order of training; none is null. Samples are matched by id. Throws
// Error: usage (fewer than two sets), bad_value (no sample is in all of them with the same tokens).
DataMap data_map(std::span<const std::shared_ptr<const ScoreSet>> sets);

} // namespace cuset
