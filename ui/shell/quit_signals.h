// SIGTERM, SIGINT and SIGHUP close the window as a person would: work is stopped, settings and
// scores are saved.
#pragma once

#include <functional>

#include <QObject>

namespace cuset {

class QuitSignals : public QObject {
    Q_OBJECT
public:
    // One at a time in a process. `quit` runs on the GUI thread.
    QuitSignals(std::function<void()> quit, QObject* parent);
    ~QuitSignals() override;

private:
    std::function<void()> quit_;
};

} // namespace cuset
