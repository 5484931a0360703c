// Scoring of a corpus by several ranks (rank_environment.h): each scores its share, rank 0 gets
// all. The result is one rank's, sample for sample. No header of torch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/inference_session.h"

namespace cuset {

class ProcessGroup;

struct RankedScoreRun {
    ScoreRun run; // of rank 0 all that was done; of the others nothing
    std::optional<Error> failure; // a rank was lost or failed: the run holds what was done before
};

class ScoringRanks {
public:
    // Throws what open_process_group throws.
    ScoringRanks();
    ~ScoringRanks();
    ScoringRanks(const ScoringRanks&) = delete;
    ScoringRanks& operator=(const ScoringRanks&) = delete;

    bool leads() const;
    // This rank's own GPU where ranks of one machine share them, and its share of the cores.
    SessionOptions own(SessionOptions options) const;
    // What `work` throws ends all ranks.
    void run(const std::function<void()>& work);

    // As score_samples; every rank calls it with the same samples and options. A stop of any rank
    // stops all. Throws Error(bad_value): a rank has another model or other samples.
    RankedScoreRun score(InferenceSession& session, const std::vector<Sample>& samples,
                         const ScoreOptions& options, RunControl& control);

private:
    std::unique_ptr<ProcessGroup> group_;
};

} // namespace cuset
