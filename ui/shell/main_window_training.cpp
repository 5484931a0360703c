// MainWindow: the training panel, its menu, and the way there from the thresholds.
#include <algorithm>

#include <QMenuBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"
#include "ui/shell/main_window.h"

namespace cuset {

void MainWindow::buildTraining() {
    training_ = new TrainingController(&workspace_, &mask_, this);
    connect(training_, &TrainingController::message, messages_, &MessageBar::show);
    connect(training_, &TrainingController::newRunRequested, this, [this] { useInTraining(); });
    connect(whatIfPanel_, &WhatIfPanel::runRequested, this,
            [this](const MaskSettings& settings) { useInTraining(settings); });
    connect(training_, &TrainingController::panelWanted, this, &MainWindow::showTraining);
    connect(training_, &TrainingController::progressChanged, this, &MainWindow::updateTitle);
    connect(training_->panel(), &TrainingPanel::compareRequested, this, &MainWindow::compareWith);
    // A window that is killed saves nothing at its end.
    connect(training_->registry(), &RunRegistry::rootsChanged, this, &MainWindow::saveSettings);
    connect(documents_, &DocumentController::runsOpened, training_,
            &TrainingController::openFolders);
    QDockWidget* dock = addDock(QStringLiteral("training"), tr("Training runs"), training_->panel(),
                                Qt::BottomDockWidgetArea);
    tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("density")), dock);
    dock->hide(); // until there is a run to be seen
    addTrainingButton();
    const QList<QAction*> menus = menuBar()->actions();
    auto* menu = new QMenu(tr("&Training"), menuBar());
    menuBar()->insertMenu(menus.last(), menu); // before Help
    addAction(menu, tr("&Use in training\u2026"), QStringLiteral("Ctrl+T"),
              [this] { useInTraining(); });
    addAction(menu, tr("Training &runs"), QStringLiteral("F10"), [this] { showTraining(); });
    addAction(menu, tr("&Follow a folder of runs\u2026"), {},
              [this] { training_->chooseFolder(); });
    menu->addSeparator();
    const auto forSelected = [this](auto act) {
        return [this, act] {
            for (const RunFollower* run : training_->panel()->selectedRuns())
                act(training_->launcher(), run->folder());
        };
    };
    addAction(menu, tr("&Stop the selected runs"), {},
              forSelected([](TrainingLauncher* l, const QString& folder) { l->stop(folder); }));
    addAction(menu, tr("R&esume the selected runs"), {},
              forSelected([](TrainingLauncher* l, const QString& folder) { l->resume(folder); }));
}

// Below the thresholds, where one comes from.
void MainWindow::addTrainingButton() {
    auto* dock = findChild<QDockWidget*>(QStringLiteral("thresholds"));
    QWidget* panel = dock->widget();
    auto* both = new QWidget(dock);
    auto* column = new QVBoxLayout(both);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(panel, 1);
    const int gap = fontMetrics().height() / 2;
    auto* row = new QHBoxLayout;
    row->setContentsMargins(gap, 0, gap, gap);
    auto* use = new QPushButton(tr("Use in &training\u2026"), both);
    use->setToolTip(plainToolTip(
        tr("Open the run form with these thresholds, the model and the data (Ctrl+T)")));
    connect(use, &QPushButton::clicked, this, [this] { useInTraining(); });
    row->addWidget(use);
    column->addLayout(row);
    both->setWhatsThis(panel->whatsThis());
    dock->setWidget(both);
}

TrainConfig MainWindow::trainConfig() {
    const ReadOptions& read = documents_->readOptions();
    if (!read.filters.empty())
        messages_->show(
            MessageKind::Warning,
            tr("A run reads every record of its data: the filter that these samples were "
               "imported with is not part of it. Export the samples and train on the "
               "export."));
    return training_->configFor(documents_->modelPath(), model_->options(), read);
}

void MainWindow::useInTraining() {
    training_->openForm(trainConfig());
}

// A cell of the what-if surface as a run; the window's own thresholds stay.
void MainWindow::useInTraining(const MaskSettings& settings) {
    TrainConfig config = trainConfig();
    config.objective.mask = settings;
    training_->openForm(config);
}

void MainWindow::showTraining() {
    auto* dock = findChild<QDockWidget*>(QStringLiteral("training"));
    const bool hidden = dock->isHidden();
    dock->show();
    dock->raise();
    if (!hidden)
        return;
    // It wants more room than the chart that it stands before.
    resizeDocks({dock}, {height() * 45 / 100}, Qt::Vertical);
    QList<QDockWidget*> row{dock};
    for (const char* name : {"windows", "tokens"})
        if (auto* beside = findChild<QDockWidget*>(QString::fromLatin1(name));
            beside && beside->isVisible() && !beside->isFloating())
            row += beside;
    if (row.size() > 1)
        resizeDocks(row, QList<int>{width() * 7 / 10} + QList<int>(row.size() - 1, width() / 7),
                    Qt::Horizontal);
}

QStringList MainWindow::trainingViews() {
    return {QStringLiteral("training"),     QStringLiteral("training-settings"),
            QStringLiteral("training-log"), QStringLiteral("training-sweep"),
            QStringLiteral("run-form"),     QStringLiteral("run-form-preview")};
}

// The run form, or the runs with the room of the charts of tokens.
void MainWindow::showTrainingView(const QString& name) {
    if (name.startsWith(QLatin1String("run-form"))) {
        useInTraining();
        training_->form()->showPage(name.section(QLatin1Char('-'), 2));
        return;
    }
    for (QDockWidget* dock : docks_)
        if (dockWidgetArea(dock) == Qt::BottomDockWidgetArea
            && dock->objectName() != QLatin1String("training"))
            dock->hide();
    showTraining();
    const QString tab = name.section(QLatin1Char('-'), 1);
    training_->panel()->showTab(tab.isEmpty() ? QStringLiteral("curves") : tab);
    resizeDocks({findChild<QDockWidget*>(QStringLiteral("training"))}, {height() * 60 / 100},
                Qt::Vertical);
}

} // namespace cuset
