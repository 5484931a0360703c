// SessionController: session files, and a copy of the running session that outlives a crash. The
// copy and a lock lie in a recovery folder; the lock ends with the process, so a copy without one
// is what a crash left.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QObject>
#include <QString>
#include <QTimer>

#include "core/io/session_file.h"
#include "ui/async/job_runner.h"

namespace cuset {

class SessionController : public QObject {
    Q_OBJECT
public:
    // `collect` gives the session as it is now. It is called on this object's thread.
    SessionController(const QString& recoveryFolder, std::function<SessionState()> collect,
                      QObject* parent = nullptr);
    ~SessionController() override;

    // The file that the session is kept in; "" until it was saved or opened.
    const QString& path() const { return path_; }
    // Saves there, and from then on by itself after each change.
    void saveAs(const QString& path);
    void save() { saveAs(path_); }
    // Reads a session file; opened() follows, or failed(). Nothing is saved until setComplete():
    // half of a session must not replace the whole.
    void open(const QString& path);
    // Whether all that the opened session names could be opened. If not, its file stays as it is
    // and is followed no more.
    void setComplete(bool complete);

    // Looks for what a crash left; recoverable() follows for the newest.
    void lookForCrash();
    // Restores it as opened() would, and forgets it once it is kept as the running session's own.
    void restore();
    void discard();

    // Something of the session changed: it is saved when things rest.
    void touch();
    // The window closes: saves now, and takes the copy away.
    void close();
    bool isSettled() const;

signals:
    void opened(const cuset::SessionState& session);
    void saved(const QString& path);
    void failed(const QString& message);
    void recoverable(const QString& what);

private:
    class Lock;
    void autosave();

    QString folder_;
    std::function<SessionState()> collect_;
    QString path_;
    QString copy_; // of the running session, in the recovery folder
    std::unique_ptr<Lock> lock_;
    QString left_; // by a crash
    std::unique_ptr<Lock> leftLock_;
    std::optional<SessionState> leftSession_;
    QTimer timer_;
    bool waiting_ = false; // for setComplete()
    bool restored_ = false;
    bool closed_ = false;
    JobRunner lane_{1}; // saves one after another
};

} // namespace cuset
