#include "core/train/train_estimate.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/base/error.h"
#include "core/model/device_info.h"
#include "core/model/memory_estimate.h"
#include "core/model/torch_errors.h"
#include "core/train/batch_loader.h"
#include "core/train/training_setup.h"

namespace cuset {
namespace {

// FLOP a second of a product as large as the model's MLP has, on the CPU, for some 50 ms.
double measured_rate(const ModelConfig& model, at::ScalarType type) {
    const at::NoGradGuard no_graph;
    const std::int64_t rows = 128;
    const auto options = at::TensorOptions(type);
    const at::Tensor x = at::randn({rows, model.hidden}, options);
    const at::Tensor w = at::randn({model.intermediate, model.hidden}, options);
    const double work = 2.0 * static_cast<double>(rows * model.hidden * model.intermediate);
    at::linear(x, w);
    double best = 0;
    const auto begin = std::chrono::steady_clock::now();
    double total = 0;
    do {
        const auto start = std::chrono::steady_clock::now();
        at::linear(x, w);
        const auto now = std::chrono::steady_clock::now();
        best = std::max(best, work / std::chrono::duration<double>(now - start).count());
        total = std::chrono::duration<double>(now - begin).count();
    } while (total < 0.05);
    return best;
}

void count(const TrainConfig& config, const TrainData& data, TrainEstimate& estimate) {
    estimate.samples = static_cast<std::int64_t>(data.training.size());
    estimate.validation_samples = static_cast<std::int64_t>(data.validation.size());
    estimate.left_out_samples = data.left_out_samples;
    estimate.cut_samples = data.cut_samples;
    estimate.response_tokens = data.tokens();
    estimate.sequence_tokens = data.sequence_tokens();
    estimate.notes = data.notes;
    const BatchLoader loader(estimate.samples, config.samples_per_step(), config.seed,
                             config.shuffle);
    estimate.steps_per_epoch = loader.steps_per_epoch();
    estimate.steps = config.max_steps.value_or(estimate.steps_per_epoch * config.epochs);
    estimate.warmup_steps =
        config.warmup_steps.value_or(warmup_from_ratio(config.warmup_ratio, estimate.steps));
}

// Tokens of the shortest, the mean and the longest micro-batch.
struct BatchTokens {
    std::int64_t low = 0, mean = 0, high = 0;
};
BatchTokens batch_tokens(const TrainConfig& config, const TrainData& data) {
    std::vector<std::int64_t> lengths;
    for (const TrainSample& sample : data.training)
        lengths.push_back(sample.length());
    std::sort(lengths.begin(), lengths.end());
    const auto size = static_cast<std::ptrdiff_t>(
        std::min<std::int64_t>(config.batch_size, static_cast<std::int64_t>(lengths.size())));
    const auto zero = std::int64_t{0};
    BatchTokens tokens;
    tokens.low = std::accumulate(lengths.begin(), lengths.begin() + size, zero);
    tokens.high = config.packing ? std::accumulate(lengths.end() - size, lengths.end(), zero)
                                 : lengths.back() * size;
    tokens.mean = std::accumulate(lengths.begin(), lengths.end(), zero) * size
        / static_cast<std::int64_t>(lengths.size());
    return tokens;
}

double flop(const TrainConfig& config, const TrainEstimate& e) {
    const double each = (config.method == TrainMethod::full ? 6 : 4)
        + (config.gradient_checkpointing ? 2 : 0) + (config.objective.needs_base() ? 2 : 0);
    return each * static_cast<double>(e.parameters) * static_cast<double>(e.sequence_tokens)
        * static_cast<double>(e.steps) / static_cast<double>(e.steps_per_epoch);
}

} // namespace

TrainEstimate estimate_run(const TrainConfig& config, bool allow_benchmark, RunControl& control) {
    TrainEstimate estimate;
    const auto loaded = load_files(config);
    const ModelConfig& model = loaded->files.config;
    const TrainData data = load_train_data(config, *loaded->encoder, allow_benchmark, control);
    count(config, data, estimate);
    estimate.longest = std::max_element(data.training.begin(), data.training.end(),
                                        [](const TrainSample& a, const TrainSample& b) {
                                            return a.length() < b.length();
                                        })
                           ->length();
    estimate.parameters = model.parameters();
    estimate.trainable_parameters = trainable_parameters(config, model);
    const BatchTokens tokens = batch_tokens(config, data);
    for (const DeviceInfo& device : list_devices()) {
        control.throw_if_stopped();
        DeviceEstimate e;
        e.device = device.name;
        e.dtype = choose_dtype(config.dtype, device);
        const std::int64_t element = dtype_bytes(e.dtype);
        e.low = estimate_training(config, model, element, tokens.low).total();
        e.expected = estimate_training(config, model, element, tokens.mean).total();
        const TrainingMemory high = estimate_training(config, model, element, tokens.high);
        e.high = high.total();
        e.free_bytes = device.free_bytes;
        estimate.checkpoint_bytes =
            high.optimizer + (config.method == TrainMethod::full ? high.weights : std::uint64_t{0});
        if (device.name == "cpu" && e.dtype != "float16")
            e.seconds = with_torch_errors(config.model, [&] {
                const auto type = e.dtype == "float32" ? at::kFloat : at::kBFloat16;
                return flop(config, estimate) / measured_rate(model, type);
            });
        estimate.devices.push_back(std::move(e));
    }
    return estimate;
}

} // namespace cuset
