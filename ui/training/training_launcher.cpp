#include "ui/training/training_launcher.h"

#include <filesystem>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>

#include "core/io/atomic_file.h"
#include "core/train/run_process.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

constexpr int launchTimeout = 5000; // ms

QString quoted(const QString& text) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(text).hasMatch())
        return text;
    return QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QLatin1String("'\\''"))
        + QLatin1Char('\'');
}

QString joined(const QStringList& arguments) {
    QStringList words;
    for (const QString& argument : arguments)
        words += quoted(argument);
    return words.join(QLatin1Char(' '));
}

QString configPath(const TrainConfig& config) {
    return pathText(config.output) + QStringLiteral("/config.json");
}

template <class Values> QString listed(const Values& values) {
    QStringList words;
    for (const auto value : values)
        words += QString::number(value);
    return words.join(QLatin1Char(','));
}

} // namespace

TrainingLauncher::TrainingLauncher(JobRunner* pool, QObject* parent)
    : QObject(parent)
    , pool_(pool) { }

// A QProcess that goes takes its program with it: the short time until a run is on its own is
// waited for.
TrainingLauncher::~TrainingLauncher() {
    for (QProcess* process : findChildren<QProcess*>()) {
        process->disconnect(this);
        process->waitForFinished(launchTimeout);
    }
}

QString TrainingLauncher::program() {
    const QFileInfo beside(QCoreApplication::applicationDirPath() + QStringLiteral("/cuset"));
    return beside.isExecutable() ? beside.absoluteFilePath()
                                 : QStandardPaths::findExecutable(QStringLiteral("cuset"));
}

QString TrainingLauncher::commandText(const TrainConfig& config) {
    return joined({QStringLiteral("cuset"), QStringLiteral("train"), configPath(config)});
}

QString TrainingLauncher::sweepCommandText(const TrainConfig& base, const RunGrid& grid, int jobs) {
    QStringList words{QStringLiteral("cuset"), QStringLiteral("queue"), configPath(base)};
    const auto axis = [&](const char* name, const QString& values) {
        if (!values.isEmpty())
            words << QStringLiteral("--grid")
                  << QString::fromLatin1(name) + QLatin1Char('=') + values;
    };
    QStringList objectives;
    for (const TokenObjective objective : grid.objectives)
        objectives += QString::fromStdString(
            std::string(token_objective_names[static_cast<std::size_t>(objective)]));
    axis("objective", objectives.join(QLatin1Char(',')));
    axis("tau", listed(grid.tau));
    axis("lambda", listed(grid.lambda));
    QStringList windows;
    for (const std::int64_t window : grid.window)
        windows += QString::number(window);
    axis("window", windows.join(QLatin1Char(',')));
    axis("learning_rate", listed(grid.learning_rate));
    if (jobs != 1)
        words << QStringLiteral("--jobs") << QString::number(jobs);
    return joined(words);
}

void TrainingLauncher::done(int change) {
    busy_ += change;
}

void TrainingLauncher::start(const TrainConfig& config) {
    const QString folder = pathText(config.output);
    done(1);
    pool_->start(
        QStringLiteral("launch ") + folder,
        [config](RunControl&) {
            namespace fs = std::filesystem;
            const fs::path path = config.output;
            if (fs::exists(path / "events.jsonl") || is_sweep_folder(path))
                throw Error(ErrorCode::usage,
                            "holds a run already; name another output folder, or resume that run",
                            path.string());
            fs::create_directories(path);
            write_file_atomically(path / "config.json", train_config_json(config));
            return true;
        },
        [this, folder](JobOutcome<bool> outcome) {
            done(-1);
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            else if (std::holds_alternative<bool>(outcome))
                run({QStringLiteral("train"), folder + QStringLiteral("/config.json"),
                     QStringLiteral("--detach"), QStringLiteral("--json")},
                    folder);
        });
}

void TrainingLauncher::resume(const QString& folder) {
    // A run of a queue that never began has a configuration only.
    const bool begun = QFileInfo::exists(folder + QStringLiteral("/events.jsonl"));
    QStringList arguments{QStringLiteral("train")};
    if (begun)
        arguments << QStringLiteral("--resume") << folder;
    else
        arguments << folder + QStringLiteral("/config.json");
    run(arguments + QStringList{QStringLiteral("--detach"), QStringLiteral("--json")}, folder);
}

void TrainingLauncher::startSweep(const TrainConfig& base, const RunGrid& grid, int jobs) {
    const QString folder = pathText(base.output);
    done(1);
    pool_->start(
        QStringLiteral("launch ") + folder,
        [base, grid](RunControl&) {
            write_sweep(base, grid);
            return true;
        },
        [this, folder, jobs](JobOutcome<bool> outcome) {
            done(-1);
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            else if (std::holds_alternative<bool>(outcome))
                resumeQueue(folder, jobs);
        });
}

void TrainingLauncher::resumeQueue(const QString& folder, int jobs) {
    run({QStringLiteral("queue"), folder, QStringLiteral("--jobs"), QString::number(jobs),
         QStringLiteral("--detach"), QStringLiteral("--json")},
        folder);
}

void TrainingLauncher::run(const QStringList& arguments, const QString& folder) {
    emit launching(folder);
    const QString cuset = program();
    if (cuset.isEmpty()) {
        emit failed(tr("The program cuset was not found: it has to lie beside cuset-studio or in "
                       "PATH."));
        return;
    }
    auto* process = new QProcess(this);
    process->setStandardInputFile(QProcess::nullDevice());
    connect(process, &QProcess::finished, this,
            [this, process, folder] { finished(process, folder); });
    connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return; // finished() comes as well
        done(-1);
        emit failed(tr("%1: %2").arg(process->program(), process->errorString()));
        process->deleteLater();
    });
    done(1);
    process->start(cuset, arguments);
}

void TrainingLauncher::finished(QProcess* process, const QString& folder) {
    done(-1);
    if (process->exitStatus() == QProcess::NormalExit && process->exitCode() == 0) {
        emit started(folder);
    } else {
        const QString text = QString::fromUtf8(process->readAllStandardError()).trimmed();
        emit failed(text.isEmpty() ? tr("cuset ended with exit code %1").arg(process->exitCode())
                                   : text);
    }
    process->deleteLater();
}

void TrainingLauncher::stop(const QString& folder) {
    pool_->start(
        QStringLiteral("stop ") + folder,
        [path = nativePath(folder)](RunControl&) {
            request_stop(path);
            return true;
        },
        [this](JobOutcome<bool> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
        });
}

void TrainingLauncher::remove(const QString& folder) {
    done(1);
    pool_->start(
        QStringLiteral("remove ") + folder,
        [path = nativePath(folder)](RunControl&) {
            namespace fs = std::filesystem;
            const LockState lock = inspect_lock(path / "lock").state;
            if (lock == LockState::held || lock == LockState::foreign)
                throw Error(ErrorCode::usage, "is being written: stop the run first",
                            path.string());
            if (!fs::exists(path / "config.json"))
                throw Error(ErrorCode::usage, "is no run folder", path.string());
            std::error_code error;
            fs::remove_all(path, error);
            if (error)
                throw Error(ErrorCode::disk, "cannot be removed: " + error.message(),
                            path.string());
            return true;
        },
        [this, folder](JobOutcome<bool> outcome) {
            done(-1);
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            else
                emit removed(folder);
        });
}

} // namespace cuset
