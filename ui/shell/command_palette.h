// CommandPalette: every action of the window by name (Ctrl+Shift+P).
#pragma once

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

namespace cuset {

class CommandPalette : public QDialog {
    Q_OBJECT
public:
    // `actions` are those with a text; disabled ones are left out when it opens.
    CommandPalette(const QList<QAction*>& actions, QWidget* parent);

    // How well `pattern`'s letters are found in order in `text`: 0 not at all, higher is better.
    static int score(const QString& pattern, const QString& text);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showMatches();
    void runCurrent();

    QList<QAction*> actions_;
    QLineEdit* input_;
    QListWidget* list_;
};

} // namespace cuset
