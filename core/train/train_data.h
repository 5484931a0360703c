// The samples of a run: read, encoded and labelled as in scoring, over-long ones treated as the
// configuration says. Free of torch.
#pragma once

#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/data/sample.h"
#include "core/io/sample_reader.h"
#include "core/model/prompt_encoder.h"
#include "core/train/batch_loader.h"
#include "core/train/train_config.h"

namespace cuset {

struct TrainData {
    std::vector<TrainSample> training, validation;
    std::int64_t cut_samples = 0; // kept without their end
    std::int64_t left_out_samples =
        0; // no response token, too long, not to be encoded, quarantined
    std::int64_t bad_records = 0;
    std::vector<std::string> notes; // for the log: what was left out, and why
    std::string sha256; // of ids, prompts' lengths and labels, training and validation, in order

    std::int64_t tokens() const; // response tokens of the training samples
    std::int64_t sequence_tokens() const; // prompts included
};

// How a run reads its data.
ReadOptions read_options(const TrainConfig& config);

// Corrections of labels beside the data (core/model/label_file.h) are applied, and samples that the
// notes there (core/io/note_file.h) leave out are left out. Throws Error: what read_samples,
// find_corrections and find_notes throw; bad_value (no sample is left; a benchmark's test set
// unless `allow_benchmark`; an over-long sample if they are refused); Cancelled.
TrainData load_train_data(const TrainConfig& config, const PromptEncoder& encoder,
                          bool allow_benchmark, RunControl& control);

// Which samples were held out by validation_share, and how: {"seed", "share", "ids"}.
std::string held_out_json(const TrainConfig& config, const TrainData& data);

} // namespace cuset
