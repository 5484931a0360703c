#include "ui/shell/command_palette.h"

#include <algorithm>

#include <QKeyEvent>
#include <QPointer>
#include <QTimer>
#include <QVBoxLayout>

namespace cuset {
namespace {

QString plainName(const QAction* action) {
    QString name = action->text();
    return name.remove(QLatin1Char('&')).remove(QChar(0x2026));
}

} // namespace

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint)
    , input_(new QLineEdit(this))
    , list_(new QListWidget(this)) {
    for (QAction* action : actions)
        if (action->isEnabled() && !action->text().isEmpty() && !action->menu())
            actions_ += action;
    setWindowTitle(tr("Commands"));
    setAttribute(Qt::WA_DeleteOnClose);
    input_->setPlaceholderText(tr("Type a command"));
    input_->setAccessibleName(tr("Command"));
    list_->setAccessibleName(tr("Matching commands"));
    list_->setUniformItemSizes(true);
    list_->setFocusPolicy(Qt::NoFocus);
    input_->installEventFilter(this);
    auto* layout = new QVBoxLayout(this);
    const int gap = fontMetrics().height() / 2;
    layout->setContentsMargins(gap, gap, gap, gap);
    layout->addWidget(input_);
    layout->addWidget(list_);
    connect(input_, &QLineEdit::textChanged, this, &CommandPalette::showMatches);
    connect(input_, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(list_, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
    resize(fontMetrics().averageCharWidth() * 80, fontMetrics().height() * 22);
    if (parent)
        move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, parent->height() / 8)));
    showMatches();
}

int CommandPalette::score(const QString& pattern, const QString& text) {
    int total = 1;
    qsizetype at = 0;
    qsizetype last = -1;
    for (const QChar wanted : pattern) {
        if (wanted.isSpace())
            continue;
        at = text.indexOf(wanted, at, Qt::CaseInsensitive);
        if (at < 0)
            return 0;
        const bool begins = at == 0 || !text[at - 1].isLetterOrNumber();
        total += 1 + (last >= 0 && at == last + 1 ? 8 : 0) + (begins ? 4 : 0);
        last = at++;
    }
    return total;
}

void CommandPalette::showMatches() {
    QList<QPair<int, QAction*>> found;
    for (QAction* action : actions_)
        if (const int value = score(input_->text(), plainName(action)))
            found += {value, action};
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    list_->clear();
    for (const auto& [value, action] : found) {
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(
            action->icon(),
            keys.isEmpty() ? plainName(action) : tr("%1   (%2)").arg(plainName(action), keys),
            list_);
        item->setData(Qt::UserRole, QVariant::fromValue<QObject*>(action));
    }
    list_->setCurrentRow(0);
}

void CommandPalette::runCurrent() {
    QListWidgetItem* item = list_->currentItem();
    QPointer<QAction> action =
        item ? qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>()) : nullptr;
    close();
    // After the palette is gone, so that the window has the focus again.
    QTimer::singleShot(0, parentWidget(), [action] {
        if (action)
            action->trigger();
    });
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == input_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up || key == Qt::Key_PageDown
            || key == Qt::Key_PageUp) {
            const int step = (key == Qt::Key_Down || key == Qt::Key_PageDown ? 1 : -1)
                * (key == Qt::Key_PageDown || key == Qt::Key_PageUp ? 10 : 1);
            list_->setCurrentRow(qBound(0, list_->currentRow() + step, list_->count() - 1));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace cuset
