// The window as a process of its own, which starts a run: for tests that kill it.
// usage: training_window SETTINGS CONFIG.json
#include <cstdio>

#include <QApplication>

#include "ui/shell/main_window.h"

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    if (argc != 3)
        return static_cast<int>(cuset::ExitCode::usage);
    cuset::MainWindow window(QString::fromLocal8Bit(argv[1]));
    window.show();
    try {
        window.training()->launcher()->start(cuset::read_train_config(argv[2]));
    } catch (const cuset::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(cuset::exit_code(error.code()));
    }
    return QApplication::exec();
}
