// Statistics of one row of logits in one pass over memory: log-sum-exp, entropy, entropy of the 20
// largest, rank of the target and the K largest. Plain C++, vectorised for the processor at run
// time.
#pragma once

#include <cstdint>
#include <span>

namespace cuset {

inline constexpr std::int32_t largest_top_k = 64;

// Bits of a bfloat16: the upper half of a float32.
struct BFloat16Bits {
    std::uint16_t bits;
};

struct RowScore {
    float log_prob = 0; // z_target - ln sum exp z, <= 0 (Eq. 1)
    float entropy = 0; // -sum p ln p, nats
    float entropy_top20 = 0; // of the min(20, V) largest probabilities renormalised, nats
    std::int32_t rank = 0; // number of logits strictly larger than the target's
};

// Scores `row` [V] for the target id, 0 <= target < V. The K = top_ids.size() most probable ids and
// their log-probabilities come most probable first, the smaller id first among equals; 0 <= K <=
// 64; where V < K the rest is filled with id -1 and -infinity. All sums in float32 or better.
// Returns false, and leaves the rest unset, if a logit is NaN or +infinity.
bool score_row(std::span<const float> row, std::int32_t target, RowScore& score,
               std::span<std::int32_t> top_ids, std::span<float> top_log_probs);
bool score_row(std::span<const BFloat16Bits> row, std::int32_t target, RowScore& score,
               std::span<std::int32_t> top_ids, std::span<float> top_log_probs);

} // namespace cuset
