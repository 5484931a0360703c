#include "ui/shell/label_actions.h"

#include "ui/editor/color_scale.h"

namespace cuset {

LabelActions::LabelActions(QWidget* window, EditorPanel* editor, LabelState* labels,
                           Workspace* workspace, SelectionState* selection)
    : QObject(window)
    , window_(window)
    , editor_(editor)
    , labels_(labels)
    , workspace_(workspace)
    , selection_(selection)
    , menu_(new QMenu(tr("&Mark selection as"), window)) {
    const auto add = [this](const QString& text, const QString& keys, const auto& run) {
        QAction* action = menu_->addAction(text);
        action->setShortcut(QKeySequence(keys));
        connect(action, &QAction::triggered, this, run);
        marks_ += action;
        return action;
    };
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const auto which = static_cast<SensitiveKind>(kind);
        add(tr("Mark as %1").arg(kindTitle(which)), QStringLiteral("Ctrl+Alt+%1").arg(kind + 1),
            [this, which] { mark(which); });
    }
    add(tr("Mark as neutral"), QStringLiteral("Ctrl+Alt+0"), [this] { mark(std::nullopt); });
    menu_->addSeparator();
    takeBack_ = add(tr("Take correction back"), QStringLiteral("Ctrl+Alt+Backspace"),
                    [this] { takeBack(); });
    connect(editor_->codeView(), &CodeView::menuRequested, this, &LabelActions::showMenu);
    connect(menu_, &QMenu::aboutToShow, this, &LabelActions::update);
    connect(menu_, &QMenu::aboutToHide, this, [this] {
        for (QAction* action : std::as_const(marks_))
            action->setEnabled(true); // keys work while the menu is closed
    });
}

std::string LabelActions::sampleId() const {
    const int row = selection_->sample();
    return row >= 0 && row < workspace_->sampleCount() ? workspace_->sampleId(row).toStdString()
                                                       : std::string();
}

void LabelActions::mark(std::optional<SensitiveKind> kind) {
    labels_->mark(sampleId(), editor_->chosenSpan(), kind);
}

void LabelActions::takeBack() {
    const int index = labels_->touching(sampleId(), editor_->chosenSpan());
    if (index >= 0)
        labels_->remove({index});
}

void LabelActions::update() {
    const ByteSpan span = editor_->chosenSpan();
    for (QAction* action : std::as_const(marks_))
        action->setEnabled(!span.empty());
    takeBack_->setEnabled(!span.empty() && labels_->touching(sampleId(), span) >= 0);
}

void LabelActions::showMenu(const QPoint& globalPosition) {
    QMenu menu(window_);
    CodeView* code = editor_->codeView();
    QAction* copy = menu.addAction(tr("&Copy"), code, &QsciScintilla::copy);
    copy->setEnabled(!code->selectedBytes().empty());
    menu.addAction(tr("Select &all"), code, [code] { code->selectAll(); });
    menu.addSeparator();
    update();
    menu.addActions(menu_->actions());
    menu.exec(globalPosition);
    for (QAction* action : std::as_const(marks_))
        action->setEnabled(true);
}

} // namespace cuset
