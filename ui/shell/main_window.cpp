#include "ui/shell/main_window.h"

#include <algorithm>
#include <array>

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMimeData>
#include <QScreen>

#include "ui/compare/compare_state.h"
#include "ui/generate/generate_panel.h"
#include "ui/shell/compare_controller.h"
#include "ui/shell/generate_controller.h"
#include "ui/shell/theme.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

QString mapKey(ColorMap map) {
    return map == ColorMap::Viridis ? QStringLiteral("viridis") : QStringLiteral("cividis");
}

ColorBy colorByFor(const QString& key, ColorBy fallback) {
    for (const ColorBy by : allColorModes)
        if (colorMode(by).key == key)
            return by;
    return fallback;
}

QStringList localPaths(const QMimeData* data) {
    QStringList paths;
    for (const QUrl& url : data->urls())
        if (url.isLocalFile())
            paths += pathOfUrl(url);
    return paths;
}

} // namespace

MainWindow::MainWindow(const QString& settingsPath, QWidget* parent)
    : QMainWindow(parent)
    , store_(settingsPath) {
    setObjectName(QStringLiteral("MainWindow"));
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    setWindowIcon(QIcon(QStringLiteral(":/icons/cuset-studio.svg")));
    analysis_ = new AnalysisState(&workspace_, &mask_, &selection_, &pool_, this);
    labels_ = new LabelState(&workspace_, mask_.undoStack(), this);
    kinds_ = new KindFigures(analysis_, &mask_, &selection_, &pool_, this);
    lowest_ = new LowestState(analysis_, &mask_, &pool_, this);
    units_ = new UnitFigures(analysis_, &mask_, &pool_, this);
    notes_ = new NoteState(mask_.undoStack(), this);
    objectives_ = new ObjectiveFigures(analysis_, &mask_, &pool_, this);
    whatIf_ = new WhatIfState(analysis_, &workspace_, &mask_, &pool_, this);
    exporter_ = new SampleExporter(&workspace_, &mask_, notes_, &pool_, this);
    documents_ = new DocumentController(&workspace_, labels_, notes_, &pool_, this);
    lane_ = new ModelLane(this);
    scoring_ = new ScoringController(&workspace_, lane_, this);
    compare_ = new CompareState(&workspace_, analysis_, &pool_, this);
    comparing_ = new CompareController(&workspace_, compare_, lane_, &pool_, this);
    charts_ = new ChartBinder(analysis_, &workspace_, &mask_, &selection_, kinds_, &pool_, this);
    frames_ = new FrameMeter(this);
    buildActions();
    buildCentre();
    buildDocks();
    buildRegionActions();
    buildViewActions();
    buildTraining();
    buildCompareActions();
    buildToolBar();
    buildSession();
    connectState();
    loadSettings();
    updateIcons();
    updateActions();
    updateTitle();
    watchSession();
}

MainWindow::~MainWindow() {
    // Signals of what is torn down must not reach half of a window.
    disconnect(&pool_, nullptr, nullptr, nullptr);
    lane_->disconnect();
    scoring_->disconnect();
    comparing_->disconnect();
    generating_->disconnect();
    compare_->disconnect();
    documents_->disconnect();
    labels_->disconnect();
    notes_->disconnect();
    objectives_->disconnect();
    whatIf_->disconnect();
    session_->disconnect();
    kinds_->disconnect();
    training_->disconnect();
    training_->registry()->disconnect(training_);
    lowest_->disconnect();
    units_->disconnect();
    selection_.disconnect();
    workspace_.disconnect();
    mask_.disconnect();
}

void MainWindow::connectState() {
    connect(&workspace_, &Workspace::samplesReset, this, &MainWindow::afterSamplesReset);
    connect(&workspace_, &Workspace::scoresChanged, this, &MainWindow::updateActions);
    connect(&workspace_, &Workspace::modelChanged, this, &MainWindow::updateActions);
    connect(analysis_, &AnalysisState::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connect(analysis_, &AnalysisState::figuresChanged, this, &MainWindow::updateActions);
    connect(analysis_, &AnalysisState::progress, this, [this](double share) {
        if (!lane_->isRunning())
            showProgress(share, tr("Analysing\u2026"));
    });
    connect(labels_, &LabelState::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connect(lowest_, &LowestState::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connect(units_, &UnitFigures::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connect(&mask_, &MaskSettingsState::changed, frames_, &FrameMeter::begin);
    connect(charts_, &ChartBinder::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    for (ChartPanel* chart : charts_->charts()) {
        connect(chart, &ChartPanel::exported, this, [this](const QString& path) {
            messages_->show(MessageKind::Information, tr("Saved as %1").arg(path));
        });
        connect(chart, &ChartPanel::exportFailed, this,
                [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    }
    connect(documents_, &DocumentController::message, messages_, &MessageBar::show);
    connect(documents_, &DocumentController::busyChanged, this, &MainWindow::updateActions);
    connect(documents_, &DocumentController::dataOpened, this, [this](const QStringList& paths) {
        for (const QString& path : paths)
            Settings::remember(settings_.recentFiles, QFileInfo(path).absoluteFilePath());
        rebuildRecentMenus();
        updateTitle();
    });
    connect(documents_, &DocumentController::scoresOpened, this, [this](const QString& path) {
        Settings::remember(settings_.recentFiles, QFileInfo(path).absoluteFilePath());
        rebuildRecentMenus();
        updateTitle();
    });
    connect(documents_, &DocumentController::modelOpened, this, [this](const QString& name) {
        Settings::remember(settings_.recentModels,
                           pathExists(name) ? QFileInfo(name).absoluteFilePath() : name);
        rebuildRecentMenus();
    });
    connect(model_->proof(), &ProofBadge::verifyRequested, this, &MainWindow::verify);
    connect(scoring_, &ScoringController::message, messages_, &MessageBar::show);
    connect(scoring_, &ScoringController::finished, this, &MainWindow::updateActions);
    connect(lane_, &ModelLane::progress, this, &MainWindow::showProgress);
    connect(lane_, &ModelLane::runningChanged, this, &MainWindow::updateActions);
}

void MainWindow::openPaths(const QStringList& given) {
    QStringList paths, compared; // an adapter is put beside what is open
    for (const QString& path : given) {
        if (path.endsWith(QLatin1String(".cuset-session"), Qt::CaseInsensitive)) {
            session_->open(path); // it names everything else
            return;
        }
        const bool beside = CompareController::kindOf(path) == CompareController::Kind::Adapter;
        (beside ? compared : paths) += path;
    }
    if (scoring_->isRunning() && std::any_of(paths.begin(), paths.end(), [](const QString& path) {
            return DocumentController::kindOf(path) != FileKind::Model;
        })) {
        messages_->show(MessageKind::Warning,
                        tr("Scoring is running: stop it (Esc) before other samples are opened."));
        return;
    }
    documents_->open(paths);
    if (!compared.isEmpty())
        compareWith(compared.last());
}

void MainWindow::openModel(const QString& nameOrPath) {
    documents_->openModel(nameOrPath);
}

void MainWindow::score() {
    if (!scoreAction_->isEnabled())
        return;
    scoring_->start(documents_->modelPath(), model_->options());
}

void MainWindow::verify() {
    if (verifyAction_->isEnabled())
        scoring_->verify(documents_->modelPath(), model_->options().session);
}

void MainWindow::afterSamplesReset() {
    if (workspace_.sampleCount() == 0)
        selection_.setSample(-1);
    else if (selection_.sample() < 0)
        selection_.setSample(std::max(0, samples_->firstRow()));
    else {
        selection_.setSample(-1); // the same row may be another sample now
        selection_.setSample(std::max(0, samples_->firstRow()));
    }
    selectPending();
    updateTitle();
    updateActions();
}

void MainWindow::updateActions() {
    const bool running = lane_->isRunning();
    const bool canScore = workspace_.dataset() && !workspace_.dataset()->samples.empty()
        && !documents_->modelPath().isEmpty() && !documents_->isBusy() && !running;
    scoreAction_->setEnabled(canScore);
    const bool canVerify = !documents_->modelPath().isEmpty() && !documents_->isBusy() && !running;
    verifyAction_->setEnabled(canVerify);
    model_->proof()->setCanVerify(canVerify);
    scoreAction_->setToolTip(canScore ? tr("Score all samples with the open model (F5)")
                                      : tr("Score: open samples and a model first (F5)"));
    stopAction_->setEnabled(running);
    const bool figures = analysis_->figures() != nullptr;
    nextLowAction_->setEnabled(figures);
    nextSensitiveAction_->setEnabled(figures);
    openModelAction_->setIconText(
        workspace_.model() ? QString::fromStdString(workspace_.model()->name) : tr("Open model"));
    openSamplesAction_->setIconText(workspace_.title().isEmpty() ? tr("Open samples")
                                                                 : workspace_.title());
    const bool analysing = analysis_->isAnalysing();
    progress_->setVisible(running || analysing || documents_->isBusy());
    progressText_->setVisible(running || analysing);
    if (!running && !analysing)
        progress_->setRange(0, 0);
    updateCompare();
    updateGenerate();
}

void MainWindow::showProgress(double share, const QString& text) {
    if (share < 0)
        progress_->setRange(0, 0);
    else {
        progress_->setRange(0, 1000);
        progress_->setValue(static_cast<int>(share * 1000));
    }
    progressText_->setText(text);
}

void MainWindow::updateTitle() {
    const QString title = workspace_.title();
    const QString name =
        title.isEmpty() ? tr("CuSeT Studio") : tr("%1 \u2013 CuSeT Studio").arg(title);
    const QString progress = training_->progressText();
    setWindowTitle(progress.isEmpty() ? name : tr("(%1) %2").arg(progress, name));
}

void MainWindow::loadSettings() {
    settings_ = store_.load();
    if (!store_.message().isEmpty())
        messages_->show(MessageKind::Warning, store_.message());
    mask_.restore(settings_.mask);
    model_->load(settings_);
    editor_->kindBar()->setShownKinds(settings_.shownKinds);
    editor_->codeView()->setCodeFontDelta(settings_.fontDelta);
    editor_->setColorMap(settings_.colorMap == QLatin1String("viridis") ? ColorMap::Viridis
                                                                        : ColorMap::Cividis);
    editor_->setGutterMode(gutterModeFor(settings_.gutter));
    editor_->setColorBy(colorByFor(settings_.colorBy, ColorBy::Confidence));
    setAppearance(settings_.appearance);
    QStringList roots = settings_.runRoots;
    // Another settings file is another person's window, or a picture's.
    if (store_.path() == SettingsStore().path() && !roots.contains(RunRegistry::defaultRoot()))
        roots += RunRegistry::defaultRoot();
    training_->registry()->setRoots(roots);
    rebuildRecentMenus();
    const QSize available = screen()->availableSize();
    resize(std::min(1600, available.width() * 95 / 100),
           std::min(1000, available.height() * 92 / 100));
    if (!settings_.geometry.isEmpty())
        restoreGeometry(settings_.geometry);
    // A window saved on a screen that is gone comes back on one that is there.
    const QList<QScreen*> screens = QGuiApplication::screens();
    const QPoint middle = frameGeometry().center();
    if (std::none_of(screens.begin(), screens.end(),
                     [&](const QScreen* s) { return s->geometry().contains(middle); }))
        move(screen()->availableGeometry().topLeft());
    applyProportions();
    defaultState_ = saveState(Settings::version);
    if (!settings_.layout.isEmpty())
        restoreState(settings_.layout, Settings::version);
}

void MainWindow::saveSettings() {
    settings_.geometry = saveGeometry();
    settings_.layout = saveState(Settings::version);
    settings_.colorBy = colorMode(editor_->colorBy()).key;
    settings_.colorMap = mapKey(editor_->colorMap());
    settings_.gutter = gutterModeKey(editor_->gutterMode());
    settings_.shownKinds = editor_->kindBar()->shownKinds();
    settings_.mask = mask_.settings();
    model_->store(settings_);
    settings_.runRoots = training_->registry()->roots();
    store_.save(settings_);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    // Ask all work to stop at once; the destructors wait for it. What is scored by then is saved by
    // the job.
    lane_->stop();
    pool_.cancelAll();
    saveSettings();
    session_->close();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!localPaths(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QStringList paths = localPaths(event->mimeData());
    if (paths.isEmpty())
        return;
    event->acceptProposedAction();
    openPaths(paths);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && scoreAction_)
        updateIcons();
}

QStringList MainWindow::viewNames() {
    QStringList names{
        QStringLiteral("main"),    QStringLiteral("density"),  QStringLiteral("windows"),
        QStringLiteral("tokens"),  QStringLiteral("sweep"),    QStringLiteral("model"),
        QStringLiteral("seen"),    QStringLiteral("regions"),  QStringLiteral("corrections"),
        QStringLiteral("lowest"),  QStringLiteral("whatif"),   QStringLiteral("objectives"),
        QStringLiteral("shares"),  QStringLiteral("notes"),    QStringLiteral("compare"),
        QStringLiteral("datamap"), QStringLiteral("generate"), QStringLiteral("summary"),
        QStringLiteral("samples"), QStringLiteral("light"),    QStringLiteral("dark")};
    names += trainingViews();
    for (const ColorBy by : allColorModes)
        names += colorMode(by).key;
    for (const std::string_view kind : sensitive_kind_names)
        names += QString::fromLatin1(kind.data(), static_cast<qsizetype>(kind.size()));
    return names;
}

bool MainWindow::showView(const QString& name) {
    if (trainingViews().contains(name)) {
        showTrainingView(name);
        return true;
    }
    if (name == QLatin1String("main"))
        return true;
    if (name == QLatin1String("light") || name == QLatin1String("dark")) {
        setAppearance(name);
        return true;
    }
    for (const ColorBy by : allColorModes)
        if (colorMode(by).key == name) {
            editor_->setColorBy(by);
            return true;
        }
    for (std::size_t kind = 0; kind < sensitive_kind_names.size(); ++kind)
        if (name.toStdString() == sensitive_kind_names[kind]) {
            selection_.setKinds(kind_bit(static_cast<SensitiveKind>(kind)));
            return true;
        }
    const auto dock = std::find_if(docks_.begin(), docks_.end(),
                                   [&](const QDockWidget* d) { return d->objectName() == name; });
    if (dock == docks_.end())
        return false;
    (*dock)->show();
    (*dock)->raise();
    if (name == QLatin1String("samples")) { // the whole table
        for (QAction* column : samples_->table()->horizontalHeader()->actions())
            column->setChecked(true);
        resizeDocks({*dock}, {width() * 60 / 100}, Qt::Horizontal);
    }
    if (name == QLatin1String("summary")) // and all of its figures
        resizeDocks({findChild<QDockWidget*>(QStringLiteral("thresholds")), *dock}, {1, height()},
                    Qt::Vertical);
    // A chart that is asked for gets the room of its neighbours.
    const QStringList charts{
        QStringLiteral("density"), QStringLiteral("windows"), QStringLiteral("tokens"),
        QStringLiteral("sweep"),   QStringLiteral("whatif"),  QStringLiteral("objectives"),
        QStringLiteral("shares"),  QStringLiteral("datamap"), QStringLiteral("generate")};
    if (charts.contains(name)) {
        for (QDockWidget* other : docks_)
            if (other != *dock && charts.contains(other->objectName()))
                other->hide();
        resizeDocks({*dock}, {height() * (name == QLatin1String("generate") ? 52 : 45) / 100},
                    Qt::Vertical);
    }
    return true;
}

bool MainWindow::isSettled() const {
    return !documents_->isBusy() && !lane_->isRunning() && !comparing_->isBusy()
        && pendingComparison_.isEmpty() && generatePanel_->isSettled() && analysis_->isSettled()
        && charts_->isSettled() && objectives_->isSettled() && kinds_->isSettled()
        && lowest_->isSettled() && units_->isSettled() && samples_->isSettled()
        && training_->isSettled() && pool_.isIdle();
}

ExitCode MainWindow::outcome() const {
    if (scoring_->hasFailed())
        return exit_code(scoring_->lastError());
    if (comparing_->hasFailed())
        return exit_code(comparing_->lastError());
    if (generating_->hasFailed())
        return exit_code(generating_->lastError());
    return documents_->hasFailed() ? exit_code(documents_->lastError()) : ExitCode::ok;
}

void MainWindow::setAppearance(const QString& appearance) {
    settings_.appearance = appearance;
    applyAppearance(appearance);
    for (QAction* action : std::as_const(appearanceActions_))
        action->setChecked(action->data().toString() == appearance);
}

void MainWindow::updateIcons() {
    const std::array<std::pair<QAction*, const char*>, 7> icons{
        {{openSamplesAction_, "samples"},
         {openModelAction_, "model"},
         {scoreAction_, "score"},
         {stopAction_, "stop"},
         {paletteAction_, "commands"},
         {nextLowAction_, "next-low"},
         {nextSensitiveAction_, "next-token"}}};
    for (const auto& [action, name] : icons)
        action->setIcon(themedIcon(QString::fromLatin1(name), palette()));
}

} // namespace cuset
