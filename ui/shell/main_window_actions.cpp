// MainWindow: its menus and what they do.
#include <QActionGroup>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QStandardPaths>
#include <QWhatsThis>

#include "core/io/model_folder.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/state/navigation.h"

namespace cuset {

QAction* MainWindow::addAction(QMenu* menu, const QString& text, const QString& shortcut,
                               const std::function<void()>& run) {
    QAction* action = menu->addAction(text);
    if (!shortcut.isEmpty())
        action->setShortcut(QKeySequence(shortcut));
    connect(action, &QAction::triggered, this, run);
    return action;
}

void MainWindow::buildActions() {
    buildFileMenu();
    buildEditMenu();
    buildViewMenu();
    buildModelMenu();
    buildAnalysisMenu();
    buildHelpMenu();
}

void MainWindow::buildFileMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&File"));
    openSamplesAction_ = addAction(menu, tr("Open &samples\u2026"), QStringLiteral("Ctrl+O"),
                                   [this] { chooseSamples(false); });
    openSamplesAction_->setToolTip(tr("Open samples (Ctrl+O)"));
    addAction(menu, tr("&Import samples\u2026"), QStringLiteral("Ctrl+I"), [this] {
        chooseImport();
    })->setToolTip(tr("Choose the fields that hold prompt and response, and which rows count"));
    addAction(menu, tr("Open a &folder of CUDA files\u2026"), QStringLiteral("Ctrl+Shift+O"),
              [this] { chooseSamples(true); });
    addAction(menu, tr("Open s&core file\u2026"), QStringLiteral("Ctrl+E"),
              [this] { chooseScores(); });
    addAction(menu, tr("Open the &demo samples"), {}, [this] { openDemoSamples(); });
    recentFiles_ = menu->addMenu(tr("&Recent files"));
    menu->addSeparator();
    buildSessionActions(menu);
    menu->addSeparator();
    addAction(menu, tr("&Quit"), QStringLiteral("Ctrl+Q"), [this] { close(); });
}

void MainWindow::buildEditMenu() {
    QMenu* menu = editMenu_ = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = mask_.undoStack()->createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = mask_.undoStack()->createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    menu->addActions({undo, redo});
    menu->addSeparator();
    addAction(menu, tr("Reset &thresholds"), {},
              [this] { mask_.set(MaskSettings{}, tr("Reset thresholds")); });
    const auto moveTau = [this](double step) { mask_.setTau(mask_.settings().tau + step); };
    addAction(menu, tr("Tau &up"), QStringLiteral("Ctrl+Alt+Up"), [moveTau] { moveTau(0.01); });
    addAction(menu, tr("Tau &down"), QStringLiteral("Ctrl+Alt+Down"),
              [moveTau] { moveTau(-0.01); });
}

void MainWindow::buildViewMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&View"));
    QMenu* colors = menu->addMenu(tr("&Colour tokens by"));
    auto* colorGroup = new QActionGroup(this);
    for (std::size_t i = 0; i < allColorModes.size(); ++i) {
        const ColorBy by = allColorModes[i];
        QAction* action = addAction(colors, tr("Colour by %1").arg(colorMode(by).title.toLower()),
                                    QStringLiteral("Ctrl+%1").arg(i + 1),
                                    [this, by] { editor_->setColorBy(by); });
        action->setCheckable(true);
        action->setChecked(by == ColorBy::Confidence);
        action->setData(static_cast<int>(by));
        colorGroup->addAction(action);
        colorActions_ += action;
    }
    QMenu* maps = menu->addMenu(tr("Colour &map"));
    addAction(maps, tr("Cividis colours"), {}, [this] { editor_->setColorMap(ColorMap::Cividis); });
    addAction(maps, tr("Viridis colours"), {}, [this] { editor_->setColorMap(ColorMap::Viridis); });
    QMenu* appearance = menu->addMenu(tr("&Appearance"));
    auto* group = new QActionGroup(this);
    const std::array<std::pair<const char*, QString>, 3> looks{{{"system", tr("As the desktop")},
                                                                {"light", tr("Light appearance")},
                                                                {"dark", tr("Dark appearance")}}};
    for (const auto& [key, title] : looks) {
        const QString name = QString::fromLatin1(key);
        QAction* action = addAction(appearance, title, {}, [this, name] { setAppearance(name); });
        action->setCheckable(true);
        action->setData(name);
        group->addAction(action);
        appearanceActions_ += action;
    }
    const auto zoom = [this](int step) {
        settings_.fontDelta = qBound(-6, step == 0 ? 0 : settings_.fontDelta + step, 24);
        editor_->codeView()->setCodeFontDelta(settings_.fontDelta);
    };
    addAction(menu, tr("&Larger code"), QStringLiteral("Ctrl++"), [zoom] { zoom(1); });
    addAction(menu, tr("&Smaller code"), QStringLiteral("Ctrl+-"), [zoom] { zoom(-1); });
    addAction(menu, tr("&Normal code size"), QStringLiteral("Ctrl+0"), [zoom] { zoom(0); });
    menu->addSeparator();
    gutterMenu_ = menu->addMenu(tr("&Gutter"));
    regionMenu_ = menu->addMenu(tr("&Regions"));
    panelMenu_ = menu->addMenu(tr("&Panels"));
    addAction(menu, tr("Reset la&yout"), {}, [this] { resetLayout(); });
    QAction* times = addAction(menu, tr("&Frame times"), {}, [] {});
    times->setCheckable(true);
    connect(times, &QAction::toggled, this, [this](bool on) { frames_->setShown(on); });
    menu->addSeparator();
    paletteAction_ = addAction(menu, tr("All co&mmands\u2026"), QStringLiteral("Ctrl+Shift+P"),
                               [this] { showPalette(); });
    paletteAction_->setIconText(tr("Commands"));
}

void MainWindow::buildModelMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Model"));
    openModelAction_ = addAction(menu, tr("Open &model file\u2026"), QStringLiteral("Ctrl+M"),
                                 [this] { chooseModel(false); });
    openModelAction_->setToolTip(
        tr("Open a GGUF model (Ctrl+M); a Hugging Face folder from the Model menu"));
    addAction(menu, tr("Open model &folder\u2026"), QStringLiteral("Ctrl+Shift+M"),
              [this] { chooseModel(true); });
    recentModels_ = menu->addMenu(tr("&Recent and cached models"));
    connect(recentModels_, &QMenu::aboutToShow, this, &MainWindow::fillModelMenu);
    menu->addSeparator();
    scoreAction_ = addAction(menu, tr("&Score"), QStringLiteral("F5"), [this] { score(); });
    verifyAction_ = addAction(menu, tr("&Verify against its reference"), {}, [this] { verify(); });
    verifyAction_->setToolTip(
        tr("Compare the model's log-probabilities with cuset-reference.json beside it"));
    stopAction_ = addAction(menu, tr("S&top"), QStringLiteral("Esc"), [this] { lane_->stop(); });
    stopAction_->setToolTip(tr("Stop; what is done is kept (Esc)"));
    buildGenerateActions(menu);
}

void MainWindow::buildAnalysisMenu() {
    QMenu* menu = analysisMenu_ = menuBar()->addMenu(tr("&Analysis"));
    nextSensitiveAction_ = addAction(menu, tr("Next uncertain &sensitive token"),
                                     QStringLiteral("F7"), [this] { nextSensitive(); });
    nextSensitiveAction_->setIconText(tr("Sensitive"));
    nextSensitiveAction_->setToolTip(tr("Next CUDA-sensitive token at or below tau (F7)"));
    nextLowAction_ = addAction(menu, tr("Next &low-confidence window"), QStringLiteral("F8"),
                               [this] { nextLowWindow(); });
    nextLowAction_->setIconText(tr("Low window"));
    nextLowAction_->setToolTip(tr("Next window below the neutral mean (F8)"));
    addAction(menu, tr("S&weep of thresholds"), QStringLiteral("F9"), [this] {
        auto* sweep = findChild<QDockWidget*>(QStringLiteral("sweep"));
        sweep->show();
        sweep->raise();
    });
    addAction(menu, tr("Lowest &confidence of all samples"), QStringLiteral("Ctrl+L"), [this] {
        auto* lowest = findChild<QDockWidget*>(QStringLiteral("lowest"));
        lowest->show();
        lowest->raise();
    });
    menu->addSeparator();
    addAction(menu, tr("&Next sample"), QStringLiteral("Alt+Down"), [this] { samples_->step(1); });
    addAction(menu, tr("&Previous sample"), QStringLiteral("Alt+Up"),
              [this] { samples_->step(-1); });
    addAction(menu, tr("Next &token"), QStringLiteral("Alt+Right"), [this] { stepToken(1); });
    addAction(menu, tr("Previous t&oken"), QStringLiteral("Alt+Left"), [this] { stepToken(-1); });
}

void MainWindow::buildHelpMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Help"));
    addAction(menu, tr("&Explain this panel"), QStringLiteral("F1"), [this] {
        for (QWidget* widget = QApplication::focusWidget(); widget; widget = widget->parentWidget())
            if (!widget->whatsThis().isEmpty()) {
                QWhatsThis::showText(widget->mapToGlobal(widget->rect().center()),
                                     widget->whatsThis().toHtmlEscaped(), widget);
                return;
            }
        QWhatsThis::enterWhatsThisMode();
    });
    addAction(menu, tr("&What's this?"), QStringLiteral("Shift+F1"),
              [] { QWhatsThis::enterWhatsThisMode(); });
    menu->addSeparator();
    addAction(menu, tr("&About CuSeT Studio"), {}, [this] { showAbout(); });
}

void MainWindow::rebuildRecentMenus() {
    recentFiles_->clear();
    for (const QString& path : std::as_const(settings_.recentFiles))
        addAction(recentFiles_,
                  QDir::toNativeSeparators(path).replace(QLatin1Char('&'), QLatin1String("&&")), {},
                  [this, path] { openPaths({path}); });
    recentFiles_->setEnabled(!settings_.recentFiles.isEmpty());
    start_->setRecent(settings_.recentFiles);
}

// The hub cache is looked through when the menu is opened, not before.
void MainWindow::fillModelMenu() {
    recentModels_->clear();
    for (const QString& path : std::as_const(settings_.recentModels))
        addAction(recentModels_, QString(path).replace(QLatin1Char('&'), QLatin1String("&&")), {},
                  [this, path] { openModel(path); });
    if (!recentModels_->isEmpty())
        recentModels_->addSeparator();
    for (const CachedModel& model : list_hub_models()) {
        const QString name = QString::fromStdString(model.name);
        addAction(recentModels_, QString(name).replace(QLatin1Char('&'), QLatin1String("&&")), {},
                  [this, name] { openModel(name); });
    }
    if (recentModels_->isEmpty())
        recentModels_->addAction(tr("None yet"))->setEnabled(false);
}

void MainWindow::chooseSamples(bool folder) {
    const QString start = settings_.recentFiles.isEmpty()
        ? QString()
        : QFileInfo(settings_.recentFiles.first()).absolutePath();
    QStringList paths;
    if (folder)
        paths = {QFileDialog::getExistingDirectory(this, tr("Open a folder of CUDA files"), start)};
    else
        paths = QFileDialog::getOpenFileNames(
            this, tr("Open samples"), start,
            tr("Samples (*.jsonl *.json *.csv *.cu *.cuh);;All files (*)"));
    paths.removeAll(QString());
    if (!paths.isEmpty())
        openPaths(paths);
}

void MainWindow::chooseModel(bool folder) {
    const QString start = settings_.recentModels.isEmpty()
        ? QString()
        : QFileInfo(settings_.recentModels.first()).absolutePath();
    const QString path = folder
        ? QFileDialog::getExistingDirectory(this, tr("Open a Hugging Face model folder"), start)
        : QFileDialog::getOpenFileName(this, tr("Open a model"), start,
                                       tr("GGUF models (*.gguf);;All files (*)"));
    if (!path.isEmpty())
        openModel(path);
}

void MainWindow::chooseScores() {
    const QString start = settings_.recentFiles.isEmpty()
        ? QString()
        : QFileInfo(settings_.recentFiles.first()).absolutePath();
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open a score file"), start,
                                     tr("Score files (*.scores.safetensors);;All files (*)"));
    if (!path.isEmpty())
        openPaths({path});
}

void MainWindow::openDemoSamples() {
    const QString folder =
        QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/demo");
    const QString path = folder + QStringLiteral("/cuda_kernels.jsonl");
    QDir().mkpath(folder);
    QFile::remove(path);
    if (!QFile::copy(QStringLiteral(":/samples/cuda_kernels.jsonl"), path)) {
        messages_->show(
            MessageKind::Error,
            tr("%1: cannot be written; check the folder's permissions and free space").arg(path));
        return;
    }
    QFile::setPermissions(
        path, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup | QFile::ReadOther);
    openPaths({path});
}

void MainWindow::nextLowWindow() {
    const auto& figures = analysis_->figures();
    if (!figures || !analysis_->corpus())
        return;
    const double neutral = analysis_->corpus()->analyzer.summary().confidence.neutral.mean;
    int token = cuset::nextLowWindow(*figures, neutral, selection_.token());
    if (token < 0)
        token = cuset::nextLowWindow(*figures, neutral, -1);
    if (token < 0)
        messages_->show(MessageKind::Information,
                        tr("No window of this sample lies below the neutral mean, %1.")
                            .arg(neutral, 0, 'f', 3));
    else
        selection_.setToken(token);
}

void MainWindow::nextSensitive() {
    const auto& figures = analysis_->figures();
    if (!figures)
        return;
    int token = nextUncertainSensitive(*figures, selection_.token());
    if (token < 0)
        token = nextUncertainSensitive(*figures, -1);
    if (token < 0)
        messages_->show(MessageKind::Information,
                        tr("No CUDA-sensitive token of this sample is at or below tau."));
    else
        selection_.setToken(token);
}

void MainWindow::stepToken(int direction) {
    const auto& figures = analysis_->figures();
    if (figures && figures->count() > 0)
        selection_.setToken(qBound(0, selection_.token() + direction, figures->count() - 1));
}

void MainWindow::showPalette() {
    QList<QAction*> actions;
    for (QAction* action : findChildren<QAction*>())
        if (!action->isSeparator() && action != paletteAction_
            && !action->objectName().startsWith(QLatin1String("_q_")))
            actions += action;
    auto* palette = new CommandPalette(actions, this);
    palette->show();
}

void MainWindow::showAbout() {
    QMessageBox box(this);
    box.setWindowTitle(tr("About CuSeT Studio"));
    box.setIconPixmap(windowIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
    box.setTextFormat(Qt::PlainText);
    box.setText(tr("CuSeT Studio %1").arg(QApplication::applicationVersion()));
    box.setInformativeText(
        tr("Shows which tokens training would see, how hard, and why.\n\nMethod: Chen et al., "
           "\"From Tokens to Regions: "
           "CUDA-Sensitive Instruction Tuning for GPU Kernel Generation\", Findings of EMNLP 2026, "
           "doi 10.18653/2026.findings-emnlp.2045.\n\nFree software under the GNU General Public "
           "License, version 3 or "
           "later, with permission to link NVIDIA's libraries. No warranty.\n\nBuilt with Qt %1 "
           "and Qt Charts (GPL-3.0), "
           "QScintilla (GPL-3.0), LibTorch %2 (BSD-3-Clause), nlohmann/json (MIT), PCRE2 "
           "(BSD-3-Clause) and utf8proc (MIT).")
            .arg(QString::fromLatin1(qVersion()), QString::fromStdString(torch_version())));
    box.exec();
}

} // namespace cuset
