// What a run leaves for tools of others, made from its events: trainer_state.json (transformers'
// Trainer) and TensorBoard event files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/train/train_config.h"

namespace cuset {

// Writes both into the run folder. Throws Error(disk).
void write_run_reports(const std::filesystem::path& folder, const TrainConfig& config);

// One scalar of a TensorBoard event file.
struct ScalarRecord {
    double wall_time = 0; // seconds since 1970
    std::int64_t step = 0;
    std::string tag;
    float value = 0;
};
// The file's bytes: TFRecords of Event messages, written by hand.
// https://github.com/tensorflow/tensorboard (compat/proto/event.proto), record format: length,
// masked CRC-32C of it, data, masked CRC-32C of them.
std::string tensorboard_file(const std::vector<ScalarRecord>& records, double wall_time);

// This process's memory now, in bytes.
std::int64_t resident_bytes();

} // namespace cuset
