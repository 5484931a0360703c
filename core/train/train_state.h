// TrainState: what a checkpoint keeps beside weights and moments, as state.json. Random numbers
// need no state: they follow from (seed, step, sample).
#pragma once

#include <cstdint>
#include <string>

#include "core/train/train_event.h"

namespace cuset {

struct TrainState {
    std::int64_t step = 0; // optimiser steps done, skipped ones included
    std::int64_t updates = 0; // steps that changed the weights
    std::int64_t skipped = 0, bad_in_row = 0;
    std::int64_t tokens = 0; // response tokens seen
    std::int64_t best_step = -1;
    double best_loss = no_figure;
    std::int64_t without_improvement = 0; // evaluations
    bool evaluation_due = false; // was stopped before the evaluation after `step`
    double last_loss = no_figure;
    double seconds = 0;
    // What the run was started on; a resume must find the same.
    std::string model_sha256, data_sha256;
    std::int64_t trainable_parameters = 0;
};

std::string train_state_json(const TrainState& state);
// Throws Error(bad_format).
TrainState parse_train_state(const std::string& json, const std::string& subject);
// Throws Error(bad_value) if `kept` was trained from another model, on other data or with another
// number of parameters than `found`.
void require_same_run(const TrainState& kept, const TrainState& found, const std::string& subject);

} // namespace cuset
