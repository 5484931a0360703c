// The figures of an optimiser step and of an evaluation as a run's events hold them. Sees torch.
#pragma once

#include <cstdint>

#include "core/train/step_engine.h"
#include "core/train/train_event.h"

namespace cuset {

// `step` from 1. What the engine does not know is left: epoch, learning rate, speed, memory, time.
StepEvent step_event(std::int64_t step, const StepResult& result);
EvaluationEvent evaluation_event(std::int64_t step, const TokenSums& sums);

} // namespace cuset
