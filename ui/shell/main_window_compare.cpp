// MainWindow: comparing with other scores, adapters and checkpoints of a run.
#include <utility>

#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>

#include "ui/compare/compare_panel.h"
#include "ui/compare/data_map_chart.h"
#include "ui/shell/compare_controller.h"
#include "ui/shell/main_window.h"

namespace cuset {

void MainWindow::buildComparePanels(QDockWidget* summary, QDockWidget* density) {
    auto* panel = comparePanel_ = new ComparePanel(compare_, &workspace_, &selection_, this);
    QDockWidget* dock =
        addDock(QStringLiteral("compare"), tr("Compare"), panel, Qt::RightDockWidgetArea);
    tabifyDockWidget(summary, dock);
    connect(panel, &ComparePanel::scoreRequested, this, [this] {
        comparing_->setModel(documents_->modelPath(), model_->options());
        comparing_->scoreMissing();
    });
    connect(panel, &ComparePanel::closeRequested, comparing_, &CompareController::close);
    connect(panel, &ComparePanel::exported, this, [this](const QString& path) {
        messages_->show(MessageKind::Information, tr("Saved as %1").arg(path));
    });
    connect(panel, &ComparePanel::exportFailed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });

    auto* chart = new DataMapChart(this);
    QDockWidget* map =
        addDock(QStringLiteral("datamap"), tr("Data map"), chart, Qt::BottomDockWidgetArea);
    tabifyDockWidget(density, map);
    map->hide(); // so that the charts' titles stand in one line
    connect(map, &QDockWidget::visibilityChanged, compare_, &CompareState::setDataMapWanted);
    connect(compare_, &CompareState::dataMapChanged, chart,
            [this, chart] { chart->setMap(compare_->dataMap()); });
    connect(chart, &DataMapChart::sampleClicked, this, [this](int index) {
        const int row = workspace_.rowOfScored(index);
        if (row >= 0)
            selection_.setSample(row);
    });
    connect(&selection_, &SelectionState::sampleChanged, chart,
            [this, chart](int row) { chart->setMarkedSample(workspace_.scoredIndex(row)); });
    connect(chart, &ChartPanel::exported, this, [this](const QString& path) {
        messages_->show(MessageKind::Information, tr("Saved as %1").arg(path));
    });
    connect(chart, &ChartPanel::exportFailed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connectCompare();
}

void MainWindow::connectCompare() {
    // The last of what was being opened is shown after this signal.
    connect(documents_, &DocumentController::busyChanged, this, &MainWindow::comparePending,
            Qt::QueuedConnection);
    connect(comparing_, &CompareController::message, messages_, &MessageBar::show);
    connect(comparing_, &CompareController::finished, this, &MainWindow::updateActions);
    // The density chart shows both: its own curves are the open scores.
    connect(compare_, &CompareState::currentChanged, this, [this] {
        if (const auto figures = compare_->figures())
            charts_->density()->setAfter(figures->sensitiveAfter, figures->neutralAfter,
                                         figures->sensitiveAfterMoments,
                                         figures->neutralAfterMoments);
        else
            charts_->density()->setAfter({}, {}, {}, {});
        updateActions();
    });
    connect(compare_, &CompareState::stagesChanged, this, [this] {
        if (!compare_->stages().empty()) {
            showView(QStringLiteral("compare"));
            editor_->setColorBy(ColorBy::Change);
        } else if (editor_->colorBy() == ColorBy::Change) {
            editor_->setColorBy(ColorBy::Confidence);
        }
        updateActions();
    });
    connect(compare_, &CompareState::stageChanged, this, &MainWindow::updateActions);
}

void MainWindow::buildCompareActions() {
    QMenu* menu = analysisMenu_;
    menu->addSeparator();
    QAction* show = addAction(menu, tr("&Compare"), QStringLiteral("Ctrl+K"),
                              [this] { showView(QStringLiteral("compare")); });
    show->setToolTip(tr("Compare with other scores, an adapter or a run (Ctrl+K)"));
    QAction* scores = addAction(menu, tr("Compare with a score &file\u2026"), {}, [this] {
        const QString path =
            QFileDialog::getOpenFileName(this, tr("Compare with a score file"), compareFolder(),
                                         tr("Score files (*.scores.safetensors);;All files (*)"));
        if (!path.isEmpty())
            compareWith(path);
    });
    const auto chooseFolder = [this](const QString& title) {
        const QString path = QFileDialog::getExistingDirectory(this, title, compareFolder());
        if (!path.isEmpty())
            compareWith(path);
    };
    QAction* adapter =
        addAction(menu, tr("Compare with an &adapter\u2026"), {},
                  [this, chooseFolder] { chooseFolder(tr("Compare with a LoRA adapter")); });
    QAction* run = addAction(menu, tr("Compare with a &run\u2026"), {}, [this, chooseFolder] {
        chooseFolder(tr("Compare with a training run's checkpoints"));
    });
    const auto step = [this](int direction) {
        compare_->setCurrent(compare_->current() + direction);
    };
    addAction(menu, tr("Next checkpoint"), QStringLiteral("Ctrl+Alt+Right"), [step] { step(1); });
    addAction(menu, tr("Previous checkpoint"), QStringLiteral("Ctrl+Alt+Left"),
              [step] { step(-1); });
    addAction(menu, tr("&Data map"), QStringLiteral("Ctrl+Shift+K"),
              [this] { showView(QStringLiteral("datamap")); });
    comparePanel_->setChoices({scores, adapter, run});
}

QString MainWindow::compareFolder() const {
    if (!workspace_.scoresPath().isEmpty())
        return QFileInfo(workspace_.scoresPath()).absolutePath();
    return settings_.recentFiles.isEmpty()
        ? QString()
        : QFileInfo(settings_.recentFiles.first()).absolutePath();
}

void MainWindow::compareWith(const QString& path) {
    pendingComparison_ = path;
    comparePending();
}

void MainWindow::comparePending() {
    if (pendingComparison_.isEmpty() || documents_->isBusy())
        return;
    comparing_->setModel(documents_->modelPath(), model_->options());
    comparing_->open(std::exchange(pendingComparison_, QString()));
}

void MainWindow::updateCompare() {
    comparing_->setModel(documents_->modelPath(), model_->options());
    comparePanel_->setCanScore(comparing_->canScore());
}

} // namespace cuset
