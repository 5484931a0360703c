// A training run from its configuration to its final folder: `cuset train`. Free of torch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/train/train_config.h"
#include "core/train/train_event.h"

namespace cuset {

struct TrainOptions {
    std::string resume; // run folder to go on with, or ""
    bool allow_benchmark_data = false; // train on a benchmark's test set all the same
    bool ignore_memory_limit = false;
    std::optional<std::int64_t> stop_after; // as a stop request after this step
    std::function<void(const TrainEvent&)>
        on_event; // sees every event as it is written; may be empty
};

struct TrainResult {
    bool stopped = false; // on request, saved: exit code 75
    bool leads = true; // rank 0, which wrote the folder
    std::int64_t step = 0;
    std::string folder; // the run folder
};

// Trains, or goes on with `options.resume` (whose own configuration is taken; `config`, if given,
// must train the same). A stop asked of `control` finishes the step, saves and returns; it is never
// Cancelled. Started as one of several ranks (rank_environment.h) it trains its share; a group that
// was started again after a loss goes on with the run by itself. Throws Error, on all ranks what
// one of them met; whatever ends the run early is also written to the run folder.
TrainResult train(const std::optional<TrainConfig>& config, const TrainOptions& options,
                  RunControl& control);

// What a run would do, without training.
struct PlannedToken {
    std::string text; // bytes of the token
    bool response = false;
    bool cuda = false; // Eq. 3's indicator
    double confidence = 0, factor = 0; // of the untrained model; factor without w_n
};
struct PlannedSample {
    std::string id;
    double weight = 0; // w_n
    std::vector<PlannedToken> tokens;
};
struct TrainPlan {
    std::string formula;
    std::int64_t samples = 0, validation_samples = 0, left_out_samples = 0, cut_samples = 0;
    std::int64_t steps = 0, steps_per_epoch = 0, warmup_steps = 0;
    std::int64_t response_tokens = 0, sequence_tokens = 0; // of one epoch
    std::int64_t longest = 0; // tokens
    std::int64_t trainable_parameters = 0, parameters = 0;
    std::string device, dtype;
    std::uint64_t weights_bytes = 0, optimizer_bytes = 0, activation_bytes = 0, free_bytes = 0,
                  checkpoint_bytes = 0, free_disk_bytes = 0;
    double seconds = 0; // of the whole run, from one measured step's forward and backward
    std::vector<std::string> notes;
    std::vector<PlannedSample> first; // with every token and its weight
};
TrainPlan plan_training(const TrainConfig& config, const TrainOptions& options,
                        std::int64_t shown_samples, RunControl& control);

// base + adapter -> a model folder. Products in float32, rounded once to `dtype` ("auto": as the
// model is stored).
struct MergeResult {
    double logit_difference =
        0; // largest, of the merged model as saved against base + adapter, both in float32
    double logit_range = 0; // largest absolute logit
    std::string dtype;
};
MergeResult merge_adapter(const std::string& model, const std::string& adapter,
                          const std::string& output, const std::string& dtype, RunControl& control);

} // namespace cuset
