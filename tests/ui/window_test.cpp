#include <filesystem>
#include <fstream>

#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QImage>
#include <QLabel>
#include <QProcess>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::kernelText;
using test::scoredSample;
using test::scoreSet;
using test::waitFor;

class Window : public ::testing::Test {
protected:
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    QString writeScores(const char* name) const {
        const auto scores = scoreSet(
            {scoredSample("one", "a prompt", kernelText()), scoredSample("two", "", "int x = 1;")});
        write_score_file(file(name).toStdString(), *scores);
        return file(name);
    }
    QString writeText(const char* name, const std::string& text) const {
        std::ofstream(file(name).toStdString(), std::ios::binary) << text;
        return file(name);
    }
    void open(MainWindow& window, const QStringList& paths) const {
        window.openPaths(paths);
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    }

    QTemporaryDir folder;
};

TEST_F(Window, AScoreFileNeedsNoModel) {
    MainWindow window(file("settings.json"));
    window.show();
    open(window, {writeScores("a.scores.safetensors")});
    EXPECT_EQ(window.workspace()->sampleCount(), 2);
    EXPECT_EQ(window.selection()->sample(), 0);
    ASSERT_NE(window.analysis()->figures(), nullptr);
    ASSERT_NE(window.analysis()->corpus(), nullptr);
    EXPECT_TRUE(window.messages()->texts().isEmpty());
    EXPECT_EQ(window.outcome(), ExitCode::ok);
}

TEST_F(Window, WrongFilesAreSaidAndLoseNothing) {
    MainWindow window(file("settings.json"));
    open(window, {writeScores("a.scores.safetensors")});
    const std::vector<QString> wrong{file("missing.scores.safetensors"),
                                     writeText("junk.scores.safetensors", "not a score file"),
                                     writeText("empty.scores.safetensors", ""),
                                     writeText("empty.jsonl", ""),
                                     writeText("junk.gguf", "GGUFnot"),
                                     file("missing.jsonl")};
    for (const QString& path : wrong) {
        window.messages()->clear();
        open(window, {path});
        ASSERT_EQ(window.messages()->texts().size(), 1) << path.toStdString();
        EXPECT_TRUE(window.messages()->texts().first().contains(path.section(QLatin1Char('/'), -1)))
            << window.messages()->texts().first().toStdString();
        EXPECT_EQ(window.workspace()->sampleCount(), 2) << path.toStdString();
        EXPECT_NE(window.analysis()->figures(), nullptr);
    }
    EXPECT_NE(window.outcome(), ExitCode::ok);
}

TEST_F(Window, CodeChartsAndSelectionAreOne) {
    MainWindow window(file("settings.json"));
    window.show();
    open(window, {writeScores("a.scores.safetensors")});
    auto* code = window.findChild<CodeView*>();
    auto* chart = window.findChild<WindowChart*>();
    ASSERT_TRUE(code && chart);
    emit chart->tokenClicked(7);
    EXPECT_EQ(window.selection()->token(), 7);
    const int caret = static_cast<int>(code->SendScintilla(QsciScintillaBase::SCI_GETCURRENTPOS));
    EXPECT_EQ(window.analysis()->figures()->tokenAt(caret), 7);
    const auto byte = static_cast<int>(kernelText().find("__syncthreads"));
    code->SendScintilla(QsciScintillaBase::SCI_GOTOPOS, static_cast<unsigned long>(byte));
    ASSERT_TRUE(waitFor(
        [&] { return window.selection()->token() == window.analysis()->figures()->tokenAt(byte); },
        3000));
    EXPECT_EQ(chart->markedToken(), window.selection()->token());
}

TEST_F(Window, DataFileWithScoresBesideItComesScored) {
    std::string lines;
    lines += "{\"id\":\"one\",\"prompt\":\"p\",\"response\":\"int x = 1;\"}\n";
    lines += "{\"id\":\"two\",\"prompt\":\"p\",\"response\":\"int y = 2;\"}\n";
    const QString data = writeText("set.jsonl", lines);
    write_score_file(file("set.scores.safetensors").toStdString(),
                     *scoreSet({scoredSample("two", "p", "int y = 2;")}));
    MainWindow window(file("settings.json"));
    open(window, {data});
    EXPECT_EQ(window.workspace()->sampleCount(), 2);
    EXPECT_EQ(window.workspace()->scoredCount(), 1);
    EXPECT_EQ(window.workspace()->scoredIndex(1), 0);
}

TEST_F(Window, SavingNeverOverwritesOtherScores) {
    const auto mine = scoreSet({scoredSample("one", "", "x y z")});
    const QString wanted = file("set.scores.safetensors");
    EXPECT_EQ(ScoringController::freeScorePath(wanted, *mine), wanted);
    writeScores("set.scores.safetensors"); // two samples of the same model
    EXPECT_EQ(ScoringController::freeScorePath(wanted, *mine),
              file("set.synthetic.scores.safetensors"));
    writeText("set.synthetic.scores.safetensors", "something of somebody else");
    EXPECT_EQ(ScoringController::freeScorePath(wanted, *mine),
              file("set.synthetic.2.scores.safetensors"));
}

TEST_F(Window, EverythingWithATextIsInThePaletteAndControlsHaveNames) {
    MainWindow window(file("settings.json"));
    open(window, {writeScores("a.scores.safetensors")});
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
        const bool own = !button->objectName().startsWith(QLatin1String("qt_"))
            && QString::fromLatin1(button->metaObject()->className()).startsWith(QLatin1String("Q"))
            && button->parentWidget() && !button->parentWidget()->inherits("QAbstractItemView")
            && !button->parentWidget()->inherits("QLineEdit")
            && !button->parentWidget()->inherits("QToolBar")
            && !button->parentWidget()->inherits("QDockWidget")
            && !button->parentWidget()->inherits("QTabBar");
        if (own) {
            EXPECT_FALSE(button->text().isEmpty() && button->accessibleName().isEmpty())
                << button->metaObject()->className() << " in "
                << button->parentWidget()->metaObject()->className();
        }
    }
}

TEST_F(Window, PaletteChangesAreFollowedAtOnce) {
    MainWindow window(file("settings.json"));
    window.show();
    open(window, {writeScores("a.scores.safetensors")});
    window.setAppearance(QStringLiteral("dark"));
    waitFor([] { return false; }, 100);
    const QImage picture = window.grab().toImage();
    const QPoint middle = window.findChild<CodeView*>()->mapTo(&window, QPoint(5, 5));
    EXPECT_LT(picture.pixelColor(middle).lightness(), 100);
    window.setAppearance(QStringLiteral("system"));
}

TEST_F(Window, LongSamplesStaySmooth) {
    std::string text;
    while (text.size() < 110000)
        text += kernelText();
    const ScoredSample sample = scoredSample("long", "", text);
    ASSERT_GT(sample.encoding.response_tokens(), 32768);
    write_score_file(file("long.scores.safetensors").toStdString(), *scoreSet({sample}));
    MainWindow window(file("settings.json"));
    window.show();
    open(window, {file("long.scores.safetensors")});
    QElapsedTimer timer;
    timer.start();
    constexpr int moves = 10;
    for (int step = 0; step < moves; ++step) {
        window.maskSettings()->setTau(0.1 + step * 0.05);
        QCoreApplication::processEvents();
    }
    // A generous bound for shared machines and unoptimised builds; far above what a person would
    // notice fails.
    EXPECT_LT(timer.elapsed() / moves, 400);
}

TEST_F(Window, PictureAsAProcess) {
    QProcess process;
    const QString picture = file("window.png");
    process.start(QStringLiteral(CUSET_STUDIO_PROGRAM),
                  {QStringLiteral("--screenshot"), picture, QStringLiteral("--size"),
                   QStringLiteral("1366x768"), QStringLiteral("--view"),
                   QStringLiteral("mask,dark"), writeScores("a.scores.safetensors")});
    ASSERT_TRUE(process.waitForFinished(60000));
    EXPECT_EQ(process.exitCode(), 0) << process.readAllStandardError().toStdString();
    EXPECT_EQ(QImage(picture).size(), QSize(1366, 768));
}

TEST_F(Window, ProgramsExitCodes) {
    const auto run = [](const QStringList& arguments) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QString::fromLatin1(name));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(CUSET_STUDIO_PROGRAM), arguments);
        process.waitForFinished(60000);
        return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    };
    EXPECT_EQ(run({QStringLiteral("--help")}), 0);
    EXPECT_EQ(run({QStringLiteral("--version")}), 0);
    EXPECT_EQ(run({QStringLiteral("--no-such-option")}), 2);
    EXPECT_EQ(run({QStringLiteral("--view"), QStringLiteral("nothing")}), 2);
    EXPECT_EQ(run({QStringLiteral("--size"), QStringLiteral("big")}), 2);
    EXPECT_EQ(run({}), 1) << "no display";
    EXPECT_EQ(
        run({QStringLiteral("--screenshot"), file("x.png"), file("missing.scores.safetensors")}),
        3);
    EXPECT_EQ(run({QStringLiteral("--screenshot"), QStringLiteral("/nowhere/x.png"),
                   writeScores("b.scores.safetensors")}),
              5);
}

} // namespace
} // namespace cuset
