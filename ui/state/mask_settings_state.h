// MaskSettingsState: the thresholds a person tunes, with undo. A drag (begin, many sets, end) is
// one step.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>

#include "core/data/mask_settings.h"

namespace cuset {

class MaskSettingsState : public QObject {
    Q_OBJECT
public:
    explicit MaskSettingsState(QObject* parent = nullptr);

    const MaskSettings& settings() const { return settings_; }
    QUndoStack* undoStack() { return &undoStack_; }

    // Values outside their range are brought into it. Within a gesture nothing is pushed on the
    // undo stack.
    void set(const MaskSettings& settings, const QString& what);
    void setTau(double tau);
    // A gesture: from the press of a slider to its release. Nested calls count as one.
    void beginGesture(const QString& what);
    void endGesture();
    // Restored at start: no undo step.
    void restore(const MaskSettings& settings);

    static MaskSettings clamped(MaskSettings settings);

signals:
    void changed(const cuset::MaskSettings& settings);

private:
    class Change;
    void apply(const MaskSettings& settings);

    MaskSettings settings_;
    MaskSettings before_;
    QString gesture_;
    bool inGesture_ = false;
    QUndoStack undoStack_;
};

} // namespace cuset
