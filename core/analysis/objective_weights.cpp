#include "core/analysis/objective_weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "core/analysis/mask.h"
#include "core/base/error.h"

namespace cuset {
namespace {

void require_parameters(const ObjectiveParameters& parameters) {
    if (!(parameters.profit_tau >= 0 && parameters.profit_tau <= 1))
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(parameters.profit_tau) + ", needs a number from 0 to 1",
                    "profit tau");
    if (!(parameters.eaft_alpha >= 0 && std::isfinite(parameters.eaft_alpha)))
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(parameters.eaft_alpha) + ", needs 0 or more",
                    "eaft alpha");
    if (parameters.eaft_candidates < 2)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(parameters.eaft_candidates) + ", needs 2 or more",
                    "eaft candidates");
}

// (H / ln K)^alpha in [0, 1]; H is at most ln K but for rounding.
float entropy_weight(float entropy, const ObjectiveParameters& parameters) {
    const double share =
        static_cast<double>(entropy) / std::log(static_cast<double>(parameters.eaft_candidates));
    const double inside = share > 0 ? std::min(share, 1.0) : 0.0; // a NaN fails the comparison
    return static_cast<float>(parameters.eaft_alpha == 1 ? inside
                                                         : std::pow(inside, parameters.eaft_alpha));
}

} // namespace

void objective_weights(TokenObjective objective, std::span<const float> confidence,
                       std::span<const float> entropy_top20, std::span<const LabelBits> labels,
                       const MaskSettings& settings, float cuset_weight,
                       const ObjectiveParameters& parameters, std::span<float> weights) {
    assert(confidence.size() == weights.size() && entropy_top20.size() == weights.size()
           && labels.size() == weights.size());
    require_parameters(parameters);
    require_valid(settings);
    const auto profit_tau = static_cast<float>(parameters.profit_tau);
    for (std::size_t t = 0; t < weights.size(); ++t) {
        const float p = confidence[t];
        switch (objective) {
        case TokenObjective::sft:
            weights[t] = 1;
            break;
        case TokenObjective::dft:
        case TokenObjective::asft:
            weights[t] = p;
            break;
        case TokenObjective::eaft:
            weights[t] = entropy_weight(entropy_top20[t], parameters);
            break;
        case TokenObjective::profit:
            weights[t] = p >= profit_tau ? 1.0f : 0.0f;
            break;
        case TokenObjective::cuset:
            weights[t] = cuset_weight * hybrid_mask(p, labels[t], settings);
            break;
        }
    }
}

void PushTotals::add(const PushTotals& other) {
    total += other.total;
    sensitive += other.sensitive;
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind)
        by_kind[kind] += other.by_kind[kind];
}

PushTotals push_totals(std::span<const float> confidence, std::span<const LabelBits> labels,
                       std::span<const float> weights) {
    assert(confidence.size() == weights.size() && labels.size() == weights.size());
    PushTotals totals;
    for (std::size_t t = 0; t < weights.size(); ++t) {
        const double here =
            static_cast<double>(weights[t]) * (1.0 - static_cast<double>(confidence[t]));
        totals.total += here;
        if (!is_cuda_sensitive(labels[t]))
            continue;
        totals.sensitive += here;
        for (std::size_t kind = 0; kind < totals.by_kind.size(); ++kind)
            if ((labels[t] & kind_bit(static_cast<SensitiveKind>(kind))) != 0)
                totals.by_kind[kind] += here;
    }
    return totals;
}

SampleObjectives sample_objectives(std::span<const float> confidence,
                                   std::span<const float> entropy_top20,
                                   std::span<const LabelBits> labels, const MaskSettings& settings,
                                   float cuset_weight, const ObjectiveParameters& parameters) {
    SampleObjectives all;
    for (std::size_t i = 0; i < all.weights.size(); ++i) {
        all.weights[i].resize(confidence.size());
        objective_weights(static_cast<TokenObjective>(i), confidence, entropy_top20, labels,
                          settings, cuset_weight, parameters, all.weights[i]);
        all.push[i] = push_totals(confidence, labels, all.weights[i]);
    }
    return all;
}

std::optional<TokenObjective> find_objective(std::string_view name) {
    const auto found = std::find(token_objective_names.begin(), token_objective_names.end(), name);
    if (found == token_objective_names.end())
        return std::nullopt;
    return static_cast<TokenObjective>(found - token_objective_names.begin());
}

ObjectivePush objective_push(const CorpusAnalyzer& analyzer, TokenObjective objective,
                             const ObjectiveParameters& parameters, RunControl& control) {
    require_parameters(parameters);
    const ScoreSet& scores = *analyzer.scores();
    const MaskSettings& settings = analyzer.summary().settings;
    ObjectivePush result;
    result.objective = objective;
    result.samples.resize(static_cast<std::size_t>(scores.sample_count()));
    constexpr std::int64_t batch = 64;
    const std::int64_t batches = (scores.sample_count() + batch - 1) / batch;
    analyzer.parallel_for()(batches, [&](std::int64_t i) {
        control.throw_if_stopped();
        std::vector<float> weights;
        for (std::int64_t n = i * batch; n < std::min((i + 1) * batch, scores.sample_count());
             ++n) {
            const auto begin = static_cast<std::size_t>(scores.token_begin(n));
            const std::size_t tokens = static_cast<std::size_t>(scores.token_end(n)) - begin;
            const auto confidence = analyzer.confidence().subspan(begin, tokens);
            const auto labels = scores.columns().labels.subspan(begin, tokens);
            weights.resize(tokens);
            objective_weights(objective, confidence,
                              scores.columns().entropy_top20.subspan(begin, tokens), labels,
                              settings, analyzer.samples()[static_cast<std::size_t>(n)].weight,
                              parameters, weights);
            result.samples[static_cast<std::size_t>(n)] = push_totals(confidence, labels, weights);
        }
    });
    for (const PushTotals& sample : result.samples)
        result.corpus.add(sample);
    return result;
}

} // namespace cuset
