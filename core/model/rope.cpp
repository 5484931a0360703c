#include "core/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cuset {
namespace {

// base^(-2i/d), in float32 as the reference has it.
std::vector<float> plain_frequencies(double theta, std::int64_t dimensions) {
    std::vector<float> result(static_cast<std::size_t>(dimensions / 2));
    for (std::size_t i = 0; i < result.size(); ++i) {
        const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(dimensions);
        result[i] = static_cast<float>(1.0 / std::pow(theta, exponent));
    }
    return result;
}

void scale_llama3(const RopeConfig& c, std::vector<float>& frequencies) {
    const double length = static_cast<double>(c.original_context_length);
    const double longest = length / c.low_freq_factor;
    const double shortest = length / c.high_freq_factor;
    for (float& f : frequencies) {
        const double wave = 2.0 * std::numbers::pi / f;
        if (wave > longest)
            f = static_cast<float>(f / c.factor);
        else if (wave >= shortest) {
            const double smooth =
                (length / wave - c.low_freq_factor) / (c.high_freq_factor - c.low_freq_factor);
            f = static_cast<float>((1.0 - smooth) * f / c.factor + smooth * f);
        }
    }
}

// The channel pair that turns `rotations` times within the original context.
double correction_dimension(const RopeConfig& c, double rotations) {
    const double length = static_cast<double>(c.original_context_length);
    return static_cast<double>(c.dimensions)
        * std::log(length / (rotations * 2.0 * std::numbers::pi)) / (2.0 * std::log(c.theta));
}

void scale_yarn(const RopeConfig& c, std::vector<float>& frequencies) {
    double low = correction_dimension(c, c.beta_fast);
    double high = correction_dimension(c, c.beta_slow);
    if (c.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(c.dimensions - 1));
    if (low == high)
        high += 0.001; // the reference's guard against a division by zero
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
        const double f = frequencies[i];
        frequencies[i] = static_cast<float>(f / c.factor * ramp + f * (1.0 - ramp));
    }
}

double yarn_mscale(double factor, double mscale) {
    return factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

double yarn_attention_factor(const RopeConfig& c) {
    if (c.attention_factor)
        return *c.attention_factor;
    if (c.mscale.value_or(0.0) != 0.0 && c.mscale_all_dim.value_or(0.0) != 0.0)
        return yarn_mscale(c.factor, *c.mscale) / yarn_mscale(c.factor, *c.mscale_all_dim);
    return yarn_mscale(c.factor, 1.0);
}

double dynamic_theta(const RopeConfig& c, std::int64_t length) {
    const double context = static_cast<double>(c.context_length);
    const double longest = std::max(context, static_cast<double>(length));
    const double d = static_cast<double>(c.dimensions);
    return c.theta * std::pow(c.factor * longest / context - (c.factor - 1.0), d / (d - 2.0));
}

// The divisor is applied to base^(2i/d) before the inverse is taken, in float32 as the reference.
void scale_longrope(const RopeConfig& c, std::int64_t length, std::vector<float>& frequencies) {
    const auto& divisors = length > c.original_context_length ? c.long_divisors : c.short_divisors;
    for (std::size_t i = 0; i < frequencies.size() && i < divisors.size(); ++i) {
        const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(c.dimensions);
        frequencies[i] = 1.f / (divisors[i] * static_cast<float>(std::pow(c.theta, exponent)));
    }
}

double longrope_attention_factor(const RopeConfig& c) {
    if (c.attention_factor)
        return *c.attention_factor;
    if (c.factor <= 1.0)
        return 1.0;
    return std::sqrt(
        1.0 + std::log(c.factor) / std::log(static_cast<double>(c.original_context_length)));
}

} // namespace

RopeFrequencies rope_frequencies(const RopeConfig& config, std::int64_t length) {
    RopeFrequencies result;
    const double theta =
        config.kind == RopeKind::dynamic ? dynamic_theta(config, length) : config.theta;
    result.inv_freq = plain_frequencies(theta, config.dimensions);
    switch (config.kind) {
    case RopeKind::linear:
        for (float& f : result.inv_freq)
            f = static_cast<float>(f / config.factor);
        break;
    case RopeKind::llama3:
        scale_llama3(config, result.inv_freq);
        break;
    case RopeKind::yarn:
        scale_yarn(config, result.inv_freq);
        result.attention_scaling = static_cast<float>(yarn_attention_factor(config));
        break;
    case RopeKind::longrope:
        scale_longrope(config, length, result.inv_freq);
        result.attention_scaling = static_cast<float>(longrope_attention_factor(config));
        break;
    case RopeKind::standard:
    case RopeKind::dynamic:
        break;
    }
    for (std::size_t i = 0; i < config.divisors.size() && i < result.inv_freq.size(); ++i)
        result.inv_freq[i] /= config.divisors[i];
    return result;
}

} // namespace cuset
