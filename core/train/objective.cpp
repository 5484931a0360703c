#include "core/train/objective.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/analysis/window.h"

namespace cuset {
namespace {

std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    return text.data();
}

std::string cuset_formula(const MaskSettings& mask) {
    std::string text = mask.region_weight ? "w_n sum_t M_t (-ln p_t)" : "sum_t M_t (-ln p_t)";
    text += ", M_t = ";
    if (mask.confidence_mask)
        text += "1[p_t > " + number(mask.tau) + "]";
    if (mask.cuda_mask)
        text += (mask.confidence_mask ? " + " : "") + number(mask.lambda) + " cuda_t";
    if (!mask.confidence_mask && !mask.cuda_mask)
        text += "1";
    if (mask.region_weight)
        text += ", w_n = 1 - min over windows of " + std::to_string(mask.window)
            + " tokens of the mean of p_t"
            + (mask.whole_if_short ? " (a shorter sample is one window)" : "");
    return text;
}

std::string sample_formula(const Objective& objective) {
    switch (objective.name) {
    case TokenObjective::sft:
        return "sum_t (-ln p_t)";
    case TokenObjective::dft:
        return "sum_t p_t (-ln p_t)";
    case TokenObjective::eaft:
        return "sum_t (H_t / ln 20)^" + number(objective.alpha)
            + " (-ln p_t), H_t the entropy of the 20 largest probabilities renormalised";
    case TokenObjective::asft:
        return "sum_t p_t (-ln p_t) + " + number(objective.alpha) + " KL(base_t || current_t)";
    case TokenObjective::profit:
        return "sum_t 1[p_t >= " + number(objective.mask.tau) + "] (-ln p_t)";
    case TokenObjective::cuset:
        return cuset_formula(objective.mask);
    }
    return {};
}

} // namespace

double default_alpha(TokenObjective name) {
    return name == TokenObjective::asft ? 0.05 : 1.0;
}

std::string formula_text(const Objective& objective) {
    return "L = sum_n L_n / ("
        + std::string(objective.reduction == Reduction::token_mean ? "response tokens of the step"
                                                                   : "samples of the step")
        + "), L_n = " + sample_formula(objective) + "; factors are constants of the gradient";
}

void token_factors(const Objective& objective, std::span<const float> confidence,
                   std::span<const float> entropy_top20, std::span<const LabelBits> labels,
                   int candidates, std::span<float> factors) {
    ObjectiveParameters parameters;
    parameters.profit_tau = objective.mask.tau;
    parameters.eaft_alpha = objective.name == TokenObjective::eaft ? objective.alpha : 1.0;
    parameters.eaft_candidates = std::max(2, candidates);
    objective_weights(objective.name, confidence, entropy_top20, labels, objective.mask, 1.0f,
                      parameters, factors);
}

double sample_factor(const Objective& objective, std::span<const float> confidence) {
    if (confidence.empty())
        return 0;
    if (objective.name != TokenObjective::cuset || !objective.mask.region_weight)
        return 1;
    const WindowMinimum minimum =
        window_minimum(confidence, objective.mask.window, objective.mask.whole_if_short);
    return static_cast<double>(1.0f - minimum.mean);
}

double reduction_divisor(Reduction reduction, std::int64_t tokens, std::int64_t samples) {
    return static_cast<double>(
        std::max<std::int64_t>(1, reduction == Reduction::token_mean ? tokens : samples));
}

} // namespace cuset
