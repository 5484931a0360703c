// StepEngine: one optimiser step over its micro-batches and ranks, and evaluations. Sees torch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/train/batch_loader.h"
#include "core/train/head_loss.h"
#include "core/train/process_group.h"
#include "core/train/training_model.h"

namespace cuset {

// Sums over response tokens or samples, of this rank until they are reduced.
struct TokenSums {
    double loss = 0; // of the objective, not reduced
    double nll = 0, confidence = 0; // over response tokens
    double sensitive = 0, neutral = 0; // confidences
    double tokens = 0, sensitive_tokens = 0, neutral_tokens = 0;
    double confident = 0, supervised = 0; // tokens with p > tau; with a factor above 0
    double samples = 0, weight = 0; // w_n
    double unweighted = 0; // samples whose factors or w_n are all zero
    double sequence_tokens = 0;
    double stops = 0; // ranks that were asked to stop

    void add(const SampleLoss& sample, std::span<const LabelBits> labels, double tau);
    void reduce(ProcessGroup& group);
};

struct StepResult {
    TokenSums sums; // over all ranks
    double loss = 0, grad_norm = 0;
    bool finite = true; // else nothing was changed
};

class StepEngine {
public:
    // `base`: the untouched weights for asft where the weights themselves are trained, else null.
    StepEngine(TrainingModel& model, const TrainConfig& config, ProcessGroup& group,
               CausalLM* base);

    // Forward and backward over this rank's share of the group, one reduction over the ranks,
    // clipping and AdamW. `updates` counts the optimiser's steps from 1.
    StepResult step(const std::vector<TrainSample>& data, const StepGroup& group,
                    double learning_rate, std::int64_t updates, bool stop_requested);

    // Plain NLL and confidences over `samples`, shared out over the ranks; `stop` ends it early:
    // nothing then.
    std::optional<TokenSums> evaluate(const std::vector<TrainSample>& samples,
                                      const std::function<bool(std::int64_t)>& stop);

    // Confidences, factors and w_n of one sample, without dropout; asft's divergence is left out.
    SampleLoss weigh(const TrainSample& sample);
    // Logits of the sample's first 256 tokens at most, [n, V] float32 on the processor, to compare
    // two models by.
    at::Tensor probe_logits(const TrainSample& sample);

private:
    void train_batch(const std::vector<const TrainSample*>& samples,
                     const std::vector<std::uint64_t>& keys, TokenSums& sums, bool last);
    at::Tensor base_hidden(const PackedBatch& batch);

    TrainingModel& model_;
    const TrainConfig& config_;
    ProcessGroup& group_;
    CausalLM* base_;
    std::unique_ptr<GradientReducer> reducer_; // null: one sum after the backward passes
};

} // namespace cuset
