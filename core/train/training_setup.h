// What a run starts from: the model's files, its data and the model with what is trained in it.
// Sees torch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/model_files.h"
#include "core/train/process_group.h"
#include "core/train/quantized_base.h"
#include "core/train/train_data.h"
#include "core/train/trainer.h"
#include "core/train/training_model.h"

namespace cuset {

struct LoadedFiles {
    ModelFiles files;
    Tokenizer tokenizer;
    std::string model_sha256, tokenizer_sha256;
    std::unique_ptr<PromptEncoder> encoder;
    std::vector<std::string> warnings;
};
// Throws Error(unsupported) for a family that the backward pass is not written for, by name.
void require_trainable(const ModelConfig& config, const std::string& model);

// Config, tokenizer and template; no weights. Throws Error(unsupported) for what cannot be trained,
// by name: a family, or an adapter that is more than low-rank branches.
std::unique_ptr<LoadedFiles> load_files(const TrainConfig& config);

struct ComputePlace {
    at::Device device = at::kCPU;
    std::string device_name, dtype;
    at::ScalarType type = at::kFloat;
    std::uint64_t free_bytes = 0;
};
// The device and type that the configuration asks for; this rank's own device where there are
// several.
ComputePlace choose_place(const TrainConfig& config);

CausalLM load_weights(const ModelFiles& files, const ComputePlace& place, RunControl& control);

// Adapters or all weights are trained, as the configuration says. A quantised base is measured on
// `samples` into `quantization`, if both are given. Throws Error.
TrainingModel make_training_model(const TrainConfig& config, const ModelFiles& files,
                                  const ComputePlace& place, RunControl& control,
                                  std::span<const TrainSample> samples = {},
                                  QuantizationLoss* quantization = nullptr);
// The first samples, some thousand tokens of them.
std::span<const TrainSample> quantization_samples(const std::vector<TrainSample>& training);
// "quantize_base nf4: ..." for the log.
std::string quantization_text(QuantizeBase kind, const QuantizationLoss& loss);

struct TrainingMemory {
    std::uint64_t weights = 0, optimizer = 0, activations = 0; // bytes
    std::uint64_t total() const { return weights + optimizer + activations; }
};
// Before anything is loaded; `longest` is the longest micro-batch in tokens.
TrainingMemory estimate_training(const TrainConfig& config, const ModelConfig& model,
                                 std::int64_t element_bytes, std::int64_t longest);
std::int64_t trainable_parameters(const TrainConfig& config, const ModelConfig& model);

} // namespace cuset
