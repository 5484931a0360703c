#include "ui/state/mask_settings_state.h"

#include <algorithm>
#include <cmath>

#include <QUndoCommand>

namespace cuset {

class MaskSettingsState::Change : public QUndoCommand {
public:
    Change(MaskSettingsState* state, const MaskSettings& before, const MaskSettings& after,
           const QString& what)
        : QUndoCommand(what)
        , state_(state)
        , before_(before)
        , after_(after) { }

    void undo() override { state_->apply(before_); }
    void redo() override { state_->apply(after_); }

private:
    MaskSettingsState* state_;
    MaskSettings before_;
    MaskSettings after_;
};

MaskSettingsState::MaskSettingsState(QObject* parent)
    : QObject(parent) { }

MaskSettings MaskSettingsState::clamped(MaskSettings settings) {
    const MaskSettings defaults;
    settings.tau = std::isfinite(settings.tau) ? std::clamp(settings.tau, 0.0, 1.0) : defaults.tau;
    settings.lambda =
        std::isfinite(settings.lambda) ? std::clamp(settings.lambda, 0.01, 100.0) : defaults.lambda;
    settings.window = std::clamp(settings.window, 1, 32768);
    return settings;
}

void MaskSettingsState::set(const MaskSettings& settings, const QString& what) {
    const MaskSettings wanted = clamped(settings);
    if (wanted == settings_)
        return;
    if (inGesture_)
        apply(wanted);
    else
        undoStack_.push(new Change(this, settings_, wanted, what));
}

void MaskSettingsState::setTau(double tau) {
    MaskSettings wanted = settings_;
    wanted.tau = tau;
    set(wanted, tr("Change tau"));
}

void MaskSettingsState::beginGesture(const QString& what) {
    if (inGesture_)
        return;
    inGesture_ = true;
    gesture_ = what;
    before_ = settings_;
}

void MaskSettingsState::endGesture() {
    if (!inGesture_)
        return;
    inGesture_ = false;
    if (!(before_ == settings_))
        undoStack_.push(new Change(this, before_, settings_, gesture_));
}

void MaskSettingsState::restore(const MaskSettings& settings) {
    apply(clamped(settings));
}

void MaskSettingsState::apply(const MaskSettings& settings) {
    if (settings == settings_)
        return;
    settings_ = settings;
    emit changed(settings_);
}

} // namespace cuset
