// A sweep: one run for each point of a grid over thresholds, objective and learning rate, in
// folders side by side; and the queue that trains them. The sweep's folder holds sweep.json, and a
// folder with a config.json for each run: one without events waits for its turn. The queue lives in
// those files alone, so that any process can go on with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/run_control.h"
#include "core/train/run_folder.h"
#include "core/train/train_config.h"

namespace cuset {

// An axis without values keeps the base configuration's.
struct RunGrid {
    std::vector<TokenObjective> objectives;
    std::vector<double> tau, lambda; // in the ranges of TrainConfig
    std::vector<std::int64_t> window; // tokens
    std::vector<double> learning_rate;

    // 0 if no axis has a value.
    std::int64_t runs() const;
    friend bool operator==(const RunGrid&, const RunGrid&) = default;
};

// Adds "tau=0.05,0.1", "lambda=...", "window=...", "objective=sft,cuset" or "learning_rate=...".
// Throws Error(usage) for another name, no value or a value that cannot be read.
void add_sweep_axis(RunGrid& grid, std::string_view text);
// Values as people write them: "0.05, 0.1". Throws Error(usage).
std::vector<double> parse_sweep_values(std::string_view text, std::string_view name);

// One configuration a point, its output a folder in base.output named by what differs. Checked as
// any configuration is. Throws Error: usage (nothing varies, more than 10,000 runs), bad_value.
std::vector<TrainConfig> expand_sweep(const TrainConfig& base, const RunGrid& grid);

struct Sweep {
    std::filesystem::path folder;
    RunGrid grid;
    std::vector<std::filesystem::path> runs; // in order of the grid
};
// Makes base.output with sweep.json and the runs' folders. Throws Error: usage (a sweep or a run is
// there already), disk, and as expand_sweep.
Sweep write_sweep(const TrainConfig& base, const RunGrid& grid);
bool is_sweep_folder(const std::filesystem::path& folder);
// Throws Error: not_found, unreadable, bad_format.
Sweep read_sweep(const std::filesystem::path& folder);

struct QueueReport {
    std::int64_t finished = 0, failed = 0, waiting = 0;
    bool stopped = false; // on request: runs in progress were saved, the queue can go on
};
// Trains what waits, was stopped or was interrupted, at most `jobs` runs at a time, each as a
// process `program` train. Failed runs are not tried again. A stop asked of `control` is passed on
// to the runs. `changed` is called after each start and end; may be empty. Throws Error: usage
// (another process works on the queue), disk, failure.
QueueReport run_queue(const Sweep& sweep, int jobs, const std::filesystem::path& program,
                      const std::function<void(const std::filesystem::path&)>& changed,
                      RunControl& control);

} // namespace cuset
