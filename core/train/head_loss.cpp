#include "core/train/head_loss.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/mask.h"
#include "core/model/cpu_elements.h"
#include "core/model/matrix_product.h"
#include "core/train/training_kernels.h"

namespace cuset {
namespace {

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
         at::Tensor dhidden, const at::Tensor& head_gradient, std::int64_t chunk_rows)
        : head_(head)
        , input_(input)
        , objective_(objective)
        , candidates_(static_cast<int>(std::min<std::int64_t>(20, head.size(0))))
        , dhidden_(std::move(dhidden))
        , chunk_rows_(std::min(chunk_rows, input.hidden.size(0))) {
        if (head_gradient.defined())
            head_sum_ = at::zeros_like(head_gradient);
        const std::vector<std::int64_t> ids(input.targets.begin(), input.targets.end());
        targets_ = at::tensor(at::ArrayRef<std::int64_t>(ids), at::TensorOptions().dtype(at::kLong))
                       .to(head.device());
    }

    SampleLoss run(const at::Tensor& head_gradient) {
        const std::int64_t rows = input_.hidden.size(0);
        // The kernels give no log-probabilities of other tokens, which asft's divergence needs.
        const bool fused = cpu::has_kernels(head_) && !objective_.needs_base();
        for (std::int64_t begin = 0; begin < rows; begin += chunk_rows_)
            if (fused)
                chunk_fused(begin, std::min(chunk_rows_, rows - begin));
            else
                chunk(begin, std::min(chunk_rows_, rows - begin));
        result_.weight = sample_factor(objective_, result_.confidence);
        result_.loss = result_.weight * weighted_ + divergence_;
        if (dhidden_.defined() && result_.weight != 1)
            dhidden_.mul_(result_.weight);
        if (head_sum_.defined())
            head_gradient.add_(head_sum_, result_.weight);
        return std::move(result_);
    }

private:
    // Float32 [rows, V], in a buffer that the next chunk overwrites.
    at::Tensor logits_of(const at::Tensor& hidden) {
        if (!logits_.defined())
            logits_ = at::empty({chunk_rows_, head_.size(0)}, hidden.options().dtype(at::kFloat));
        const at::Tensor logits = logits_.narrow(0, 0, hidden.size(0));
        matrix_product({{hidden, head_.t()}}, logits);
        return logits;
    }

    // From the gradient of the chunk's logits on.
    void back(std::int64_t begin, const at::Tensor& hidden, const at::Tensor& gradient) {
        const at::Tensor wide =
            at::empty(hidden.sizes(), hidden.options().dtype(at::kFloat)); // a long sum
        matrix_product({{gradient, head_}}, wide);
        dhidden_.narrow(0, begin, hidden.size(0)).copy_(wide);
        if (head_sum_.defined())
            matrix_product({{gradient.t(), hidden}}, head_sum_, true);
    }

    void chunk_fused(std::int64_t begin, std::int64_t rows) {
        const at::Tensor hidden = input_.hidden.narrow(0, begin, rows);
        const at::Tensor logits = logits_of(hidden);
        const auto count = static_cast<std::size_t>(rows);
        const std::vector<float> entropy = objective_.needs_entropy()
            ? to_host(entropy_of_largest(logits, candidates_))
            : std::vector<float>(count);
        const std::int32_t* targets = input_.targets.data() + begin;
        const std::int64_t columns = logits.size(1);
        std::vector<double> sums(count);
        std::vector<float> log_prob(count);
        cpu::for_each_part(rows, 1, [&](std::int64_t first, std::int64_t last) {
            cpu::exponentials(cpu::data<float>(logits), targets, sums.data(), log_prob.data(),
                              first, last, columns);
        });
        const std::vector<float> factor = take(begin, log_prob, entropy);
        if (!dhidden_.defined())
            return;
        at::Tensor gradient = logits;
        if (head_.scalar_type() != at::kFloat) {
            if (!narrow_.defined())
                narrow_ = at::empty({chunk_rows_, columns}, head_.options());
            gradient = narrow_.narrow(0, 0, rows);
        }
        cpu::with_element(head_.scalar_type(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(rows, 1, [&](std::int64_t first, std::int64_t last) {
                cpu::softmax_gradient(cpu::data<float>(logits), targets, sums.data(), factor.data(),
                                      cpu::data<T>(gradient), first, last, columns);
            });
        });
        back(begin, hidden, gradient);
    }

    void chunk(std::int64_t begin, std::int64_t rows) {
        const at::Tensor hidden = input_.hidden.narrow(0, begin, rows);
        at::Tensor logits = logits_of(hidden);
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
        back(begin, hidden, g.to(head_.scalar_type()));
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
    std::int64_t chunk_rows_;
    at::Tensor logits_,
        narrow_; // [chunk_rows_, V]: in float32, and the gradient in the head's type
    SampleLoss result_;
    double weighted_ = 0, divergence_ = 0;
};

} // namespace

std::int64_t head_chunk_rows(std::int64_t vocabulary) {
    constexpr std::int64_t elements = std::int64_t{1} << 25; // 128 MiB of logits
    return std::clamp<std::int64_t>(elements / std::max<std::int64_t>(1, vocabulary) / 32 * 32, 64,
                                    512);
}

SampleLoss head_loss(const at::Tensor& head, const HeadInput& input, const Objective& objective,
                     at::Tensor dhidden, const at::Tensor& head_gradient, std::int64_t chunk_rows) {
    return Pass(head, input, objective, std::move(dhidden), head_gradient,
                chunk_rows > 0 ? chunk_rows : head_chunk_rows(head.size(0)))
        .run(head_gradient);
}

} // namespace cuset
