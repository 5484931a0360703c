// RunFollower: one run folder, followed as it grows: by the file watch where there is one, and by
// looking again where there is none (shared file systems). Reading is done in the pool.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <QElapsedTimer>
#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include "core/train/run_reader.h"
#include "ui/async/job_runner.h"

namespace cuset {

// What a person is told of a run's state: RunState, and a run of a queue that has not begun.
enum class RunPhase { Waiting, Running, Elsewhere, Finished, Stopped, Failed, Interrupted };
QString phaseTitle(RunPhase phase); // "running"

class RunFollower : public QObject {
    Q_OBJECT
public:
    RunFollower(const QString& folder, JobRunner* pool, QObject* parent = nullptr);
    ~RunFollower() override;

    const QString& folder() const { return folder_; }
    QString name() const; // the folder's
    // The folder that holds it, if that is a sweep; else "".
    const QString& sweep() const { return sweep_; }
    void setSweep(const QString& folder) { sweep_ = folder; }

    bool isLoaded() const { return loaded_; } // was read once
    RunPhase phase() const;
    bool isOver() const; // no process writes it, as far as can be seen
    const RunSummary& summary() const { return summary_; }
    const std::optional<TrainConfig>& config() const { return config_; }
    const QString& explanation() const { return explanation_; }
    const QString& problem() const { return problem_; } // why it cannot be read, or ""
    const QStringList& log() const { return log_; } // the last 50 lines
    const QString& notes() const { return notes_; }
    void setNotes(const QString& notes); // kept in notes.txt of the run folder

    // Steps and evaluations are kept only while somebody draws them.
    void setPointsWanted(bool wanted);
    bool arePointsWanted() const { return pointsWanted_; }
    const std::vector<StepEvent>& steps() const { return steps_; }
    const std::vector<EvaluationEvent>& evaluations() const { return evaluations_; }
    const std::vector<CheckpointEvent>& checkpoints() const { return checkpoints_; }

    // Looks at the folder now.
    void refresh();

    static constexpr int logLines = 50;

signals:
    void changed(); // anything but the points
    // From these places on the points are new; 0 after a run was begun anew.
    void pointsChanged(std::size_t firstStep, std::size_t firstEvaluation);
    void failed(const QString& text);

private:
    struct Look;
    static std::shared_ptr<Look> look(RunReader& reader, const std::string& folder, bool readConfig,
                                      RunControl& control);
    void take(Look& look);
    void watch();
    void schedule();

    QString folder_, sweep_;
    JobRunner* pool_;
    std::shared_ptr<RunReader> reader_; // touched by one job at a time
    QFileSystemWatcher watcher_;
    QTimer timer_;
    QElapsedTimer sinceLook_;
    RunSummary summary_;
    LockReport lock_;
    std::optional<TrainConfig> config_;
    std::vector<StepEvent> steps_;
    std::vector<EvaluationEvent> evaluations_;
    std::vector<CheckpointEvent> checkpoints_;
    QString explanation_, problem_, notes_;
    QStringList log_;
    bool loaded_ = false;
    bool reading_ = false;
    bool again_ = false;
    bool readAnew_ = false;
    bool pointsWanted_ = false;
};

} // namespace cuset
