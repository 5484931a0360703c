// MainWindow: the panels about what training would do (what-if surface, objectives, corpus shares)
// and about what a person says of samples.
#include <QActionGroup>

#include "ui/dataset/note_panel.h"
#include "ui/shell/main_window.h"
#include "ui/whatif/objective_panel.h"

namespace cuset {

void MainWindow::buildViews(QDockWidget* besideDensity) {
    whatIfPanel_ = new WhatIfPanel(whatIf_, &mask_, this);
    auto* objectives = new ObjectivePanel(objectives_, &selection_, this);
    const auto add = [&](const char* name, const QString& title, QWidget* view) {
        QDockWidget* dock =
            addDock(QString::fromLatin1(name), title, view, Qt::BottomDockWidgetArea);
        tabifyDockWidget(besideDensity, dock);
        dock->hide(); // so that the charts' titles stand in one line
        return dock;
    };
    // What costs time is computed while it is in sight.
    connect(add("whatif", tr("What-if surface"), whatIfPanel_), &QDockWidget::visibilityChanged,
            whatIf_, &WhatIfState::setWanted);
    connect(add("objectives", tr("Objectives"), objectives), &QDockWidget::visibilityChanged,
            objectives_, &ObjectiveFigures::setWanted);
    add("shares", tr("Corpus shares"), charts_->shares());
    QDockWidget* notes =
        addDock(QStringLiteral("notes"), tr("Notes"),
                new NotePanel(notes_, &workspace_, &selection_, this), Qt::LeftDockWidgetArea);
    splitDockWidget(findChild<QDockWidget*>(QStringLiteral("samples")), notes, Qt::Vertical);
    notes->hide();
    for (ChartPanel* chart : {static_cast<ChartPanel*>(whatIfPanel_->chart()),
                              static_cast<ChartPanel*>(objectives->bars()),
                              static_cast<ChartPanel*>(objectives->curves())}) {
        connect(chart, &ChartPanel::exported, this, [this](const QString& path) {
            messages_->show(MessageKind::Information, tr("Saved as %1").arg(path));
        });
        connect(chart, &ChartPanel::exportFailed, this,
                [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    }
    const auto fail = [this](const QString& text) { messages_->show(MessageKind::Error, text); };
    connect(whatIf_, &WhatIfState::failed, this, fail);
    connect(notes_, &NoteState::failed, this, fail);
    connect(notes_, &NoteState::changed, this, [this] { analysis_->leaveOut(notes_->leftOut()); });
    connect(exporter_, &SampleExporter::message, messages_, &MessageBar::show);
    connect(samples_, &DatasetPanel::exportRequested, this,
            [this] { exporter_->ask(this, samples_->shownRows()); });
}

void MainWindow::showDock(const QString& name) {
    auto* dock = findChild<QDockWidget*>(name);
    const bool first = !dock->isVisible();
    dock->show();
    dock->raise();
    if (first && dockWidgetArea(dock) == Qt::BottomDockWidgetArea && !dock->isFloating())
        resizeDocks({dock}, {std::max(dock->height(), height() * 38 / 100)}, Qt::Vertical);
    dock->widget()->setFocus(Qt::OtherFocusReason);
}

void MainWindow::buildViewActions() {
    addAction(analysisMenu_, tr("What-if s&urface"), QStringLiteral("Shift+F9"),
              [this] { showDock(QStringLiteral("whatif")); });
    addAction(analysisMenu_, tr("&Objectives side by side"), QStringLiteral("Ctrl+F9"),
              [this] { showDock(QStringLiteral("objectives")); });
    addAction(analysisMenu_, tr("&Corpus shares"), {},
              [this] { showDock(QStringLiteral("shares")); });
    buildObjectiveMenu();
    analysisMenu_->addSeparator();
    QAction* leaveOut = addAction(analysisMenu_, tr("Leave &quarantined samples out"), {}, [] {});
    leaveOut->setCheckable(true);
    leaveOut->setToolTip(tr("Quarantined samples count in no figure and are not trained on"));
    connect(leaveOut, &QAction::triggered, notes_, &NoteState::setLeaveOutQuarantined);
    connect(notes_, &NoteState::changed, leaveOut,
            [this, leaveOut] { leaveOut->setChecked(notes_->notes().leave_out_quarantined); });
    editMenu_->addSeparator();
    addAction(editMenu_, tr("&Quarantine sample, or end it"), QStringLiteral("Ctrl+Shift+X"),
              [this] { samples_->toggleQuarantine(); });
    addAction(editMenu_, tr("Tags and &notes of the sample"), QStringLiteral("Ctrl+Shift+N"),
              [this] { showDock(QStringLiteral("notes")); });
}

void MainWindow::buildObjectiveMenu() {
    QMenu* menu = analysisMenu_->addMenu(tr("&Push of"));
    auto* group = new QActionGroup(this);
    QList<QAction*> actions;
    for (int i = 0; i < token_objective_count; ++i) {
        const auto objective = static_cast<TokenObjective>(i);
        const std::string_view name = token_objective_names[static_cast<std::size_t>(i)];
        QAction* action = addAction(
            menu,
            tr("Push of %1").arg(QString::fromLatin1(name.data(), static_cast<int>(name.size()))),
            {}, [this, objective] { selection_.setObjective(objective); });
        action->setCheckable(true);
        action->setChecked(objective == selection_.objective());
        group->addAction(action);
        actions += action;
    }
    connect(&selection_, &SelectionState::objectiveChanged, menu,
            [actions](TokenObjective objective) {
                actions[static_cast<int>(objective)]->setChecked(true);
            });
}

} // namespace cuset
