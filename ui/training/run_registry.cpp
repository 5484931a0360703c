#include "ui/training/run_registry.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include "core/train/run_sweep.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

constexpr int interval = 1500; // ms between looks for new runs
constexpr int mostRoots = 50;
const QString channel = QStringLiteral("scan");

QString decoded(const std::filesystem::path& path) {
    return pathText(path.string());
}

} // namespace

RunRegistry::RunRegistry(QObject* parent)
    : QObject(parent) {
    timer_.setInterval(interval);
    connect(&timer_, &QTimer::timeout, this, &RunRegistry::scan);
    connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, &RunRegistry::scan);
}

RunRegistry::~RunRegistry() {
    for (RunFollower* run : runs_)
        run->disconnect(this);
    qDeleteAll(runs_);
}

QString RunRegistry::defaultRoot() {
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
        + QStringLiteral("/runs");
}

void RunRegistry::setRoots(const QStringList& roots) {
    roots_ = roots;
    scan();
    timer_.start();
}

void RunRegistry::addRoot(const QString& folder) {
    const QString path = QDir::cleanPath(QFileInfo(folder).absoluteFilePath());
    roots_.removeAll(path);
    roots_.prepend(path);
    while (roots_.size() > mostRoots)
        roots_.removeLast();
    emit rootsChanged();
    scanned_ = false;
    pool_.abandon(channel); // it knows nothing of the new folder
    scan();
}

void RunRegistry::removeRoot(const QString& folder) {
    roots_.removeAll(QDir::cleanPath(folder));
    scan();
}

RunFollower* RunRegistry::find(const QString& folder) const {
    const QString path = QDir::cleanPath(folder);
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const RunFollower* run) { return run->folder() == path; });
    return found == runs_.end() ? nullptr : *found;
}

bool RunRegistry::isSettled() const {
    return scanned_ && std::all_of(runs_.begin(), runs_.end(), [](const RunFollower* run) {
               return run->isLoaded();
           });
}

RunRegistry::Listing RunRegistry::list(const QStringList& roots, RunControl& control) {
    namespace fs = std::filesystem;
    Listing listing;
    std::set<QString> seen;
    const auto addRun = [&](const fs::path& folder, const QString& sweep) {
        const QString path = QDir::cleanPath(decoded(folder));
        if (seen.insert(path).second)
            listing.runs.push_back({path, sweep});
    };
    const auto visit = [&](const fs::path& folder) {
        if (is_sweep_folder(folder)) {
            const QString name = QDir::cleanPath(decoded(folder));
            listing.sweeps += name;
            try {
                for (const fs::path& run : read_sweep(folder).runs)
                    addRun(run, name);
            } catch (const Error&) {
                listing.sweeps
                    .removeLast(); // a damaged sweep.json: its runs are seen as others are
            }
        }
        if (is_run_folder(folder)) {
            addRun(folder, {});
            return true;
        }
        return false;
    };
    for (const QString& root : roots) {
        control.throw_if_stopped();
        const fs::path path = nativePath(root);
        if (visit(path))
            continue;
        std::error_code error;
        for (fs::directory_iterator entry(path, error), end; !error && entry != end;
             entry.increment(error))
            if (std::error_code ignored; entry->is_directory(ignored))
                visit(entry->path());
    }
    return listing;
}

void RunRegistry::scan() {
    if (pool_.isRunning(channel))
        return; // the timer looks again
    pool_.start(
        channel, [roots = roots_](RunControl& control) { return list(roots, control); },
        [this](JobOutcome<Listing> outcome) {
            if (const auto* listing = std::get_if<0>(&outcome))
                take(*listing);
        });
}

int RunRegistry::rowOf(const RunFollower* run) const {
    return static_cast<int>(std::find(runs_.begin(), runs_.end(), run) - runs_.begin());
}

void RunRegistry::take(const Listing& listing) {
    for (int row = static_cast<int>(runs_.size()) - 1; row >= 0; --row) {
        RunFollower* run = runs_[static_cast<std::size_t>(row)];
        if (std::any_of(listing.runs.begin(), listing.runs.end(),
                        [&](const Found& found) { return found.folder == run->folder(); }))
            continue;
        emit runAboutToBeRemoved(row);
        runs_.erase(runs_.begin() + row);
        emit runRemoved(row);
        run->disconnect();
        run->deleteLater();
    }
    for (const Found& found : listing.runs) {
        if (find(found.folder))
            continue;
        auto* run = new RunFollower(found.folder, &pool_, this);
        run->setSweep(found.sweep);
        const int row = static_cast<int>(runs_.size());
        emit runAboutToBeAdded(row);
        runs_.push_back(run);
        emit runAdded(row);
        connect(run, &RunFollower::changed, this, [this, run] { emit runChanged(rowOf(run)); });
        connect(run, &RunFollower::failed, this, &RunRegistry::failed);
    }
    scanned_ = true;
    if (sweeps_ != listing.sweeps) {
        sweeps_ = listing.sweeps;
        emit sweepsChanged();
    }
    // New folders are seen at once where the file system tells; the timer sees them elsewhere.
    for (const QString& folder : roots_ + sweeps_)
        if (!watcher_.directories().contains(folder) && QFileInfo(folder).isDir())
            watcher_.addPath(folder);
}

} // namespace cuset
