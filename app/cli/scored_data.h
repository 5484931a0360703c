// SCORES as commands take them: corrected labels and a person's notes are read from beside it.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "core/data/sample_note.h"
#include "core/data/score_set.h"

namespace cuset::cli {

struct ScoredDataOptions {
    std::string scores; // a score file, "-" for standard input
    std::string labels;
    std::string notes;
    std::string quarantined = "as-noted"; // keep, leave-out, as-noted
};

// SCORES --labels --notes --quarantined
void add_scored_data_options(CLI::App& command, ScoredDataOptions& options);

struct ScoredData {
    std::shared_ptr<const ScoreSet> scores; // corrected, without what is to be left out
    SampleNotes notes;
};
// Says on standard error how many labels were corrected and samples left out.
ScoredData read_scored_data(const ScoredDataOptions& options);

} // namespace cuset::cli
