#include "core/model/scorer.h"

#include <algorithm>
#include <atomic>

#include "core/base/error.h"
#include "core/model/cpu_elements.h"
#include "core/model/row_statistics.h"

namespace cuset {
namespace {

constexpr std::int64_t chunk_bytes = 48 << 20;

// Rows of logits at a time: enough for the product to run at full speed, little enough to stay
// small.
std::int64_t chunk_rows(std::int64_t vocabulary, std::int64_t element) {
    return std::clamp<std::int64_t>(chunk_bytes / (vocabulary * element), 16, 256);
}

at::Tensor id_tensor(const CausalLM& model, std::span<const std::int32_t> ids) {
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(ids.size())}, at::kLong);
    std::int64_t* out = tensor.data_ptr<std::int64_t>();
    for (std::int32_t id : ids) {
        if (id < 0 || id >= model.config.vocabulary)
            throw Error(ErrorCode::bad_value,
                        "token id " + std::to_string(id)
                            + " is outside of the model's vocabulary of "
                            + std::to_string(model.config.vocabulary)
                            + "; the tokenizer belongs to another model");
        *out++ = id;
    }
    return tensor.to(model.device());
}

TokenScores make_scores(std::size_t tokens, std::int32_t top_k) {
    TokenScores scores;
    scores.log_prob.resize(tokens);
    scores.entropy.resize(tokens);
    scores.entropy_top20.resize(tokens);
    scores.rank.resize(tokens);
    scores.top_k = top_k;
    scores.top_ids.resize(tokens * static_cast<std::size_t>(top_k));
    scores.top_log_probs.resize(scores.top_ids.size());
    return scores;
}

} // namespace

void Scorer::score_rows(const at::Tensor& logits, std::span<const std::int32_t> targets,
                        std::int64_t first, TokenScores& scores) {
    const auto n = static_cast<std::size_t>(logits.size(1));
    const auto k = static_cast<std::size_t>(scores.top_k);
    const bool half = logits.scalar_type() == at::kBFloat16;
    std::atomic<std::int64_t> bad{-1};
    cpu::for_each_part(logits.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const auto t = static_cast<std::size_t>(first + r);
            const std::span ids(scores.top_ids.data() + t * k, k);
            const std::span log_probs(scores.top_log_probs.data() + t * k, k);
            RowScore row;
            const auto* data = static_cast<const std::byte*>(logits.data_ptr());
            const std::size_t offset = static_cast<std::size_t>(r) * n * logits.element_size();
            const bool good = half
                ? score_row(std::span(reinterpret_cast<const BFloat16Bits*>(data + offset), n),
                            targets[t], row, ids, log_probs)
                : score_row(std::span(reinterpret_cast<const float*>(data + offset), n), targets[t],
                            row, ids, log_probs);
            if (!good)
                bad = static_cast<std::int64_t>(t);
            scores.log_prob[t] = row.log_prob;
            scores.entropy[t] = row.entropy;
            scores.entropy_top20[t] = row.entropy_top20;
            scores.rank[t] = row.rank;
        }
    });
    if (bad >= 0)
        throw Error(ErrorCode::failure,
                    "the model's logits at response token " + std::to_string(bad)
                        + " are not finite; try --dtype float32");
}

TokenScores Scorer::score(CausalLM& model, std::span<const std::int32_t> ids,
                          std::int32_t response_begin, std::int32_t top_k, const Step& step) {
    const c10::InferenceMode inference;
    const auto targets = ids.subspan(static_cast<std::size_t>(response_begin));
    TokenScores scores = make_scores(targets.size(), top_k);
    const auto length = static_cast<std::int64_t>(ids.size());
    const auto layers = static_cast<std::int64_t>(model.layers.size());
    ForwardOptions options;
    options.sequence_length = length;
    // The head takes about as long as a layer or two; the last tenth is its share.
    options.before_layer = [&](int layer) {
        if (step)
            step(length * 9 * layer / (10 * layers));
    };
    // The last token predicts nothing that is asked for.
    const at::Tensor hidden =
        model.hidden_states(id_tensor(model, ids.first(ids.size() - 1)), options)
            .narrow(0, response_begin - 1, static_cast<std::int64_t>(targets.size()));
    const std::int64_t vocabulary = model.config.vocabulary;
    const std::int64_t chunk =
        chunk_rows(vocabulary, static_cast<std::int64_t>(hidden.element_size()));
    if (!logits_.defined() || logits_.size(0) != chunk || logits_.size(1) != vocabulary
        || logits_.scalar_type() != hidden.scalar_type() || logits_.device() != hidden.device())
        logits_ = at::empty({chunk, vocabulary}, hidden.options());
    for (std::int64_t begin = 0; begin < hidden.size(0); begin += chunk) {
        if (step)
            step(length * 9 / 10 + length * begin / (10 * hidden.size(0)));
        const std::int64_t rows = std::min(chunk, hidden.size(0) - begin);
        at::Tensor logits = logits_.narrow(0, 0, rows);
        model.logits_into(hidden.narrow(0, begin, rows), logits);
        if (logits.scalar_type() == at::kHalf)
            logits = logits.to(at::kFloat);
        score_rows(logits.cpu(), targets, begin, scores);
    }
    return scores;
}

std::uint64_t scoring_bytes(const ModelConfig& c, std::int64_t length, std::int64_t element) {
    const std::int64_t mlp_rows = std::min<std::int64_t>(length, 1024);
    const std::int64_t rows = length * (3 * c.hidden + 3 * c.query_size() + 4 * c.kv_size());
    const std::int64_t attention = c.heads * 256 * (length + c.head_dim);
    const std::int64_t mlp = mlp_rows * 3 * std::max(c.intermediate, c.experts.shared);
    const std::int64_t head = chunk_rows(c.vocabulary, element) * c.vocabulary;
    const std::int64_t library = 160 << 20; // torch, its threads, tokenizer
    return static_cast<std::uint64_t>((rows + attention + mlp + head) * element + library);
}

} // namespace cuset
