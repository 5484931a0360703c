// Scores of a run's checkpoints, kept beside them: RUN/scores/base.scores.safetensors is the model
// before training, RUN/scores/step-N.scores.safetensors checkpoint N. `cuset score --run` and the
// window write them; they stay when the checkpoint itself is pruned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/model/inference_session.h"

namespace cuset {

struct RunCheckpoint {
    std::int64_t step = 0; // 0: the model before training
    std::filesystem::path folder; // of the adapter or the model; "" for step 0, and if it is gone
    bool is_adapter = true; // false: a model folder of its own (method "full")
    std::filesystem::path scores; // where its scores are kept, there or not

    // It can be scored.
    bool is_there() const { return step == 0 || !folder.empty(); }
};

// The base, then the run's checkpoints and final/ by step, and those of which only the scores are
// left. Throws Error(not_found) if `run` is no run folder.
std::vector<RunCheckpoint> list_run_checkpoints(const std::filesystem::path& run);

// The kept scores of a checkpoint if they can be set beside `base`: the same samples and tokens,
// made in the same way by the same model, and not older than the checkpoint. Null if they are not
// there, damaged, or have to be made again.
std::shared_ptr<const ScoreSet> kept_scores(const RunCheckpoint& checkpoint, const ScoreSet& base);

// The run's kept base scores, or `present` (may be null), whichever `session` would make of
// `samples` with these options and no adapter. Null if neither is.
std::shared_ptr<const ScoreSet> kept_base_scores(const RunCheckpoint& base,
                                                 std::shared_ptr<const ScoreSet> present,
                                                 const InferenceSession& session,
                                                 const std::vector<Sample>& samples,
                                                 const ScoreOptions& options);

// Writes them where they are kept; makes the folder. Throws Error(disk).
void keep_scores(const RunCheckpoint& checkpoint, const ScoreSet& scores);

// Every score file of the run that is there, base first, by step.
std::vector<std::filesystem::path> run_score_files(const std::filesystem::path& run);

} // namespace cuset
