// What a run leaves for other programs: PEFT adapters and Hugging Face model folders. Sees torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/model/model_files.h"
#include "core/train/training_model.h"

namespace cuset {

// adapter_config.json and adapter_model.safetensors (float32), as peft loads them.
void write_adapter(const std::filesystem::path& folder, const TrainingModel& model,
                   const std::string& base_model, double dropout, bool rank_stabilized);
// Reads the values back into a model with the same adapters. Throws Error: not_found, bad_value.
void read_adapter(const std::filesystem::path& folder, TrainingModel& model);

// config.json, tokenizer files and model.safetensors (shards of at most 4 GiB with an index) in
// `dtype`. A GGUF file's configuration and vocabulary are written anew.
void write_model_folder(const std::filesystem::path& folder,
                        const std::vector<NamedWeight>& weights, const ModelFiles& source,
                        const std::string& dtype);
// The flat vectors of float32: values (where they are not kept elsewhere) and AdamW's moments.
void write_optimizer(const std::filesystem::path& path, const Parameters& parameters,
                     bool with_values);
void read_optimizer(const std::filesystem::path& path, Parameters& parameters);

// Bytes that a checkpoint takes at most.
std::uint64_t checkpoint_bytes(const TrainingModel& model);

} // namespace cuset
