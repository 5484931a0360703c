// RunRegistry: all runs that are known: those in the folders that runs were kept in so far, sweeps
// included. Folders are looked through in the pool, again and again.
#pragma once

#include <vector>

#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include "ui/async/job_runner.h"
#include "ui/training/run_follower.h"

namespace cuset {

class RunRegistry : public QObject {
    Q_OBJECT
public:
    explicit RunRegistry(QObject* parent = nullptr);
    ~RunRegistry() override;

    // Where new runs go unless another folder is named.
    static QString defaultRoot();

    // Run folders, sweep folders, or folders of them.
    const QStringList& roots() const { return roots_; }
    void setRoots(const QStringList& roots);
    void addRoot(const QString& folder); // newest first
    void removeRoot(const QString& folder);

    // In the order of the list: the newest begun first.
    const std::vector<RunFollower*>& runs() const { return runs_; }
    RunFollower* find(const QString& folder) const;
    const QStringList& sweeps() const { return sweeps_; } // folders of sweeps
    // Looked through at least once, and every run was read.
    bool isSettled() const;
    // Looks for new and lost runs now.
    void scan();
    JobRunner* pool() { return &pool_; }

signals:
    void runAboutToBeAdded(int row);
    void runAdded(int row);
    void runAboutToBeRemoved(int row);
    void runRemoved(int row);
    void runChanged(int row);
    void sweepsChanged();
    void rootsChanged();
    void failed(const QString& text);

private:
    struct Found {
        QString folder, sweep;
        bool operator==(const Found&) const = default;
    };
    struct Listing {
        std::vector<Found> runs;
        QStringList sweeps;
    };
    static Listing list(const QStringList& roots, RunControl& control);
    void take(const Listing& listing);
    int rowOf(const RunFollower* run) const;

    QStringList roots_, sweeps_;
    std::vector<RunFollower*> runs_;
    QFileSystemWatcher watcher_;
    QTimer timer_;
    bool scanned_ = false;
    JobRunner pool_{2}; // last: its destructor waits for jobs
};

} // namespace cuset
