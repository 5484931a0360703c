// The commands of `cuset`. Each add_ function registers commands on the program; a command's
// callback does the work and throws Error or Cancelled, which main turns into a message and an exit
// code.
#pragma once

#include <CLI/CLI.hpp>

namespace cuset::cli {

void add_model_commands(CLI::App& program); // info, models, tokenize, template, doctor
void add_verify_command(CLI::App& program); // verify
void add_regions_command(CLI::App& program); // regions
void add_score_commands(CLI::App& program); // score, generate
void add_analysis_commands(CLI::App& program); // analyze
void add_sweep_command(CLI::App& program); // sweep
void add_compare_command(CLI::App& program); // compare
void add_report_command(CLI::App& program); // report
void add_train_commands(CLI::App& program); // train, runs, merge
void add_queue_command(CLI::App& program); // queue

} // namespace cuset::cli
