#include "core/train/step_engine.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/train/counter_random.h"

namespace cuset {
namespace {

// [T] rows of the batch that predict a sample's trained tokens, each the one before its token.
at::Tensor predicting_indices(const Segment& segment, const TrainSample& sample) {
    at::Tensor indices = at::empty({sample.response_tokens()}, at::kLong);
    for (std::size_t t = 0; t < sample.labels.size(); ++t)
        indices.data_ptr<std::int64_t>()[t] =
            segment.begin + static_cast<std::int64_t>(sample.position(t)) - 1;
    return indices;
}

// [T, C] of those rows: a view where they follow one another, else a copy.
at::Tensor predicting_rows(const at::Tensor& hidden, const Segment& segment,
                           const TrainSample& sample) {
    if (sample.rows.empty())
        return hidden.narrow(0, segment.begin + sample.response_begin - 1,
                             sample.response_tokens());
    return hidden.index_select(0, predicting_indices(segment, sample).to(hidden.device()));
}

// `targets` must outlive the result.
HeadInput head_input(const at::Tensor& hidden, const Segment& segment, const TrainSample& sample,
                     std::span<const std::int32_t> targets) {
    HeadInput input;
    input.hidden = predicting_rows(hidden, segment, sample);
    input.targets = targets;
    input.labels = sample.labels;
    return input;
}

// Token ids of each sample; padded, filled up to the longest with a token that nothing sees:
// attention looks back only, and no loss is taken after a sample's end.
std::vector<std::vector<std::int32_t>> sequences(const std::vector<const TrainSample*>& samples,
                                                 bool padded) {
    std::vector<std::vector<std::int32_t>> ids;
    std::size_t longest = 0;
    for (const TrainSample* sample : samples) {
        ids.push_back(sample->ids);
        longest = std::max(longest, sample->ids.size());
    }
    for (auto& sequence : ids)
        if (padded)
            sequence.resize(longest);
    return ids;
}

} // namespace

void TokenSums::add(const SampleLoss& sample, std::span<const LabelBits> labels, double tau) {
    const auto threshold = static_cast<float>(tau);
    bool pushes = false;
    for (std::size_t t = 0; t < labels.size(); ++t) {
        const double c = static_cast<double>(sample.confidence[t]);
        confidence += c;
        (is_cuda_sensitive(labels[t]) ? sensitive : neutral) += c;
        ++(is_cuda_sensitive(labels[t]) ? sensitive_tokens : neutral_tokens);
        confident += sample.confidence[t] > threshold;
        supervised += sample.factors[t] > 0;
        pushes = pushes || sample.factors[t] > 0;
    }
    loss += sample.loss;
    nll += sample.nll;
    tokens += static_cast<double>(labels.size());
    samples += 1;
    weight += sample.weight;
    unweighted += !pushes || sample.weight == 0;
}

void TokenSums::reduce(ProcessGroup& group) {
    const std::array<double*, 15> all{&loss,
                                      &nll,
                                      &confidence,
                                      &sensitive,
                                      &neutral,
                                      &tokens,
                                      &sensitive_tokens,
                                      &neutral_tokens,
                                      &confident,
                                      &supervised,
                                      &samples,
                                      &weight,
                                      &unweighted,
                                      &sequence_tokens,
                                      &stops};
    std::array<double, 15> values{};
    for (std::size_t i = 0; i < all.size(); ++i)
        values[i] = *all[i];
    group.all_reduce(std::span<double>(values));
    for (std::size_t i = 0; i < all.size(); ++i)
        *all[i] = values[i];
}

StepEngine::StepEngine(TrainingModel& model, const TrainConfig& config, ProcessGroup& group,
                       CausalLM* base)
    : model_(model)
    , config_(config)
    , group_(group)
    , base_(base) {
    // Adapters are small: one flat sum. All weights are not: summed in buckets while the backward
    // pass computes the others, from the last slot to the first.
    if (!model.trains_weights())
        return;
    std::vector<at::Tensor> gradients;
    for (std::size_t slot = model.parameters().slots(); slot-- > 0;)
        gradients.push_back(model.parameters().gradient(slot));
    reducer_ = group.make_reducer(gradients);
}

// [S, C] of the model as it was before training.
at::Tensor StepEngine::base_hidden(const PackedBatch& batch) {
    if (!base_)
        return model_.forward(batch, {.keeps_tape = false, .drops = false, .adapted = false});
    std::vector<at::Tensor> parts;
    for (const Segment& s : batch.segments)
        parts.push_back(base_->hidden_states(batch.ids.narrow(0, s.begin, s.rows())).clone());
    return parts.size() == 1 ? parts[0] : at::cat(parts);
}

void StepEngine::train_batch(const std::vector<const TrainSample*>& samples,
                             const std::vector<std::uint64_t>& keys, TokenSums& sums, bool last) {
    const auto ids = sequences(samples, !config_.packing);
    const PackedBatch batch = model_.pack({ids.begin(), ids.end()}, keys);
    at::Tensor base;
    if (config_.objective.needs_base())
        base = base_hidden(batch);
    const at::Tensor hidden =
        model_.forward(batch, {.keeps_tape = true, .drops = true, .adapted = true});
    at::Tensor dhidden = at::zeros_like(hidden);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::vector<std::int32_t> targets = samples[i]->targets();
        HeadInput input = head_input(hidden, batch.segments[i], *samples[i], targets);
        if (base.defined()) {
            input.base_hidden = predicting_rows(base, batch.segments[i], *samples[i]);
            input.base_head = base_ ? base_->head : model_.model().head;
        }
        const at::Tensor gradient = predicting_rows(dhidden, batch.segments[i], *samples[i]);
        const SampleLoss loss = head_loss(model_.model().head, input, config_.objective, gradient,
                                          model_.head_gradient());
        if (!samples[i]->rows.empty())
            dhidden.index_copy_(
                0, predicting_indices(batch.segments[i], *samples[i]).to(dhidden.device()),
                gradient);
        sums.add(loss, samples[i]->labels, config_.objective.mask.tau);
        sums.sequence_tokens += static_cast<double>(samples[i]->length());
    }
    if (!last || !reducer_) {
        model_.backward(batch, dhidden);
        return;
    }
    reducer_->backward([&](const GradientReducer::Ready& ready) {
        model_.backward(batch, dhidden,
                        [&](std::size_t slot) { ready(model_.parameters().slots() - 1 - slot); });
    });
}

StepResult StepEngine::step(const std::vector<TrainSample>& data, const StepGroup& group,
                            double learning_rate, std::int64_t updates, bool stop_requested) {
    Parameters& parameters = model_.parameters();
    parameters.clear_gradients();
    StepResult result;
    const auto batches =
        micro_batches(group.samples, config_.batch_size, group_.rank(), group_.size());
    for (const auto& indices : batches) {
        std::vector<const TrainSample*> samples;
        std::vector<std::uint64_t> keys;
        for (const std::int64_t index : indices) {
            samples.push_back(&data[static_cast<std::size_t>(index)]);
            keys.push_back(random_key(RandomUse::dropout,
                                      {config_.seed, static_cast<std::uint64_t>(group.step),
                                       static_cast<std::uint64_t>(index)}));
        }
        train_batch(samples, keys, result.sums, &indices == &batches.back());
    }
    if (!reducer_) {
        at::Tensor gradients = parameters.gradients();
        group_.all_reduce(gradients);
    } else if (batches.empty()) { // a rank without a share adds its zeros
        reducer_->backward([](const GradientReducer::Ready&) {});
    }
    result.sums.stops = stop_requested;
    result.sums.reduce(group_);
    at::Tensor gradients = parameters.gradients();
    const double divisor = reduction_divisor(config_.objective.reduction,
                                             static_cast<std::int64_t>(result.sums.tokens),
                                             static_cast<std::int64_t>(result.sums.samples));
    gradients.div_(divisor);
    result.loss = result.sums.loss / divisor;
    result.grad_norm = parameters.clip(config_.max_grad_norm);
    result.finite = std::isfinite(result.loss) && std::isfinite(result.grad_norm);
    if (result.finite) {
        parameters.adam_step({config_.beta1, config_.beta2, config_.epsilon, config_.weight_decay},
                             learning_rate, updates);
        model_.refresh();
    }
    return result;
}

std::optional<TokenSums> StepEngine::evaluate(const std::vector<TrainSample>& samples,
                                              const std::function<bool(std::int64_t)>& stop) {
    TokenSums sums;
    Objective plain;
    plain.name = TokenObjective::sft;
    for (std::size_t i = static_cast<std::size_t>(group_.rank()); i < samples.size();
         i += static_cast<std::size_t>(group_.size())) {
        if (stop(static_cast<std::int64_t>(i))) {
            sums.stops = 1;
            break;
        }
        const PackedBatch batch = model_.pack({std::span(samples[i].ids)}, {0});
        const at::Tensor hidden = model_.forward(batch, {});
        const std::vector<std::int32_t> targets = samples[i].targets();
        const SampleLoss loss = head_loss(
            model_.model().head, head_input(hidden, batch.segments[0], samples[i], targets), plain,
            at::Tensor(), at::Tensor());
        sums.add(loss, samples[i].labels, config_.objective.mask.tau);
    }
    sums.reduce(group_);
    if (sums.stops > 0)
        return std::nullopt;
    return sums;
}

SampleLoss StepEngine::weigh(const TrainSample& sample) {
    Objective objective = config_.objective;
    if (objective.needs_base())
        objective.alpha = 0;
    const PackedBatch batch = model_.pack({std::span(sample.ids)}, {0});
    const at::Tensor hidden = model_.forward(batch, {});
    const std::vector<std::int32_t> targets = sample.targets();
    return head_loss(model_.model().head, head_input(hidden, batch.segments[0], sample, targets),
                     objective, at::Tensor(), at::Tensor());
}

at::Tensor StepEngine::probe_logits(const TrainSample& sample) {
    constexpr std::size_t most = 256;
    const PackedBatch batch =
        model_.pack({std::span(sample.ids).first(std::min(most, sample.ids.size()))}, {0});
    return model_.model().logits(model_.forward(batch, {})).to(at::kCPU, at::kFloat);
}

} // namespace cuset
