#include "ui/shell/studio.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTemporaryDir>

#include "ui/shell/main_window.h"
#include "ui/shell/quit_signals.h"
#include "ui/shell/screenshot.h"
#include "ui/shell/studio_style.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

// The longest a closed window waits for a model that is being loaded.
constexpr int closeTimeout = 1500; // ms

constexpr int asInt(ExitCode code) {
    return static_cast<int>(code);
}

struct Arguments {
    QStringList files;
    QString model;
    QString screenshot;
    QString settings;
    QString sample;
    QString compare;
    QString prompt;
    QStringList views;
    QSize size;
    int token = -1;
};

void nameProgram() {
    QCoreApplication::setApplicationName(QStringLiteral("cuset-studio"));
    QCoreApplication::setApplicationVersion(QStringLiteral(CUSET_VERSION));
}

int usage(const QString& text) {
    std::fprintf(stderr, "cuset-studio: %s\nTry cuset-studio --help.\n", qPrintable(text));
    return asInt(ExitCode::usage);
}

// Fills `arguments`, or gives the exit code to end with. Needs no display.
std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
    const QCoreApplication application(argc, argv); // takes out its own options
    QStringList words; // QCoreApplication::arguments() loses what is not UTF-8
    for (int i = 0; i < argc; ++i)
        words += pathText(argv[i]);
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("Shows which tokens training would see, how hard, and why.\n\nFiles are "
                       "samples (.jsonl, .json, .csv, "
                       ".cu, folders), models (.gguf, Hugging Face folders), score files "
                       "(.scores.safetensors), "
                       "folders of training runs, or a session (.cuset-session)."));
    const QCommandLineOption help({QStringLiteral("h"), QStringLiteral("help")},
                                  QStringLiteral("Show this help."));
    const QCommandLineOption version(QStringLiteral("version"),
                                     QStringLiteral("Show the version."));
    const QCommandLineOption model(
        QStringLiteral("model"),
        QStringLiteral("Open a model: a path, or org/name of the hub cache."),
        QStringLiteral("MODEL"));
    const QCommandLineOption screenshot(
        QStringLiteral("screenshot"),
        QStringLiteral("Render offscreen, loaded and settled (and scored, if a model and unscored "
                       "samples are given), save a PNG and exit."),
        QStringLiteral("FILE.png"));
    const QCommandLineOption view(QStringLiteral("view"),
                                  QStringLiteral("What to put forward, several with commas: %1.")
                                      .arg(MainWindow::viewNames().join(QStringLiteral(", "))),
                                  QStringLiteral("NAME"));
    const QCommandLineOption size(QStringLiteral("size"),
                                  QStringLiteral("Size of the window, 1600x1000 in pictures."),
                                  QStringLiteral("WxH"));
    const QCommandLineOption sample(QStringLiteral("sample"),
                                    QStringLiteral("Select this sample in the picture."),
                                    QStringLiteral("ID"));
    const QCommandLineOption token(QStringLiteral("token"),
                                   QStringLiteral("Select this token (from 0) in the picture."),
                                   QStringLiteral("N"));
    const QCommandLineOption compare(
        QStringLiteral("compare"),
        QStringLiteral("Compare with a score file, a LoRA adapter's folder or a training run."),
        QStringLiteral("PATH"));
    const QCommandLineOption prompt(
        QStringLiteral("generate"),
        QStringLiteral("Write an answer to this prompt in the picture, and compile it where nvcc "
                       "is installed."),
        QStringLiteral("PROMPT"));
    const QCommandLineOption settings(QStringLiteral("settings"),
                                      QStringLiteral("Use this settings file."),
                                      QStringLiteral("FILE"));
    parser.addOptions(
        {help, version, model, screenshot, view, size, sample, token, compare, prompt, settings});
    parser.addPositionalArgument(
        QStringLiteral("files"),
        QStringLiteral("Samples, models, score files, runs, or a session."),
        QStringLiteral("[files...]"));
    if (!parser.parse(words))
        return usage(parser.errorText());
    if (parser.isSet(help)) {
        std::fputs(qPrintable(parser.helpText()), stdout);
        return asInt(ExitCode::ok);
    }
    if (parser.isSet(version)) {
        std::printf("cuset-studio %s\n", CUSET_VERSION);
        return asInt(ExitCode::ok);
    }
    arguments.files = parser.positionalArguments();
    arguments.model = parser.value(model);
    arguments.screenshot = parser.value(screenshot);
    arguments.settings = parser.value(settings);
    arguments.sample = parser.value(sample);
    arguments.compare = parser.value(compare);
    arguments.prompt = parser.value(prompt);
    arguments.views = parser.value(view).split(QLatin1Char(','), Qt::SkipEmptyParts);
    for (const QString& name : std::as_const(arguments.views))
        if (!MainWindow::viewNames().contains(name))
            return usage(QStringLiteral("--view %1: no such view; there are %2")
                             .arg(name, MainWindow::viewNames().join(QStringLiteral(", "))));
    if (parser.isSet(token)) {
        bool isNumber = false;
        arguments.token = parser.value(token).toInt(&isNumber);
        if (!isNumber || arguments.token < 0)
            return usage(
                QStringLiteral("--token %1: not a number from 0").arg(parser.value(token)));
    }
    if (parser.isSet(size)) {
        static const QRegularExpression pattern(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
        const QRegularExpressionMatch match = pattern.match(parser.value(size));
        if (!match.hasMatch())
            return usage(QStringLiteral("--size %1: give it as WIDTHxHEIGHT, as in 1600x1000")
                             .arg(parser.value(size)));
        arguments.size = QSize(match.captured(1).toInt(), match.captured(2).toInt());
    }
    return std::nullopt;
}

bool hasDisplay() {
    return qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || !qEnvironmentVariableIsEmpty("DISPLAY")
        || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

// The event loop, and the end of the work it leaves behind.
int execute(MainWindow& window) {
    const int code = QApplication::exec();
    if (!window.modelLane()->finish(closeTimeout))
        std::_Exit(code); // no file is open for writing, and settings are saved
    return code;
}

int run(int argc, char** argv, const Arguments& arguments) {
    const bool picture = !arguments.screenshot.isEmpty();
    if (picture) // what Qt says of the offscreen platform's gaps helps nobody
        qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
            if (type == QtCriticalMsg || type == QtFatalMsg)
                std::fprintf(stderr, "cuset-studio: %s\n", qPrintable(text));
        });
    if (picture && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!hasDisplay()) {
        std::fputs(
            "cuset-studio: no display (DISPLAY and WAYLAND_DISPLAY are empty); "
            "--screenshot FILE.png works without one, and so does the command line program cuset\n",
            stderr);
        return asInt(ExitCode::failure);
    }
    QApplication application(argc, argv);
    QApplication::setStyle(new StudioStyle);
    QApplication::setApplicationDisplayName(QString());
    QApplication::setDesktopFileName(QStringLiteral("cuset-studio"));
    // A picture is the same whatever the user's own layout is, and leaves it alone.
    const QTemporaryDir scratch;
    QString settings = arguments.settings;
    if (picture && settings.isEmpty())
        settings = scratch.filePath(QStringLiteral("settings.json"));
    MainWindow window(settings);
    QApplication::setQuitOnLastWindowClosed(!picture);
    const QuitSignals signalsToQuit(
        [&window, picture] {
            window.close();
            if (picture)
                QApplication::exit(asInt(ExitCode::cancelled));
        },
        &application);
    if (picture) {
        window.setAppearance(QStringLiteral("light"));
        window.resize(arguments.size.isValid() ? arguments.size : QSize(1600, 1000));
        window.resetLayout();
    } else if (arguments.size.isValid()) {
        window.resize(arguments.size);
    }
    window.show();
    if (!arguments.files.isEmpty())
        window.openPaths(arguments.files);
    if (!arguments.model.isEmpty())
        window.openModel(arguments.model);
    if (!arguments.compare.isEmpty())
        window.compareWith(arguments.compare);
    if (!picture) {
        for (const QString& view : arguments.views)
            window.showView(view);
        return execute(window);
    }
    bool hasModel = !arguments.model.isEmpty();
    for (const QString& file : arguments.files)
        hasModel |= DocumentController::kindOf(file) == FileKind::Model;
    Screenshot screenshot(&window,
                          {arguments.screenshot, arguments.views, arguments.sample, arguments.token,
                           hasModel, arguments.prompt});
    QObject::connect(&screenshot, &Screenshot::done, &application,
                     [](ExitCode code) { QApplication::exit(asInt(code)); });
    return execute(window);
}

} // namespace

int runStudio(int argc, char** argv) {
    QuitSignals::listen();
    try {
        nameProgram();
        Arguments arguments;
        if (const std::optional<int> code = parse(argc, argv, arguments))
            return *code;
        return run(argc, argv, arguments);
    } catch (const Error& error) {
        std::fprintf(stderr, "cuset-studio: %s\n", error.what());
        return asInt(exit_code(error.code()));
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "cuset-studio: %s\n", exception.what());
        return asInt(ExitCode::failure);
    }
}

} // namespace cuset
