// Options that several commands share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/base/run_control.h"
#include "core/cuda/label_corrections.h"
#include "core/data/mask_settings.h"
#include "core/data/sample.h"
#include "core/data/score_set.h"
#include "core/io/sample_reader.h"
#include "core/model/inference_session.h"

namespace cuset::cli {

// --device --dtype --threads --adapter --force
void add_session_options(CLI::App& command, SessionOptions& options);
// --template --max-length
void add_prompt_options(CLI::App& command, PromptOptions& options);
void add_response_option(CLI::App& command, ResponseChoice& choice);
// --tau --lambda --window and the switches
void add_mask_options(CLI::App& command, MaskSettings& settings);
// The switches alone.
void add_mask_switches(CLI::App& command, MaskSettings& settings);
// --prompt-field --response-field --prompt --dataset --where --every-turn --strict
void add_read_options(CLI::App& command, ReadOptions& options);

// --labels
void add_label_option(CLI::App& command, std::string& file);
struct LabelOption {
    std::string file; // where they were read; "" if there are none
    std::vector<LabelCorrection> corrections;
};
// The corrections in `file`, else those beside the first of `beside`.
LabelOption read_labels(const std::string& file, const std::vector<std::string>& beside);
// The scores with the corrections that mean them; says on standard error how many those are, and
// how many are of other data.
std::shared_ptr<const ScoreSet> with_labels(const std::shared_ptr<const ScoreSet>& scores,
                                            const LabelOption& labels);

// A score file with the corrections of its labels on top: those in `labels`, else those beside it.
std::shared_ptr<const ScoreSet> read_corrected(const std::string& scores,
                                               const std::string& labels);

// Reads DATA and says on standard error which records were left out and what was warned about.
Dataset read_data(const std::vector<std::string>& paths, const ReadOptions& options,
                  RunControl& control);

// The text of a file, or of standard input for "-". At most 64 MiB.
std::string read_text(const std::string& path);

} // namespace cuset::cli
