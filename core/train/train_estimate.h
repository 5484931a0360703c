// What a run will take, before it is started and without a weight of its model: steps, tokens,
// memory on each device, and time. Free of torch in this header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/train/train_config.h"

namespace cuset {

struct DeviceEstimate {
    std::string device; // "cpu", "cuda:0"
    std::string dtype;
    // Weights, optimiser and activations, bytes: for the shortest, the mean and the longest
    // micro-batch of the data.
    std::uint64_t low = 0, expected = 0, high = 0;
    std::uint64_t free_bytes = 0;
    // Of the whole run: 4 FLOP a parameter and token in LoRA (forward, and the gradient of the
    // activations), 6 in full training, 2 more with recomputing, at the rate that a product of the
    // model's size was measured to reach now. 0 where it was not measured.
    double seconds = 0;
};

struct TrainEstimate {
    std::int64_t samples = 0, validation_samples = 0, left_out_samples = 0, cut_samples = 0;
    std::int64_t steps = 0, steps_per_epoch = 0, warmup_steps = 0;
    std::int64_t response_tokens = 0, sequence_tokens = 0; // of one epoch
    std::int64_t longest = 0; // tokens of a sample
    std::int64_t parameters = 0, trainable_parameters = 0;
    std::uint64_t checkpoint_bytes = 0; // weights and optimiser
    std::vector<DeviceEstimate> devices;
    std::vector<std::string> notes; // what was cut or left out, and why
};

// Reads the model's headers and tokenizer and all data. `allow_benchmark` as in TrainOptions.
// Throws Error as a run would; Cancelled.
TrainEstimate estimate_run(const TrainConfig& config, bool allow_benchmark, RunControl& control);

} // namespace cuset
