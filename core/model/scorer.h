// Teacher-forced scores of a response: one pass through the layers, then head and statistics in
// chunks of rows, so that never all logits are there at once. Sees torch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/data/scored_sample.h"
#include "core/model/causal_lm.h"

namespace cuset {

class Scorer {
public:
    // Called with the share of the work that is done, in tokens of the sequence; may throw to stop.
    using Step = std::function<void(std::int64_t tokens_done)>;

    // ids [S], 1 <= response_begin < S; 0 <= top_k <= 64. Scores of ids[response_begin:]. Throws
    // Error: bad_value (an id outside the vocabulary), failure (logits that are not finite, with
    // the token's number).
    TokenScores score(CausalLM& model, std::span<const std::int32_t> ids,
                      std::int32_t response_begin, std::int32_t top_k, const Step& step);

private:
    void score_rows(const at::Tensor& logits, std::span<const std::int32_t> targets,
                    std::int64_t first, TokenScores& scores);

    at::Tensor logits_; // reused from chunk to chunk
};

// Bytes that scoring a sequence of `length` tokens takes beside the weights.
std::uint64_t scoring_bytes(const ModelConfig& config, std::int64_t length, std::int64_t element);

} // namespace cuset
