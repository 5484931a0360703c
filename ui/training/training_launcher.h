// TrainingLauncher: starts, stops and goes on with runs. The work is `cuset train`, a process of
// its own that outlives the window; nothing but the run folder lies between them.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>

#include "core/train/run_sweep.h"
#include "core/train/train_config.h"
#include "ui/async/job_runner.h"

namespace cuset {

class TrainingLauncher : public QObject {
    Q_OBJECT
public:
    explicit TrainingLauncher(JobRunner* pool, QObject* parent = nullptr);
    ~TrainingLauncher() override; // a start in progress gets through

    // The command line program: beside this one, else in PATH; "" if there is none.
    static QString program();
    // The command that does the same, quoted for a POSIX shell.
    static QString commandText(const TrainConfig& config);
    static QString sweepCommandText(const TrainConfig& base, const RunGrid& grid, int jobs);

    // Writes config.json to the configuration's output and starts it.
    void start(const TrainConfig& config);
    void resume(const QString& folder);
    // Asks the run's process, or a queue's, to save and end.
    void stop(const QString& folder);
    void startSweep(const TrainConfig& base, const RunGrid& grid, int jobs);
    void resumeQueue(const QString& folder, int jobs);
    void remove(const QString& folder); // from the disk; not one that is being written
    bool isBusy() const { return busy_ > 0; }

signals:
    void launching(const QString& folder); // its folder is there
    void started(const QString& folder); // it runs, in its own process
    void removed(const QString& folder);
    void failed(const QString& text);

private:
    void run(const QStringList& arguments, const QString& folder);
    void finished(QProcess* process, const QString& folder);
    void done(int change);

    JobRunner* pool_;
    int busy_ = 0;
};

} // namespace cuset
