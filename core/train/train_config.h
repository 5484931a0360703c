// TrainConfig: a training run's configuration, as people write it and as the run folder keeps it.
// JSON with comments; an unknown key is an error that names the nearest one. Beside contracts.md's
// keys: "over_long", "packing", "validation_share", "betas", "eps", "min_lr_ratio", "decay_ratio",
// "patience", "max_bad_steps", "quantize_base", "threads", "prompt_field", "response_field",
// "every_turn", and "rslora" in "lora".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/lr_schedule.h"
#include "core/train/objective.h"

namespace cuset {

enum class TrainMethod : std::uint8_t { lora, full };
enum class OverLong : std::uint8_t {
    cut, // keep the first max_length tokens; such a sample has no end token
    drop, // leave the sample out
    refuse, // do not start
};
enum class QuantizeBase : std::uint8_t { none, int8, nf4 };

struct LoraSettings {
    std::int64_t rank = 8;
    double alpha = 16;
    double dropout = 0.05; // [0, 1)
    std::vector<std::string> targets; // q_proj, ...; empty: every linear layer of the decoder
    bool rank_stabilized = false; // scale alpha / sqrt(rank)

    friend bool operator==(const LoraSettings&, const LoraSettings&) = default;
};

struct TrainConfig {
    std::string model;
    std::string adapter; // PEFT folder of the adapter to go on training, or ""
    std::vector<std::string> data;
    std::vector<std::string> validation; // files, or empty
    double validation_share = 0; // [0, 1): share of the data held out, by the seed
    std::string output; // the run folder
    Objective objective;
    TrainMethod method = TrainMethod::lora;
    LoraSettings lora;
    std::string chat_template = "auto";
    std::int32_t max_length = 4096; // tokens
    OverLong over_long = OverLong::cut;
    ResponseChoice response = ResponseChoice::whole;
    std::string prompt_field, response_field; // as in `cuset score`
    bool every_turn = false; // of conversations, not the last assistant turn alone
    std::int64_t batch_size = 1; // samples of a micro-batch
    bool packing = true; // one after another; false: each padded to the longest, the same numbers
    std::int64_t gradient_accumulation = 8; // micro-batches of a step, over all ranks
    std::int64_t epochs = 3;
    std::optional<std::int64_t> max_steps; // takes the place of epochs
    bool shuffle = true;
    std::uint64_t seed = 42;
    double learning_rate = 1e-4;
    Schedule schedule = Schedule::cosine;
    double warmup_ratio = 0.03;
    std::optional<std::int64_t> warmup_steps; // takes the place of warmup_ratio
    double min_lr_ratio = 0.1, decay_ratio = 0.1;
    double weight_decay = 0.0;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; // AdamW's
    double max_grad_norm = 1.0; // 0: no clipping
    std::string dtype = "auto";
    QuantizeBase quantize_base = QuantizeBase::none;
    bool gradient_checkpointing = false;
    std::optional<std::int64_t> eval_steps, save_steps;
    std::optional<std::int64_t> patience; // evaluations without improvement before the run ends
    std::int64_t keep_checkpoints = 3;
    std::int64_t max_bad_steps = 5; // steps in a row with a loss or gradient that is not finite
    std::string device = "auto";
    int threads = 0; // 0: one for each core

    std::int64_t samples_per_step() const { return batch_size * gradient_accumulation; }
};

// Throws Error: bad_format (not JSON, a key twice; with the line), bad_value (unknown key, wrong
// type or range, what is needed is missing; with the path, e.g. "objective.tau").
TrainConfig parse_train_config(std::string_view json, const std::string& subject);
// Reads a file; relative paths of model, adapter and data that are not there from the current
// folder are looked for beside the file, and all are made absolute.
TrainConfig read_train_config(const std::string& path);
// Every key, defaults filled in; parse_train_config gives the same configuration back.
std::string train_config_json(const TrainConfig& config);

// Keys whose values differ between the two and that change what is trained, "path: a, not b"; empty
// if none.
std::vector<std::string> training_differences(const TrainConfig& a, const TrainConfig& b);

} // namespace cuset
