#include "core/train/head_loss.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/mask.h"

namespace cuset {
namespace {

constexpr std::int64_t chunk_rows = 256;

std::vector<float> to_host(const at::Tensor& t) {
    const at::Tensor host = t.to(at::kCPU, at::kFloat).contiguous();
    const float* values = host.data_ptr<float>();
    return {values, values + host.numel()};
}

at::Tensor from_host(std::span<const float> values, const at::Tensor& like) {
    return at::tensor(at::ArrayRef<float>(values.data(), values.size()),
                      at::TensorOptions().dtype(at::kFloat))
        .to(like.device());
}

// Entropy in nats of the K largest probabilities of each row, renormalised (EAFT, arXiv
// 2601.02151).
at::Tensor entropy_of_largest(const at::Tensor& logits, int candidates) {
    const at::Tensor q =
        at::log_softmax(std::get<0>(at::topk(logits, candidates, -1, true, true)), -1);
    return -(q.exp() * q).sum(-1);
}

class Pass {
public:
    Pass(const at::Tensor& head, const HeadInput& input, const Objective& objective,
         at::Tensor dhidden, const at::Tensor& head_gradient)
        : head_(head)
        , input_(input)
        , objective_(objective)
        , candidates_(static_cast<int>(std::min<std::int64_t>(20, head.size(0))))
        , dhidden_(std::move(dhidden)) {
        if (head_gradient.defined())
            head_sum_ = at::zeros_like(head_gradient);
        const std::vector<std::int64_t> ids(input.targets.begin(), input.targets.end());
        targets_ = at::tensor(at::ArrayRef<std::int64_t>(ids), at::TensorOptions().dtype(at::kLong))
                       .to(head.device());
    }

    SampleLoss run(const at::Tensor& head_gradient) {
        const std::int64_t rows = input_.hidden.size(0);
        for (std::int64_t begin = 0; begin < rows; begin += chunk_rows)
            chunk(begin, std::min(chunk_rows, rows - begin));
        result_.weight = sample_factor(objective_, result_.confidence);
        result_.loss = result_.weight * weighted_ + divergence_;
        if (dhidden_.defined() && result_.weight != 1)
            dhidden_.mul_(result_.weight);
        if (head_sum_.defined())
            head_gradient.add_(head_sum_, result_.weight);
        return std::move(result_);
    }

private:
    void chunk(std::int64_t begin, std::int64_t rows) {
        const at::Tensor hidden = input_.hidden.narrow(0, begin, rows);
        at::Tensor logits = at::mm(hidden, head_.t()).to(at::kFloat);
        const at::Tensor target = targets_.narrow(0, begin, rows).unsqueeze(1);
        const at::Tensor total = at::logsumexp(logits, {-1}, true);
        const std::vector<float> log_prob = to_host((logits.gather(-1, target) - total).squeeze(1));
        const std::vector<float> entropy = objective_.needs_entropy()
            ? to_host(entropy_of_largest(logits, candidates_))
            : std::vector<float>(log_prob.size());
        const std::vector<float> factor = take(begin, log_prob, entropy);
        logits.sub_(total); // ln p
        at::Tensor base; // probabilities
        if (objective_.needs_base())
            base = diverge(begin, rows, logits);
        if (!dhidden_.defined())
            return;
        // d loss / d logits = (factor + alpha) p - factor onehot - alpha base.
        const at::Tensor m = from_host(factor, logits).unsqueeze(1);
        at::Tensor g = logits.exp_();
        g.mul_(base.defined() ? m + objective_.alpha : m);
        if (base.defined())
            g.sub_(base, objective_.alpha);
        g.scatter_add_(-1, target, -m);
        const at::Tensor narrow = g.to(head_.scalar_type());
        at::Tensor out = dhidden_.narrow(0, begin, rows);
        at::mm_out(out, narrow, head_);
        if (head_sum_.defined())
            head_sum_.add_(at::mm(narrow.t(), hidden));
    }

    std::vector<float> take(std::int64_t begin, const std::vector<float>& log_prob,
                            const std::vector<float>& entropy) {
        std::vector<float> confidence(log_prob.size()), factor(log_prob.size());
        confidences(log_prob, confidence);
        token_factors(objective_, confidence, entropy,
                      input_.labels.subspan(static_cast<std::size_t>(begin), log_prob.size()),
                      candidates_, factor);
        for (std::size_t t = 0; t < log_prob.size(); ++t) {
            const double nll = -static_cast<double>(log_prob[t]);
            result_.nll += nll;
            if (factor[t] != 0 || std::isnan(nll))
                weighted_ += static_cast<double>(factor[t]) * nll;
        }
        result_.confidence.insert(result_.confidence.end(), confidence.begin(), confidence.end());
        result_.factors.insert(result_.factors.end(), factor.begin(), factor.end());
        return factor;
    }

    // Adds alpha KL(base || current) of these rows; returns the base's probabilities.
    at::Tensor diverge(std::int64_t begin, std::int64_t rows, const at::Tensor& log_p) {
        const at::Tensor log_q = at::log_softmax(
            at::mm(input_.base_hidden.narrow(0, begin, rows), input_.base_head.t()).to(at::kFloat),
            -1);
        at::Tensor q = log_q.exp();
        divergence_ += objective_.alpha * (q * (log_q - log_p)).sum().item<double>();
        return q;
    }

    const at::Tensor& head_;
    const HeadInput& input_;
    const Objective& objective_;
    int candidates_;
    at::Tensor dhidden_, head_sum_, targets_;
    SampleLoss result_;
    double weighted_ = 0, divergence_ = 0;
};

} // namespace

SampleLoss head_loss(const at::Tensor& head, const HeadInput& input, const Objective& objective,
                     at::Tensor dhidden, const at::Tensor& head_gradient) {
    return Pass(head, input, objective, std::move(dhidden), head_gradient).run(head_gradient);
}

} // namespace cuset
