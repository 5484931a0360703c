// SIGTERM, SIGINT and SIGHUP close the window as a person would: work is stopped, settings and
// scores are saved.
#pragma once

#include <functional>

#include <QObject>

namespace cuset {

class QuitSignals : public QObject {
    Q_OBJECT
public:
    // Takes the signals from now on. One that comes before there is a window to close is kept and
    // closes it when it is there. For the first line of main.
    static void listen();
    // One at a time in a process, after listen(). `quit` runs on the GUI thread.
    QuitSignals(std::function<void()> quit, QObject* parent);

private:
    std::function<void()> quit_;
};

} // namespace cuset
