// Which run a process works on: a new one, or one to go on with. Sees torch.
#pragma once

#include <optional>

#include "core/train/process_group.h"
#include "core/train/train_config.h"
#include "core/train/trainer.h"

namespace cuset {

struct RunChoice {
    TrainConfig config;
    TrainOptions options; // `resume` filled in
};

// As rank 0 sees it: the others need not see its disk. A group that was started again with the same
// command goes on with its run. Throws Error: usage (neither a configuration nor a run), bad_value
// (a configuration that is not the run's), and what read_train_config throws.
RunChoice choose_run(const std::optional<TrainConfig>& given, const TrainOptions& options,
                     ProcessGroup& group);

} // namespace cuset
