// BatchLoader: which samples each optimiser step sees. An optimiser step covers batch_size *
// gradient_accumulation samples over all ranks; the last step of an epoch covers what is left.
// Order is a function of (seed, epoch) alone, so that a step's samples are known without what came
// before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/token_labels.h"

namespace cuset {

// A sample ready for training: S tokens, T of them trained.
struct TrainSample {
    std::string id;
    std::vector<std::int32_t> ids; // [S]
    std::int32_t response_begin = 0; // index of the first trained token
    std::vector<std::int32_t> rows; // [T] offsets from it, rising; empty: the last T tokens
    std::vector<LabelBits> labels; // [T]
    bool cut = false; // lost its end at the maximum length
    std::int64_t record = 0; // the same for the turns of one conversation

    std::int64_t length() const { return static_cast<std::int64_t>(ids.size()); }
    std::int64_t response_tokens() const { return static_cast<std::int64_t>(labels.size()); }
    std::vector<std::int32_t> targets() const; // [T]
    // Index into ids of trained token t.
    std::size_t position(std::size_t t) const {
        return static_cast<std::size_t>(response_begin)
            + (rows.empty() ? t : static_cast<std::size_t>(rows[t]));
    }
};

struct StepGroup {
    std::int64_t step = 0; // from 0
    std::int64_t epoch = 0; // from 0
    std::int64_t position = 0; // samples of the epoch before this step
    std::vector<std::int64_t> samples; // indices into the data set, in order
};

class BatchLoader {
public:
    // samples >= 1, group_size >= 1.
    BatchLoader(std::int64_t samples, std::int64_t group_size, std::uint64_t seed, bool shuffle);

    std::int64_t steps_per_epoch() const;
    StepGroup group(std::int64_t step);

private:
    const std::vector<std::int64_t>& order(std::int64_t epoch);

    std::int64_t samples_;
    std::int64_t group_size_;
    std::uint64_t seed_;
    bool shuffle_;
    std::int64_t order_epoch_ = -1;
    std::vector<std::int64_t> order_;
};

// The micro-batches of a group that rank `rank` of `ranks` works on: batch_size samples each, dealt
// in turn.
std::vector<std::vector<std::int64_t>> micro_batches(const std::vector<std::int64_t>& samples,
                                                     std::int64_t batch_size, int rank, int ranks);

} // namespace cuset
