// Screenshot: waits until the window has loaded, scored and computed everything, and saves its
// picture.
#pragma once

#include <QObject>
#include <QPixmap>
#include <QString>
#include <QStringList>
#include <QTimer>

#include "core/base/exit_code.h"
#include "ui/shell/main_window.h"

namespace cuset {

struct ScreenshotRequest {
    QString file;
    QStringList views;
    QString sample; // id; "" for the first
    int token = -1; // index in the sample; -1 for the next uncertain sensitive one
    bool score = false; // a model and data were given
    QString prompt = {}; // an answer to it is written and compiled; "" for none
};

class Screenshot : public QObject {
    Q_OBJECT
public:
    Screenshot(MainWindow* window, ScreenshotRequest request, QObject* parent = nullptr);

signals:
    void done(cuset::ExitCode code);

private:
    enum class Step { Load, Select, Generate, Compile, Settle };
    void check();
    void generate();
    bool select();
    QPixmap picture() const;
    void save();

    MainWindow* window_;
    ScreenshotRequest request_;
    QTimer timer_;
    Step step_ = Step::Load;
    int quietChecks_ = 0;
};

} // namespace cuset
