#include "ui/training/run_presets.h"

#include <QCoreApplication>

namespace cuset {
namespace {

QString text(const char* source) {
    return QCoreApplication::translate("RunPresets", source);
}

} // namespace

QString presetTitle(RunPreset preset) {
    switch (preset) {
    case RunPreset::Paper:
        return text("The paper's");
    case RunPreset::QuickTry:
        return text("Quick try");
    case RunPreset::Full:
        break;
    }
    return text("Full fine-tuning");
}

QString presetExplanation(RunPreset preset) {
    switch (preset) {
    case RunPreset::Paper:
        return text("LoRA of rank 8, alpha 16, dropout 0.05 on all linear layers; learning rate "
                    "1e-4, 3 epochs, at most 4,096 tokens; 8 samples a step, as on the paper's 8 "
                    "GPUs");
    case RunPreset::QuickTry:
        return text("20 steps of 4 samples of at most 512 tokens, looked at and saved every 5: "
                    "minutes, to see that all is as meant");
    case RunPreset::Full:
        break;
    }
    return text("All weights, learning rate 1e-5, activations computed again to save memory");
}

void applyPreset(RunPreset preset, TrainConfig& config) {
    // What presets set, from the defaults, so that one takes back what another did.
    const TrainConfig defaults;
    config.method = defaults.method;
    config.lora = defaults.lora;
    config.learning_rate = defaults.learning_rate;
    config.schedule = defaults.schedule;
    config.warmup_ratio = defaults.warmup_ratio;
    config.warmup_steps = defaults.warmup_steps;
    config.batch_size = defaults.batch_size;
    config.gradient_accumulation = defaults.gradient_accumulation;
    config.epochs = defaults.epochs;
    config.max_steps = defaults.max_steps;
    config.max_length = defaults.max_length;
    config.gradient_checkpointing = defaults.gradient_checkpointing;
    config.eval_steps = defaults.eval_steps;
    config.save_steps = defaults.save_steps;
    if (preset == RunPreset::QuickTry) {
        config.max_steps = 20;
        config.gradient_accumulation = 4;
        config.max_length = 512;
        config.eval_steps = 5;
        config.save_steps = 5;
    } else if (preset == RunPreset::Full) {
        config.method = TrainMethod::full;
        config.adapter.clear();
        config.learning_rate = 1e-5;
        config.gradient_checkpointing = true;
    }
}

} // namespace cuset
