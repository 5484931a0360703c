#include "ui/training/run_follower.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "core/io/atomic_file.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

constexpr int livePoll = 400; // ms between looks at a run that is written
constexpr int quietPoll = 3000; // and at one that is over: it may be gone on with
constexpr int shortest = 60; // the file watch may fire for every line
constexpr std::uint64_t notesLimit = 1u << 20;

} // namespace

QString phaseTitle(RunPhase phase) {
    switch (phase) {
    case RunPhase::Waiting:
        return RunFollower::tr("waiting");
    case RunPhase::Running:
        return RunFollower::tr("running");
    case RunPhase::Elsewhere:
        return RunFollower::tr("elsewhere");
    case RunPhase::Finished:
        return RunFollower::tr("finished");
    case RunPhase::Stopped:
        return RunFollower::tr("stopped");
    case RunPhase::Failed:
        return RunFollower::tr("failed");
    case RunPhase::Interrupted:
        return RunFollower::tr("crashed");
    }
    return {};
}

// What one look at the folder brings.
struct RunFollower::Look {
    RunUpdate update;
    std::optional<TrainConfig> config;
    std::string configProblem;
    QString explanation, notes;
    QStringList log;
};

RunFollower::RunFollower(const QString& folder, JobRunner* pool, QObject* parent)
    : QObject(parent)
    , folder_(QDir::cleanPath(folder))
    , pool_(pool)
    , reader_(std::make_shared<RunReader>(nativePath(folder_))) {
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &RunFollower::refresh);
    const auto soon = [this] {
        if (reading_)
            again_ = true;
        else if (!timer_.isActive() || timer_.remainingTime() > shortest)
            timer_.start(shortest);
    };
    connect(&watcher_, &QFileSystemWatcher::fileChanged, this, soon);
    connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, soon);
    refresh();
}

RunFollower::~RunFollower() {
    pool_->abandon(folder_);
}

QString RunFollower::name() const {
    return QFileInfo(folder_).fileName();
}

RunPhase RunFollower::phase() const {
    switch (summary_.state) {
    case RunState::running:
        return RunPhase::Running;
    case RunState::elsewhere:
        return RunPhase::Elsewhere;
    case RunState::finished:
        return RunPhase::Finished;
    case RunState::stopped:
        return RunPhase::Stopped;
    case RunState::failed:
        return RunPhase::Failed;
    case RunState::interrupted:
        break;
    }
    const bool begun = lock_.state != LockState::free || !summary_.last_time.empty();
    return begun ? RunPhase::Interrupted : RunPhase::Waiting;
}

bool RunFollower::isOver() const {
    const RunPhase now = phase();
    return now != RunPhase::Running && now != RunPhase::Elsewhere;
}

std::shared_ptr<RunFollower::Look> RunFollower::look(RunReader& reader, const std::string& folder,
                                                     bool readConfig, RunControl& control) {
    namespace fs = std::filesystem;
    auto look = std::make_shared<Look>();
    look->update = reader.read(control);
    const fs::path path = folder;
    look->explanation =
        QString::fromStdString(run_explanation(look->update.summary, look->update.lock));
    if (readConfig || look->update.restarted) {
        try {
            look->config = read_train_config((path / "config.json").string());
        } catch (const Error& error) {
            look->configProblem = error.what();
        }
    }
    for (const std::string& line : log_tail(path, logLines))
        look->log += QString::fromStdString(line);
    std::error_code ignored;
    if (fs::exists(path / "notes.txt", ignored)) {
        try {
            look->notes = QString::fromStdString(read_file(path / "notes.txt", notesLimit));
        } catch (const Error&) {
            // Somebody else's file of that name, or one without permission: no notes.
        }
    }
    return look;
}

void RunFollower::refresh() {
    if (reading_) {
        again_ = true;
        return;
    }
    if (std::exchange(readAnew_, false))
        reader_ = std::make_shared<RunReader>(nativePath(folder_));
    reading_ = true;
    timer_.stop();
    pool_->start(
        folder_,
        [reader = reader_, folder = nativePath(folder_), readConfig = !config_](
            RunControl& control) { return look(*reader, folder, readConfig, control); },
        [this](JobOutcome<std::shared_ptr<Look>> outcome) {
            reading_ = false;
            if (auto* result = std::get_if<0>(&outcome)) {
                take(**result);
            } else if (const auto* error = std::get_if<1>(&outcome)) {
                const QString text = QString::fromUtf8(error->what());
                loaded_ = true;
                if (std::exchange(problem_, text) != text)
                    emit changed();
            }
            schedule();
        });
}

void RunFollower::schedule() {
    watch();
    const bool soon = std::exchange(again_, false);
    timer_.start(readAnew_ ? 0 : soon ? shortest : isOver() ? quietPoll : livePoll);
}

// A file that was replaced is no longer watched, one that came since is not yet.
void RunFollower::watch() {
    const QString events = folder_ + QStringLiteral("/events.jsonl");
    const QStringList watched = watcher_.files();
    if (!watched.contains(events) && QFileInfo::exists(events))
        watcher_.addPath(events);
    if (watcher_.directories().isEmpty() && QFileInfo::exists(folder_))
        watcher_.addPath(folder_);
}

void RunFollower::take(Look& look) {
    RunUpdate& update = look.update;
    if (readAnew_)
        return; // of the reader before; the next look reads everything
    if (update.restarted) {
        steps_.clear();
        evaluations_.clear();
        checkpoints_.clear();
    }
    const std::size_t firstStep = steps_.size();
    const std::size_t firstEvaluation = evaluations_.size();
    if (pointsWanted_) {
        steps_.insert(steps_.end(), update.steps.begin(), update.steps.end());
        evaluations_.insert(evaluations_.end(), update.evaluations.begin(),
                            update.evaluations.end());
    }
    checkpoints_.insert(checkpoints_.end(), update.checkpoints.begin(), update.checkpoints.end());
    const RunPhase before = phase();
    const bool news = !loaded_ || update.has_points() || !update.checkpoints.empty()
        || look.explanation != explanation_ || look.log != log_ || look.notes != notes_
        || look.config || !problem_.isEmpty() || update.summary.last_time != summary_.last_time;
    summary_ = std::move(update.summary);
    lock_ = std::move(update.lock);
    explanation_ = look.explanation;
    log_ = look.log;
    notes_ = look.notes;
    problem_ = QString::fromStdString(look.configProblem);
    if (look.config)
        config_ = std::move(look.config);
    loaded_ = true;
    if (news || phase() != before)
        emit changed();
    if (pointsWanted_ && update.has_points())
        emit pointsChanged(firstStep, firstEvaluation);
}

void RunFollower::setPointsWanted(bool wanted) {
    if (wanted == pointsWanted_)
        return;
    pointsWanted_ = wanted;
    steps_ = {};
    evaluations_ = {};
    if (!wanted)
        return;
    checkpoints_.clear();
    readAnew_ = true;
    refresh();
}

void RunFollower::setNotes(const QString& notes) {
    if (notes == notes_)
        return;
    notes_ = notes;
    emit changed();
    pool_->start(
        folder_ + QStringLiteral("/notes.txt"),
        [path = nativePath(folder_ + QStringLiteral("/notes.txt")),
         text = notes.toStdString()](RunControl&) {
            write_file_atomically(path, text);
            return true;
        },
        [this](JobOutcome<bool> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(tr("The note is not kept: %1").arg(QString::fromUtf8(error->what())));
        });
}

} // namespace cuset
