#include "core/train/step_events.h"

namespace cuset {
namespace {

double share(double part, double whole) {
    return whole > 0 ? part / whole : no_figure;
}

// The means that both kinds of event have.
template <class Event> void set_confidences(const TokenSums& sums, Event& event) {
    event.tokens = static_cast<std::int64_t>(sums.tokens);
    event.mean_confidence = share(sums.confidence, sums.tokens);
    event.sensitive_confidence = share(sums.sensitive, sums.sensitive_tokens);
    event.neutral_confidence = share(sums.neutral, sums.neutral_tokens);
}

} // namespace

StepEvent step_event(std::int64_t step, const StepResult& result) {
    const TokenSums& sums = result.sums;
    StepEvent event;
    event.step = step;
    event.loss = result.loss;
    event.grad_norm = result.grad_norm;
    event.confident_share = share(sums.confident, sums.tokens);
    event.supervised_share = share(sums.supervised, sums.tokens);
    event.mean_weight = share(sums.weight, sums.samples);
    event.nll = share(sums.nll, sums.tokens);
    event.skipped = !result.finite;
    set_confidences(sums, event);
    return event;
}

EvaluationEvent evaluation_event(std::int64_t step, const TokenSums& sums) {
    EvaluationEvent event;
    event.step = step;
    event.loss = share(sums.nll, sums.tokens);
    set_confidences(sums, event);
    return event;
}

} // namespace cuset
