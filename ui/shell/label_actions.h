// LabelActions: marking the chosen code as a kind or as neutral, in the Edit menu, the code's
// context menu and by keys.
#pragma once

#include <QAction>
#include <QMenu>
#include <QObject>

#include "ui/editor/editor_panel.h"
#include "ui/state/label_state.h"

namespace cuset {

class LabelActions : public QObject {
    Q_OBJECT
public:
    // `window` owns the menu and receives the shortcuts.
    LabelActions(QWidget* window, EditorPanel* editor, LabelState* labels, Workspace* workspace,
                 SelectionState* selection);

    // "Mark selection as": the kinds, neutral, and taking a correction back.
    QMenu* menu() { return menu_; }

private:
    void mark(std::optional<SensitiveKind> kind);
    void takeBack();
    void update();
    void showMenu(const QPoint& globalPosition);
    // The id of the sample in view, "" for none.
    std::string sampleId() const;

    QWidget* window_;
    EditorPanel* editor_;
    LabelState* labels_;
    Workspace* workspace_;
    SelectionState* selection_;
    QMenu* menu_;
    QList<QAction*> marks_;
    QAction* takeBack_ = nullptr;
};

} // namespace cuset
