#include "core/train/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cuset {

// The order of the operations is that of the reference, so that the rates are equal to the last
// bit.
double LearningRate::at(std::int64_t step) const {
    if (step < warmup_steps)
        return base * static_cast<double>(step) / static_cast<double>(warmup_steps);
    const auto after = static_cast<double>(step - warmup_steps);
    const auto span = static_cast<double>(std::max<std::int64_t>(1, total_steps - warmup_steps));
    switch (schedule) {
    case Schedule::constant:
        return base;
    case Schedule::linear:
        return base * std::max(0.0, static_cast<double>(total_steps - step) / span);
    case Schedule::cosine:
        return base * 0.5 * (1 + std::cos(std::numbers::pi * after / span));
    case Schedule::cosine_with_min: {
        const double share = 0.5 * (1 + std::cos(std::numbers::pi * after / span));
        return base * (share * (1 - min_ratio) + min_ratio);
    }
    case Schedule::wsd: {
        const auto decay =
            std::max<std::int64_t>(1, std::llround(decay_ratio * static_cast<double>(total_steps)));
        const std::int64_t left = total_steps - step;
        return base * std::clamp(static_cast<double>(left) / static_cast<double>(decay), 0.0, 1.0);
    }
    }
    return base;
}

std::int64_t warmup_from_ratio(double ratio, std::int64_t total_steps) {
    return static_cast<std::int64_t>(std::ceil(ratio * static_cast<double>(total_steps)));
}

} // namespace cuset
