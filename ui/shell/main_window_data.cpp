// MainWindow: importing data with chosen fields, and what the model sees of it.
#include <QFileDialog>

#include "ui/import/import_dialog.h"
#include "ui/import/seen_panel.h"
#include "ui/shell/main_window.h"

namespace cuset {

void MainWindow::buildDataPanels() {
    auto* seen = new SeenPanel(
        &workspace_, &selection_, &pool_, [this] { return model_->options().score.prompt; }, this);
    QDockWidget* dock =
        addDock(QStringLiteral("seen"), tr("Model's view"), seen, Qt::RightDockWidgetArea);
    tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("model")), dock);
    connect(model_, &ModelPanel::optionsChanged, seen, &SeenPanel::refresh);
    connect(documents_, &DocumentController::fieldsUnknown, this,
            [this](const QStringList& paths, const QString& reason) { importData(paths, reason); });
}

void MainWindow::chooseImport() {
    const QStringList paths =
        QFileDialog::getOpenFileNames(this, tr("Import samples"), {},
                                      tr("Data (*.json *.jsonl *.ndjson *.csv *.tsv *.parquet "
                                         "*.arrow *.feather);;All files (*)"));
    if (!paths.isEmpty())
        importData(paths, {});
}

ImportDialog* MainWindow::importData(const QStringList& paths, const QString& reason) {
    auto* dialog = new ImportDialog(paths, documents_->modelPath(), model_->options().score.prompt,
                                    &pool_, this);
    dialog->setReason(reason);
    connect(dialog, &ImportDialog::importRequested, documents_,
            [this](const QStringList& chosen, const ReadOptions& options) {
                documents_->openData(chosen, options);
            });
    dialog->open();
    return dialog;
}

} // namespace cuset
