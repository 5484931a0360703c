#include "ui/state/selection_state.h"

namespace cuset {

SelectionState::SelectionState(QObject* parent)
    : QObject(parent) { }

void SelectionState::setSample(int sample) {
    if (sample == sample_)
        return;
    sample_ = sample;
    token_ = -1;
    hover_ = -1;
    emit sampleChanged(sample_);
}

void SelectionState::setToken(int token) {
    if (token == token_)
        return;
    token_ = token;
    emit tokenChanged(token_);
}

void SelectionState::setHover(int token) {
    if (token == hover_)
        return;
    hover_ = token;
    emit hoverChanged(hover_);
}

void SelectionState::setKinds(LabelBits kinds) {
    if (kinds == kinds_)
        return;
    kinds_ = kinds;
    emit kindsChanged(kinds_);
}

void SelectionState::setObjective(TokenObjective objective) {
    if (objective == objective_)
        return;
    objective_ = objective;
    emit objectiveChanged(objective_);
}

} // namespace cuset
