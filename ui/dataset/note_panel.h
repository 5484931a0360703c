// NotePanel: tags, note and quarantine of the selected sample.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QWidget>

#include "ui/state/note_state.h"
#include "ui/state/selection_state.h"
#include "ui/state/workspace.h"

namespace cuset {

class NotePanel : public QWidget {
    Q_OBJECT
public:
    NotePanel(NoteState* notes, Workspace* workspace, SelectionState* selection,
              QWidget* parent = nullptr);

    // Takes over what is being typed; it does so by itself when the focus or the sample goes.
    void commit();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void build();
    void showNote();

    NoteState* notes_;
    Workspace* workspace_;
    SelectionState* selection_;
    QString id_; // whose note is shown
    QLabel* title_ = nullptr;
    QLineEdit* tags_ = nullptr;
    QPlainTextEdit* text_ = nullptr;
    QCheckBox* quarantined_ = nullptr;
    QCheckBox* leaveOut_ = nullptr;
    bool showing_ = false;
};

} // namespace cuset
