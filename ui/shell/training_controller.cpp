#include "ui/shell/training_controller.h"
#include "ui/state/native_path.h"

#include <algorithm>

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

namespace cuset {

TrainingController::TrainingController(Workspace* workspace, MaskSettingsState* mask,
                                       QWidget* window)
    : QObject(window)
    , workspace_(workspace)
    , mask_(mask)
    , window_(window)
    , launcher_(new TrainingLauncher(registry_.pool(), this))
    , panel_(new TrainingPanel(&registry_, window)) {
    const auto fail = [this](const QString& text) { emit message(MessageKind::Error, text); };
    connect(&registry_, &RunRegistry::failed, this, fail);
    connect(&registry_, &RunRegistry::runChanged, this, &TrainingController::progressChanged);
    connect(&registry_, &RunRegistry::runRemoved, this, &TrainingController::progressChanged);
    connect(launcher_, &TrainingLauncher::failed, this, fail);
    connect(launcher_, &TrainingLauncher::launching, this, &TrainingController::launching);
    connect(launcher_, &TrainingLauncher::started, this, &TrainingController::started);
    connect(launcher_, &TrainingLauncher::removed, this, [this](const QString& folder) {
        registry_.scan();
        emit message(MessageKind::Information, tr("Deleted %1").arg(folder));
    });
    connect(panel_, &TrainingPanel::newRequested, this, &TrainingController::newRunRequested);
    connect(panel_, &TrainingPanel::againRequested, this, &TrainingController::again);
    connect(panel_, &TrainingPanel::stopRequested, launcher_, &TrainingLauncher::stop);
    connect(panel_, &TrainingPanel::resumeRequested, launcher_, &TrainingLauncher::resume);
    connect(panel_, &TrainingPanel::removeRequested, launcher_, &TrainingLauncher::remove);
    connect(panel_, &TrainingPanel::openRequested, this, &TrainingController::chooseFolder);
    connect(panel_, &TrainingPanel::exported, this, [this](const QString& path) {
        emit message(MessageKind::Information, tr("Saved as %1").arg(path));
    });
    connect(panel_, &TrainingPanel::exportFailed, this, fail);
    connect(panel_->sweeps(), &SweepPanel::resumeRequested, launcher_,
            &TrainingLauncher::resumeQueue);
    connect(panel_->sweeps(), &SweepPanel::stopRequested, launcher_, &TrainingLauncher::stop);
}

// The panel shows what the registry holds: it goes first.
TrainingController::~TrainingController() {
    delete form_;
    delete panel_;
}

TrainConfig TrainingController::configFor(const QString& modelPath, const ScoringOptions& options,
                                          const ReadOptions& read) const {
    TrainConfig config;
    const auto path = [](const QString& name) {
        const QFileInfo info(name);
        return nativePath(pathExists(name) ? info.absoluteFilePath() : name).string();
    };
    if (!modelPath.isEmpty())
        config.model = path(modelPath);
    for (const QString& file : workspace_->datasetPaths())
        config.data.push_back(path(file));
    config.prompt_field = read.prompt_field;
    config.response_field = read.response_field;
    config.every_turn = read.every_turn;
    config.objective.mask = mask_->settings();
    config.device = options.session.device;
    config.chat_template = options.score.prompt.chat_template;
    config.response = options.score.prompt.response;
    config.max_length = options.score.prompt.max_length;
    const QString root = lastRoot_.isEmpty() ? RunRegistry::defaultRoot() : lastRoot_;
    config.output = nativePath(RunConfigDialog::freshOutput(root, config)).string();
    return config;
}

RunConfigDialog* TrainingController::openForm(const TrainConfig& config) {
    if (form_) {
        form_->raise();
        return form_;
    }
    form_ = new RunConfigDialog(config, workspace_, window_);
    connect(form_, &RunConfigDialog::startRequested, launcher_, &TrainingLauncher::start);
    connect(form_, &RunConfigDialog::sweepRequested, launcher_, &TrainingLauncher::startSweep);
    form_->open();
    return form_;
}

void TrainingController::again(const QString& folder) {
    const RunFollower* run = registry_.find(folder);
    if (!run || !run->config())
        return;
    TrainConfig config = *run->config();
    const QString root = run->sweep().isEmpty() ? QFileInfo(folder).absolutePath()
                                                : QFileInfo(run->sweep()).absolutePath();
    config.output = nativePath(RunConfigDialog::freshOutput(root, config)).string();
    openForm(config);
}

// From now on the folder that holds it is looked through, by the next window too if this one dies.
void TrainingController::launching(const QString& folder) {
    const RunFollower* known = registry_.find(folder);
    if (known || registry_.sweeps().contains(folder))
        return;
    lastRoot_ = QFileInfo(folder).absolutePath();
    registry_.addRoot(lastRoot_);
    panel_->select({folder});
}

void TrainingController::started(const QString& folder) {
    if (RunFollower* run = registry_.find(folder))
        run->refresh();
    else
        registry_.scan();
    emit panelWanted();
}

void TrainingController::openFolders(const QStringList& folders) {
    QStringList paths;
    for (const QString& folder : folders) {
        paths += QDir::cleanPath(QFileInfo(folder).absoluteFilePath());
        registry_.addRoot(paths.last());
    }
    panel_->select(paths);
    emit panelWanted();
}

void TrainingController::chooseFolder() {
    const QString folder = QFileDialog::getExistingDirectory(
        window_, tr("Follow a run, or a folder of runs"),
        lastRoot_.isEmpty() ? RunRegistry::defaultRoot() : lastRoot_);
    if (!folder.isEmpty())
        openFolders({folder});
}

bool TrainingController::isSettled() const {
    return registry_.isSettled() && panel_->isSettled() && !launcher_->isBusy()
        && (!form_ || form_->isSettled());
}

QString TrainingController::progressText() const {
    int running = 0;
    qlonglong done = 0, all = 0;
    double left = 0;
    for (const RunFollower* run : registry_.runs()) {
        const RunSummary& s = run->summary();
        if (run->phase() != RunPhase::Running || s.started.total_steps <= 0)
            continue;
        ++running;
        done += s.last_step.step;
        all += s.started.total_steps;
        left = std::max(left, s.last_step.eta_seconds);
    }
    if (running == 0)
        return {};
    const int percent = static_cast<int>(100 * done / all);
    const QString steps =
        tr("%1 %, step %2 of %3, %4 left").arg(percent).arg(done).arg(all).arg(durationText(left));
    return running == 1 ? steps : tr("%1 runs: %2").arg(running).arg(steps);
}

} // namespace cuset
