// MainWindow: writing answers with the open model.
#include <QMenuBar>

#include "ui/generate/generate_panel.h"
#include "ui/shell/compare_controller.h"
#include "ui/shell/generate_controller.h"
#include "ui/shell/main_window.h"

namespace cuset {

void MainWindow::buildGeneratePanel() {
    generating_ = new GenerateController(lane_, this);
    generatePanel_ = new GeneratePanel(&workspace_, &selection_, &pool_, this);
    QDockWidget* dock = addDock(QStringLiteral("generate"), tr("Generate"), generatePanel_,
                                Qt::BottomDockWidgetArea);
    // In the charts' row, whose whole width two answers side by side need.
    tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("density")), dock);
    dock->hide();
    GeneratePanel* panel = generatePanel_;
    connect(panel, &GeneratePanel::generateRequested, this, [this, panel] {
        generating_->start(documents_->modelPath(), model_->options(), panel->request());
    });
    connect(panel, &GeneratePanel::stopRequested, generating_, &GenerateController::stop);
    connect(panel, &GeneratePanel::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connect(panel, &GeneratePanel::saved, this, [this](const QString& path, const QString& id) {
        messages_->show(MessageKind::Information, tr("Added to %1 as %2").arg(path, id));
        // Where it joined the open data, it is shown among them.
        if (workspace_.datasetPaths() == QStringList{path} && !lane_->isRunning())
            documents_->openData({path});
    });
    connect(generating_, &GenerateController::variantStarted, panel, &GeneratePanel::startVariant);
    connect(generating_, &GenerateController::tokenCame, panel, &GeneratePanel::addToken);
    connect(generating_, &GenerateController::variantEnded, panel, &GeneratePanel::endVariant);
    connect(generating_, &GenerateController::message, messages_, &MessageBar::show);
    connect(generating_, &GenerateController::finished, this, &MainWindow::updateActions);
    connect(comparing_, &CompareController::adaptersChanged, panel, [this, panel] {
        std::vector<GenerateRequest::Variant> adapters;
        for (const auto& [title, folder] : comparing_->adapters())
            adapters.push_back({title, folder});
        panel->setAdapters(adapters);
    });
    connect(editor_, &EditorPanel::colorByChanged, panel,
            [this, panel] { panel->setColorMap(editor_->colorMap()); });
}

void MainWindow::buildGenerateActions(QMenu* menu) {
    menu->addSeparator();
    QAction* action = addAction(menu, tr("&Generate"), QStringLiteral("Ctrl+G"),
                                [this] { showView(QStringLiteral("generate")); });
    action->setToolTip(tr("Write an answer to a prompt with the open model (Ctrl+G)"));
}

void MainWindow::updateGenerate() {
    generatePanel_->setState(!documents_->modelPath().isEmpty(), lane_->isRunning());
}

} // namespace cuset
