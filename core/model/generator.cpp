#include "core/model/generator.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/model/row_statistics.h"

namespace cuset {
namespace {

constexpr std::int64_t prefill_rows = 1024; // of the prompt at a time: a stop is heard in between

void check_options(const GenerateOptions& o) {
    const auto need = [](bool good, const char* what) {
        if (!good)
            throw Error(ErrorCode::usage, what);
    };
    need(o.max_tokens >= 1, "the number of tokens to generate must be at least 1");
    need(std::isfinite(o.temperature) && o.temperature >= 0, "temperature must be 0 or more");
    need(o.top_p > 0 && o.top_p <= 1, "top-p must lie in (0, 1]");
    need(o.top_k >= 0, "top-k must be 0 (all) or more");
    need(o.alternatives >= 0 && o.alternatives <= largest_top_k, "alternatives must lie in 0..64");
}

class Sampler {
public:
    explicit Sampler(const GenerateOptions& options)
        : options_(options)
        , random_(options.seed) { }

    std::int32_t choose(std::span<const float> logits) {
        if (options_.temperature == 0)
            return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end())
                                             - logits.begin());
        order_.resize(logits.size());
        for (std::size_t i = 0; i < order_.size(); ++i)
            order_[i] = static_cast<std::int32_t>(i);
        const auto larger = [&](std::int32_t a, std::int32_t b) {
            const float x = logits[static_cast<std::size_t>(a)],
                        y = logits[static_cast<std::size_t>(b)];
            return x > y || (x == y && a < b);
        };
        std::size_t kept = order_.size();
        if (options_.top_k > 0)
            kept = std::min(kept, static_cast<std::size_t>(options_.top_k));
        std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(kept),
                          order_.end(), larger);
        return draw(logits, kept);
    }

private:
    // The nucleus (arXiv 1904.09751): the most probable tokens until their sum reaches top_p.
    std::int32_t draw(std::span<const float> logits, std::size_t kept) {
        const auto logit = [&](std::size_t i) {
            return static_cast<double>(logits[static_cast<std::size_t>(order_[i])]);
        };
        weights_.resize(kept);
        double total = 0;
        for (std::size_t i = 0; i < kept; ++i)
            total += weights_[i] = std::exp((logit(i) - logit(0)) / options_.temperature);
        double nucleus = 0;
        std::size_t size = 0;
        while (size < kept && nucleus < options_.top_p * total)
            nucleus += weights_[size++];
        // 53 random bits: the same on every platform, unlike the standard's distributions.
        double rest = static_cast<double>(random_() >> 11) * 0x1p-53 * nucleus;
        for (std::size_t i = 0; i < size; ++i)
            if ((rest -= weights_[i]) < 0)
                return order_[i];
        return order_[size - 1];
    }

    const GenerateOptions& options_;
    std::mt19937_64 random_;
    std::vector<std::int32_t> order_;
    std::vector<double> weights_;
};

at::Tensor ids_on_device(const CausalLM& model, std::span<const std::int32_t> ids) {
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(ids.size())}, at::kLong);
    std::copy(ids.begin(), ids.end(), tensor.data_ptr<std::int64_t>());
    return tensor.to(model.device());
}

// Logits of the last position, float32 on the processor.
at::Tensor last_logits(const CausalLM& model, const at::Tensor& hidden) {
    const at::Tensor last = hidden.narrow(0, hidden.size(0) - 1, 1);
    return model.logits(last).to(at::kCPU, at::kFloat).contiguous();
}

GeneratedToken describe(std::span<const float> logits, std::int32_t id,
                        const GenerateOptions& options, const GeneratorEnds& ends) {
    GeneratedToken token;
    token.id = id;
    token.bytes = ends.token_bytes(id);
    token.top_ids.resize(static_cast<std::size_t>(options.alternatives));
    token.top_log_probs.resize(token.top_ids.size());
    RowScore score;
    if (!score_row(logits, id, score, token.top_ids, token.top_log_probs))
        throw Error(ErrorCode::failure, "the model's logits are not finite; try --dtype float32");
    token.log_prob = score.log_prob;
    token.entropy = score.entropy;
    token.rank = score.rank;
    return token;
}

void check_prompt(const CausalLM& model, std::span<const std::int32_t> prompt) {
    const std::int64_t context = model.config.context_length;
    if (prompt.empty())
        throw Error(ErrorCode::bad_value, "the prompt is empty");
    if (static_cast<std::int64_t>(prompt.size()) >= context)
        throw Error(ErrorCode::bad_value,
                    "the prompt takes " + std::to_string(prompt.size())
                        + " tokens, the model's context has " + std::to_string(context));
    for (std::int32_t id : prompt)
        if (id < 0 || id >= model.config.vocabulary)
            throw Error(ErrorCode::bad_value,
                        "token id " + std::to_string(id)
                            + " is outside of the model's vocabulary of "
                            + std::to_string(model.config.vocabulary));
}

} // namespace

std::vector<GeneratedToken>
generate_tokens(CausalLM& model, std::span<const std::int32_t> prompt,
                const GenerateOptions& options, const GeneratorEnds& ends,
                const std::function<bool(const GeneratedToken&)>& on_token, RunControl& control) {
    check_options(options);
    check_prompt(model, prompt);
    const c10::InferenceMode inference;
    const auto start = static_cast<std::int64_t>(prompt.size());
    const std::int64_t room =
        std::min<std::int64_t>(options.max_tokens, model.config.context_length - start);
    KeyValueCache cache = model.make_cache(start + room);
    ForwardOptions forward;
    forward.cache = &cache;
    forward.before_layer = [&](int) { control.throw_if_stopped(); };
    at::Tensor logits;
    for (std::int64_t i = 0; i < start; i += prefill_rows) {
        control.checkpoint({"reading the prompt", i, start, "tokens"});
        const auto n = static_cast<std::size_t>(std::min(prefill_rows, start - i));
        const at::Tensor ids = ids_on_device(model, prompt.subspan(static_cast<std::size_t>(i), n));
        logits = last_logits(model, model.hidden_states(ids, forward));
    }
    Sampler sampler(options);
    std::vector<GeneratedToken> tokens;
    while (static_cast<std::int64_t>(tokens.size()) < room) {
        control.checkpoint(
            {"generating", static_cast<std::int64_t>(tokens.size()), room, "tokens"});
        const std::span<const float> row(logits.data_ptr<float>(),
                                         static_cast<std::size_t>(logits.numel()));
        const std::int32_t id = sampler.choose(row);
        if (std::ranges::find(ends.ids, id) != ends.ids.end())
            break;
        tokens.push_back(describe(row, id, options, ends));
        if (on_token && !on_token(tokens.back()))
            break;
        logits = last_logits(model, model.hidden_states(ids_on_device(model, {&id, 1}), forward));
    }
    return tokens;
}

} // namespace cuset
