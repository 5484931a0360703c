// Presets of the run form: what a person chooses first.
#pragma once

#include <array>

#include <QString>

#include "core/train/train_config.h"

namespace cuset {

enum class RunPreset { Paper, QuickTry, Full };
inline constexpr std::array allRunPresets{RunPreset::Paper, RunPreset::QuickTry, RunPreset::Full};
QString presetTitle(RunPreset preset);
QString presetExplanation(RunPreset preset);
// Changes how `config` trains; model, data, output and thresholds stay.
void applyPreset(RunPreset preset, TrainConfig& config);

} // namespace cuset
