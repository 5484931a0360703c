#include "core/train/batch_loader.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/train/counter_random.h"

namespace cuset {

std::vector<std::int32_t> TrainSample::targets() const {
    std::vector<std::int32_t> out(labels.size());
    for (std::size_t t = 0; t < out.size(); ++t)
        out[t] = ids[position(t)];
    return out;
}

BatchLoader::BatchLoader(std::int64_t samples, std::int64_t group_size, std::uint64_t seed,
                         bool shuffle)
    : samples_(samples)
    , group_size_(group_size)
    , seed_(seed)
    , shuffle_(shuffle) {
    assert(samples >= 1 && group_size >= 1);
}

std::int64_t BatchLoader::steps_per_epoch() const {
    return (samples_ + group_size_ - 1) / group_size_;
}

const std::vector<std::int64_t>& BatchLoader::order(std::int64_t epoch) {
    if (epoch == order_epoch_)
        return order_;
    if (shuffle_) {
        order_ = random_permutation(
            samples_, random_key(RandomUse::shuffle, {seed_, static_cast<std::uint64_t>(epoch)}));
    } else {
        order_.resize(static_cast<std::size_t>(samples_));
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
    }
    order_epoch_ = epoch;
    return order_;
}

StepGroup BatchLoader::group(std::int64_t step) {
    StepGroup group;
    group.step = step;
    group.epoch = step / steps_per_epoch();
    group.position = step % steps_per_epoch() * group_size_;
    const auto& all = order(group.epoch);
    const std::int64_t end = std::min(samples_, group.position + group_size_);
    group.samples.assign(all.begin() + group.position, all.begin() + end);
    return group;
}

std::vector<std::vector<std::int64_t>> micro_batches(const std::vector<std::int64_t>& samples,
                                                     std::int64_t batch_size, int rank, int ranks) {
    std::vector<std::vector<std::int64_t>> batches;
    const auto count = static_cast<std::int64_t>(samples.size());
    for (std::int64_t begin = rank * batch_size; begin < count; begin += ranks * batch_size)
        batches.emplace_back(samples.begin() + begin,
                             samples.begin() + std::min(count, begin + batch_size));
    return batches;
}

} // namespace cuset
