#include "ui/shell/session_controller.h"

#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "core/base/error.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

constexpr int restMs = 1500; // after the last change
constexpr int closeMs = 5000; // the longest a closing window waits for a save under way
const QString channel = QStringLiteral("session");
const QString suffix = QStringLiteral(".cuset-session");

bool isEmpty(const SessionState& session) {
    return session.data.empty() && session.scores.empty() && session.model.empty();
}

QString contents(const SessionState& session) {
    const std::string& first = !session.data.empty() ? session.data.front()
        : !session.scores.empty()                    ? session.scores
                                                     : session.model;
    return QFileInfo(QString::fromStdString(first)).fileName();
}

} // namespace

// An exclusive lock of a file. The kernel takes it back when the process ends, however it ends.
class SessionController::Lock {
public:
    explicit Lock(const QString& path)
        : path_(nativePath(path))
        , descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        held_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    }
    ~Lock() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    bool held() const { return held_; }
    void remove() const {
        if (held_)
            ::unlink(path_.c_str());
    }

private:
    std::filesystem::path path_;
    int descriptor_;
    bool held_ = false;
};

SessionController::SessionController(const QString& recoveryFolder,
                                     std::function<SessionState()> collect, QObject* parent)
    : QObject(parent)
    , folder_(recoveryFolder)
    , collect_(std::move(collect)) {
    timer_.setSingleShot(true);
    timer_.setInterval(restMs);
    connect(&timer_, &QTimer::timeout, this, &SessionController::autosave);
}

SessionController::~SessionController() = default;

bool SessionController::isSettled() const {
    return lane_.isIdle();
}

void SessionController::saveAs(const QString& path) {
    try {
        const QString named = path.endsWith(suffix, Qt::CaseInsensitive) ? path : path + suffix;
        write_session_file(nativePath(named), collect_());
        path_ = QFileInfo(named).absoluteFilePath();
        emit saved(path_);
    } catch (const Error& error) {
        emit failed(QString::fromUtf8(error.what()));
    }
}

void SessionController::open(const QString& path) {
    try {
        const SessionState session = read_session_file(nativePath(path));
        path_ = QFileInfo(path).absoluteFilePath();
        waiting_ = true;
        emit opened(session);
    } catch (const Error& error) {
        emit failed(QString::fromUtf8(error.what()));
    }
}

void SessionController::setComplete(bool complete) {
    waiting_ = false;
    if (!complete) {
        path_.clear();
        restored_ = false; // what the crash left is offered again
    }
    touch();
}

void SessionController::touch() {
    if (!closed_ && !timer_.isActive())
        timer_.start();
}

void SessionController::autosave() {
    if (waiting_)
        return; // setComplete() calls again
    SessionState session = collect_();
    if (isEmpty(session))
        return;
    if (!lock_) { // the first thing worth keeping
        QDir().mkpath(folder_);
        const QString name = QStringLiteral("%1/%2-%3")
                                 .arg(folder_,
                                      QDateTime::currentDateTimeUtc().toString(
                                          QStringLiteral("yyyyMMdd-HHmmss-zzz")),
                                      QString::number(::getpid()));
        lock_ = std::make_unique<Lock>(name + QStringLiteral(".lock"));
        copy_ = lock_->held() ? name + suffix : QString();
    }
    lane_.start(
        channel,
        [path = path_, copy = copy_, session = std::move(session)](RunControl&) {
            for (const QString& each : {path, copy})
                if (!each.isEmpty())
                    write_session_file(nativePath(each), session);
            return true;
        },
        [this](JobOutcome<bool> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(
                    tr("The session is not saved: %1").arg(QString::fromUtf8(error->what())));
            else if (restored_)
                discard(); // it is kept as our own now
        });
}

void SessionController::close() {
    closed_ = true;
    timer_.stop();
    lane_.abandon(channel);
    lane_.waitForWorkers(closeMs);
    if (!path_.isEmpty() && !waiting_) {
        try {
            write_session_file(nativePath(path_), collect_());
        } catch (const Error& error) {
            emit failed(QString::fromUtf8(error.what()));
        }
    }
    if (restored_ && !waiting_)
        discard();
    if (!copy_.isEmpty())
        QFile::remove(copy_);
    if (lock_)
        lock_->remove();
    lock_.reset();
}

void SessionController::lookForCrash() {
    const QFileInfoList copies =
        QDir(folder_).entryInfoList({QLatin1Char('*') + suffix}, QDir::Files, QDir::Time);
    for (const QFileInfo& copy : copies) { // newest first
        const QString name = copy.absoluteFilePath().chopped(suffix.size());
        if (name + suffix == copy_)
            continue;
        auto lock = std::make_unique<Lock>(name + QStringLiteral(".lock"));
        if (!lock->held())
            continue; // another window's, which runs
        try {
            leftSession_ = read_session_file(nativePath(copy.absoluteFilePath()));
        } catch (const Error&) {
            leftSession_.reset(); // nobody can use it
        }
        if (!leftSession_ || isEmpty(*leftSession_)) {
            QFile::remove(copy.absoluteFilePath());
            lock->remove();
            continue;
        }
        left_ = copy.absoluteFilePath();
        leftLock_ = std::move(lock);
        emit recoverable(contents(*leftSession_));
        return;
    }
}

void SessionController::restore() {
    if (!leftSession_)
        return;
    restored_ = waiting_ = true;
    path_.clear(); // it is no file of the user's
    emit opened(*leftSession_);
}

void SessionController::discard() {
    restored_ = false;
    leftSession_.reset();
    if (!left_.isEmpty())
        QFile::remove(left_);
    left_.clear();
    if (leftLock_)
        leftLock_->remove();
    leftLock_.reset();
}

} // namespace cuset
