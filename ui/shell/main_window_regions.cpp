// MainWindow: the panels and menus about CUDA regions.
#include <QActionGroup>

#include "ui/regions/correction_panel.h"
#include "ui/regions/lowest_panel.h"
#include "ui/regions/region_panel.h"
#include "ui/shell/label_actions.h"
#include "ui/shell/main_window.h"
#include "ui/shell/region_navigator.h"

namespace cuset {

void MainWindow::buildRegionPanels(QDockWidget* summary) {
    auto* regions = new RegionPanel(kinds_, &selection_, this);
    QDockWidget* dock =
        addDock(QStringLiteral("regions"), tr("Regions"), regions, Qt::RightDockWidgetArea);
    tabifyDockWidget(summary, dock);
    connect(regions, &RegionPanel::nextRequested, this, [this] { goToRegion(wantedKinds(), 1); });
    connect(regions, &RegionPanel::previousRequested, this,
            [this] { goToRegion(wantedKinds(), -1); });
    connect(regions, &RegionPanel::exported, this, [this](const QString& path) {
        messages_->show(MessageKind::Information, tr("Saved as %1").arg(path));
    });
    connect(regions, &RegionPanel::exportFailed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    auto* corrections = new CorrectionPanel(labels_, &workspace_, &selection_, this);
    QDockWidget* list = addDock(QStringLiteral("corrections"), tr("Corrections"), corrections,
                                Qt::RightDockWidgetArea);
    tabifyDockWidget(dock, list);
    connect(corrections, &CorrectionPanel::spanRequested, this,
            [this](int, ByteSpan span) { editor_->codeView()->selectBytes(span); });
}

void MainWindow::buildLowestPanel() {
    auto* panel = new LowestPanel(lowest_, this);
    QDockWidget* dock =
        addDock(QStringLiteral("lowest"), tr("Lowest confidence"), panel, Qt::BottomDockWidgetArea);
    tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("tokens")), dock);
    dock->hide(); // so that the charts' titles stand in one line
    connect(panel, &LowestPanel::spanRequested, this, &MainWindow::showSpan);
    connect(panel, &LowestPanel::exported, this, [this](const QString& path) {
        messages_->show(MessageKind::Information, tr("Saved as %1").arg(path));
    });
    connect(panel, &LowestPanel::exportFailed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
}

void MainWindow::showSpan(int scoredIndex, ByteSpan span, int token) {
    const int row = workspace_.rowOfScored(scoredIndex);
    if (row < 0)
        return;
    selection_.setSample(row);
    selection_.setToken(token);
    editor_->codeView()->selectBytes(span);
}

// The same choices in the menu and above the gutter.
void MainWindow::buildGutterMenu() {
    auto* group = new QActionGroup(this);
    for (int i = 0; i < gutterModeCount; ++i) {
        const GutterMode mode = gutterMode(i);
        QAction* action = addAction(gutterMenu_, tr("Gutter: %1").arg(gutterModeTitle(mode)), {},
                                    [this, mode] { editor_->setGutterMode(mode); });
        action->setCheckable(true);
        action->setChecked(mode == editor_->gutterMode());
        group->addAction(action);
        connect(editor_, &EditorPanel::gutterModeChanged, action,
                [this, action, mode] { action->setChecked(mode == editor_->gutterMode()); });
    }
    editor_->setGutterMenu(gutterMenu_);
    // The table's column shows what the gutter does; without a gutter what it last did.
    connect(editor_, &EditorPanel::gutterModeChanged, units_, [this] {
        const GutterMode mode = editor_->gutterMode();
        if (mode.shown)
            units_->setUnit(mode.unit, mode.how);
    });
}

void MainWindow::buildRegionActions() {
    auto* marks = new LabelActions(this, editor_, labels_, &workspace_, &selection_);
    QAction* before = editMenu_->actions().value(3); // after undo, redo and a separator
    editMenu_->insertMenu(before, marks->menu());
    editMenu_->insertSeparator(before);
    buildRegionMenu();
    buildGutterMenu();
    analysisMenu_->addSeparator();
    addAction(analysisMenu_, tr("Next sensitive s&pan"), QStringLiteral("F6"),
              [this] { goToRegion(wantedKinds(), 1); });
    addAction(analysisMenu_, tr("Previous sensitive sp&an"), QStringLiteral("Shift+F6"),
              [this] { goToRegion(wantedKinds(), -1); });
    addAction(analysisMenu_, tr("Next &kernel"), QStringLiteral("F4"),
              [this] { goToRegion(kernel_bit, 1); });
    addAction(analysisMenu_, tr("Previous k&ernel"), QStringLiteral("Shift+F4"),
              [this] { goToRegion(kernel_bit, -1); });
}

// A switch for each kind, the same as the letters above the code.
void MainWindow::buildRegionMenu() {
    KindBar* bar = editor_->kindBar();
    QList<QAction*> switches;
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const auto which = static_cast<SensitiveKind>(kind);
        QAction* action =
            addAction(regionMenu_, tr("Underline %1").arg(kindTitle(which)), {}, [] {});
        action->setCheckable(true);
        action->setChecked(true);
        connect(action, &QAction::triggered, this, [bar, which](bool on) {
            const LabelBits bit = kind_bit(which);
            bar->setShownKinds(
                static_cast<LabelBits>(on ? bar->shownKinds() | bit : bar->shownKinds() & ~bit));
        });
        switches += action;
    }
    regionMenu_->addSeparator();
    addAction(regionMenu_, tr("Underline &all kinds"), {},
              [bar] { bar->setShownKinds(static_cast<LabelBits>(~0u)); });
    addAction(regionMenu_, tr("Underline &no kind"), {}, [bar] { bar->setShownKinds(0); });
    connect(bar, &KindBar::shownKindsChanged, this, [switches](LabelBits kinds) {
        for (int kind = 0; kind < switches.size(); ++kind)
            switches[kind]->setChecked(kinds & kind_bit(static_cast<SensitiveKind>(kind)));
    });
}

// What is picked out, else what is underlined, else every kind.
LabelBits MainWindow::wantedKinds() const {
    if (selection_.kinds() != 0)
        return selection_.kinds();
    const LabelBits shown = editor_->kindBar()->shownKinds();
    return shown != 0 ? shown : static_cast<LabelBits>(~kernel_bit);
}

void MainWindow::goToRegion(LabelBits labels, int direction) {
    RegionNavigator navigator(&workspace_, analysis_, &selection_, samples_, editor_);
    if (!navigator.go(labels, direction))
        messages_->show(MessageKind::Information,
                        labels == kernel_bit ? tr("There is no kernel.")
                                             : tr("There is no such span."));
}

} // namespace cuset
