// plan_training: what a run would do. Loads the model to measure one step and to weigh the first
// samples.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/base/error.h"
#include "core/model/torch_errors.h"
#include "core/train/model_output.h"
#include "core/train/step_engine.h"
#include "core/train/training_setup.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

PlannedSample weigh(const TrainSample& sample, const SampleLoss& loss, const Tokenizer& tokenizer) {
    PlannedSample planned;
    planned.id = sample.id;
    planned.weight = loss.weight;
    std::size_t t = 0; // of the trained tokens
    for (std::size_t i = 0; i < sample.ids.size(); ++i) {
        PlannedToken token;
        token.text = tokenizer.token_bytes(sample.ids[i]);
        token.response = t < sample.labels.size() && i == sample.position(t);
        if (token.response) {
            token.cuda = is_cuda_masked(sample.labels[t]);
            token.confidence = static_cast<double>(loss.confidence[t]);
            token.factor = static_cast<double>(loss.factors[t]);
            ++t;
        }
        planned.tokens.push_back(std::move(token));
    }
    return planned;
}

void count_data(const TrainConfig& config, const TrainData& data, TrainPlan& plan) {
    plan.samples = static_cast<std::int64_t>(data.training.size());
    plan.validation_samples = static_cast<std::int64_t>(data.validation.size());
    plan.left_out_samples = data.left_out_samples;
    plan.cut_samples = data.cut_samples;
    plan.response_tokens = data.tokens();
    plan.sequence_tokens = data.sequence_tokens();
    for (const TrainSample& sample : data.training)
        plan.longest = std::max(plan.longest, sample.length());
    const BatchLoader loader(plan.samples, config.samples_per_step(), config.seed, config.shuffle);
    plan.steps_per_epoch = loader.steps_per_epoch();
    plan.steps = config.max_steps.value_or(plan.steps_per_epoch * config.epochs);
    plan.warmup_steps =
        config.warmup_steps.value_or(warmup_from_ratio(config.warmup_ratio, plan.steps));
    plan.notes = data.notes;
}

// Seconds of forward and backward for a token of `sample`, the second of two passes.
double seconds_a_token(StepEngine& engine, const std::vector<TrainSample>& data,
                       std::int64_t index) {
    StepGroup group;
    group.samples = {index};
    double seconds = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const auto begin = std::chrono::steady_clock::now();
        engine.step(data, group, 0, 1, false);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return seconds / static_cast<double>(data[static_cast<std::size_t>(index)].length());
}

} // namespace

TrainPlan plan_training(const TrainConfig& config, const TrainOptions& options,
                        std::int64_t shown_samples, RunControl& control) {
    const at::NoGradGuard no_graph;
    TrainPlan plan;
    plan.formula = formula_text(config.objective);
    const ComputePlace place = choose_place(config);
    const auto loaded = load_files(config);
    const TrainData data =
        load_train_data(config, *loaded->encoder, options.allow_benchmark_data, control);
    count_data(config, data, plan);
    const TrainingMemory memory =
        estimate_training(config, loaded->files.config, place.type == at::kFloat ? 4 : 2,
                          plan.longest * config.batch_size);
    plan.parameters = loaded->files.config.parameters();
    plan.device = place.device_name;
    plan.dtype = place.dtype;
    plan.weights_bytes = memory.weights;
    plan.optimizer_bytes = memory.optimizer;
    plan.activation_bytes = memory.activations;
    plan.free_bytes = place.free_bytes;
    std::error_code error;
    const fs::path above = fs::path(config.output).parent_path();
    plan.free_disk_bytes =
        fs::space(fs::exists(above, error) ? above : fs::path("."), error).available;
    if (memory.total() > place.free_bytes && !options.ignore_memory_limit) {
        plan.notes.emplace_back(
            "does not fit into memory: no time is measured, no sample is weighed");
        plan.trainable_parameters = trainable_parameters(config, loaded->files.config);
        return plan;
    }
    with_torch_errors(config.model, [&] {
        QuantizationLoss quantization;
        TrainingModel model =
            make_training_model(config, loaded->files, place, control,
                                quantization_samples(data.training), &quantization);
        if (quantization.tokens > 0)
            plan.notes.push_back(quantization_text(config.quantize_base, quantization));
        plan.trainable_parameters = model.parameters().count();
        plan.checkpoint_bytes = checkpoint_bytes(model);
        const auto group = single_rank();
        TrainConfig plain = config; // asft's divergence is not part of the preview
        if (plain.objective.needs_base() && plain.method == TrainMethod::full)
            plain.objective.alpha = 0;
        StepEngine engine(model, plain, *group, nullptr);
        const auto shown = std::min<std::int64_t>(shown_samples, plan.samples);
        for (std::int64_t i = 0; i < shown; ++i) {
            control.throw_if_stopped();
            const TrainSample& sample = data.training[static_cast<std::size_t>(i)];
            plan.first.push_back(weigh(sample, engine.weigh(sample), loaded->tokenizer));
        }
        const auto median = plan.samples / 2;
        plan.seconds = seconds_a_token(engine, data.training, median)
            * static_cast<double>(plan.sequence_tokens) * static_cast<double>(plan.steps)
            / static_cast<double>(plan.steps_per_epoch);
    });
    return plan;
}

} // namespace cuset
