// The learning rate of each optimiser step, as transformers' schedules give it: the first of W > 0
// warm-up steps has rate 0.
// https://huggingface.co/docs/transformers/main_classes/optimizer_schedules
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cuset {

enum class Schedule : std::uint8_t { constant, linear, cosine, cosine_with_min, wsd };
inline constexpr std::array<std::string_view, 5> schedule_names{"constant", "linear", "cosine",
                                                                "cosine_with_min", "wsd"};

struct LearningRate {
    Schedule schedule = Schedule::cosine;
    double base = 1e-4;
    std::int64_t total_steps = 1;
    std::int64_t warmup_steps = 0; // rises linearly from 0
    double min_ratio = 0.1; // cosine_with_min: the last rate over the base
    double decay_ratio = 0.1; // wsd: share of all steps that decay, linearly to 0

    // step counts from 0.
    double at(std::int64_t step) const;
};

// ceil(ratio * total), as transformers.
std::int64_t warmup_from_ratio(double ratio, std::int64_t total_steps);

} // namespace cuset
