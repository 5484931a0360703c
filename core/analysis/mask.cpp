#include "core/analysis/mask.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <sstream>

#include "core/analysis/window.h"
#include "core/base/error.h"

namespace cuset {
namespace {

[[noreturn]] void refuse(const char* name, double value, const char* range) {
    std::ostringstream text;
    text << "is " << value << ", needs " << range;
    throw Error(ErrorCode::bad_value, text.str(), name);
}

} // namespace

void require_valid(const MaskSettings& settings) {
    // Negated comparisons, so that a NaN is refused too.
    if (!(settings.tau >= 0 && settings.tau <= 1))
        refuse("tau", settings.tau, "a number from 0 to 1");
    if (!(settings.lambda > 0 && static_cast<float>(settings.lambda) > 0
          && settings.lambda <= max_lambda))
        refuse("lambda", settings.lambda, "a number above 0 and at most 1e6");
    if (settings.window < 1)
        refuse("window", settings.window, "1 token or more");
}

float confidence_of(float log_prob) {
    const float value = std::exp(log_prob);
    return value >= 0 ? std::min(value, 1.0f) : 0.0f; // a NaN fails the comparison
}

void confidences(std::span<const float> log_prob, std::span<float> confidence) {
    assert(log_prob.size() == confidence.size());
    std::transform(log_prob.begin(), log_prob.end(), confidence.begin(), confidence_of);
}

float hybrid_mask(float confidence, LabelBits labels, const MaskSettings& settings) {
    if (!settings.confidence_mask && !settings.cuda_mask)
        return 1.0f;
    float mask = 0;
    if (settings.confidence_mask && confidence > static_cast<float>(settings.tau))
        mask += 1.0f;
    if (settings.cuda_mask && is_cuda_masked(labels))
        mask += static_cast<float>(settings.lambda);
    return mask;
}

MaskedSample mask_sample(std::span<const float> confidence, std::span<const LabelBits> labels,
                         const MaskSettings& settings) {
    assert(confidence.size() == labels.size());
    require_valid(settings);
    const std::size_t tokens = confidence.size();
    MaskedSample result;
    result.mask.resize(tokens);
    result.window_mean.resize(tokens);
    if (tokens == 0)
        return result;
    for (std::size_t t = 0; t < tokens; ++t)
        result.mask[t] = hybrid_mask(confidence[t], labels[t], settings);
    window_means(confidence, settings.window, settings.whole_if_short, result.window_mean);
    const WindowMinimum minimum =
        window_minimum(confidence, settings.window, settings.whole_if_short);
    const WindowRange range = window_at(minimum.at, static_cast<std::int32_t>(tokens),
                                        settings.window, settings.whole_if_short);
    result.difficulty = minimum.mean;
    result.weight = settings.region_weight ? 1.0f - minimum.mean : 1.0f;
    result.min_window_begin = range.begin;
    result.min_window_end = range.end;
    return result;
}

float push(float confidence, float mask, float weight) {
    return weight * mask * (1.0f - confidence);
}

} // namespace cuset
