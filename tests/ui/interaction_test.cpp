// What a person does with mouse and keys, and how the program ends.
#include <csignal>
#include <ctime>
#include <fstream>
#include <sstream>

#include <QApplication>
#include <QDialog>
#include <QDragEnterEvent>
#include <QElapsedTimer>
#include <QFile>
#include <QMimeData>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QToolBar>
#include <QUrl>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/shell/theme.h"

namespace cuset {
namespace {

using test::kernelText;
using test::labelledSample;
using test::scoreSet;
using test::waitFor;

class Interaction : public ::testing::Test {
protected:
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    QString writeScores() const {
        write_score_file(file("a.scores.safetensors").toStdString(),
                         *scoreSet({labelledSample("one", kernelText())}));
        return file("a.scores.safetensors");
    }
    QString writeSamples(int count) const {
        std::ofstream out(file("set.jsonl").toStdString());
        std::string text = kernelText();
        for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
            text.replace(at, 1, "\\n");
        for (int n = 0; n < count; ++n)
            out << "{\"id\":\"s" << n << "\",\"prompt\":\"Scale.\",\"response\":\"" << text
                << "\"}\n";
        return file("set.jsonl");
    }
    static void show(MainWindow& window) {
        window.resize(1280, 800);
        window.show();
        window.activateWindow();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    }

    QTemporaryDir folder;
};

TEST_F(Interaction, FilesDroppedAnywhereAreOpened) {
    MainWindow window(file("settings.json"));
    show(window);
    const QUrl url = QUrl::fromLocalFile(writeScores());
    QMimeData data;
    data.setUrls({url});
    QWidget* code = window.findChild<CodeView*>()->viewport();
    const auto drop = [&](QWidget* target) {
        QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(target, &enter);
        EXPECT_TRUE(enter.isAccepted());
        QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &event);
    };
    drop(&window);
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    EXPECT_EQ(window.workspace()->sampleCount(), 1);
    drop(code);
    QMimeData words;
    words.setText(QStringLiteral("no file"));
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &words, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(code, &enter);
    EXPECT_FALSE(enter.isAccepted()) << "text is nothing to open, and the code is read-only";
}

TEST_F(Interaction, CommandPaletteRunsWhatIsTyped) {
    MainWindow window(file("settings.json"));
    show(window);
    QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = window.findChild<CommandPalette*>();
    ASSERT_NE(palette, nullptr);
    auto* input = palette->findChild<QLineEdit*>();
    QTest::keyClicks(input, QStringLiteral("dark app"));
    QTest::keyClick(input, Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return isDark(window.palette()); }));
    ASSERT_TRUE(waitFor([&] { return window.findChild<CommandPalette*>() == nullptr; }));
    show(window); // the offscreen platform does not activate it again by itself
    QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    palette = window.findChild<CommandPalette*>();
    ASSERT_NE(palette, nullptr);
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Escape);
    EXPECT_TRUE(waitFor([&] { return window.findChild<CommandPalette*>() == nullptr; }));
    window.setAppearance(QStringLiteral("system"));
}

TEST_F(Interaction, F1ExplainsThePanelInFocus) {
    MainWindow window(file("settings.json"));
    show(window);
    window.findChild<DatasetPanel*>()->filterField()->setFocus();
    QTest::keyClick(&window, Qt::Key_F1);
    const auto explained = [] {
        const QWidgetList all = QApplication::topLevelWidgets();
        return std::any_of(all.begin(), all.end(), [](const QWidget* widget) {
            return widget->inherits("QWhatsThat") && widget->isVisible();
        });
    };
    EXPECT_TRUE(waitFor(explained, 3000));
    QTest::keyClick(QApplication::activePopupWidget() ? QApplication::activePopupWidget() : &window,
                    Qt::Key_Escape);
    EXPECT_TRUE(waitFor([&] { return !explained(); }, 3000));
}

TEST_F(Interaction, StopByMouseKeepsWhatIsScored) {
    MainWindow window(file("settings.json"));
    show(window);
    constexpr int samples = 3000;
    window.openPaths({writeSamples(samples)});
    window.openModel(QStringLiteral(CUSET_TEST_DATA "/models/qwen3"));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    ASSERT_EQ(window.workspace()->sampleCount(), samples);
    QToolBar* bar = window.findChild<QToolBar*>(QStringLiteral("toolbar"));
    QWidget* stop = nullptr;
    QWidget* score = nullptr;
    for (QAction* action : bar->actions()) {
        const QString text = action->text().remove(QLatin1Char('&'));
        if (text == QLatin1String("Stop"))
            stop = bar->widgetForAction(action);
        if (text == QLatin1String("Score"))
            score = bar->widgetForAction(action);
    }
    ASSERT_TRUE(stop && score);
    EXPECT_FALSE(stop->isEnabled());
    QTest::mouseClick(score, Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return window.workspace()->scoredCount() > 0; }, 60000));
    QElapsedTimer timer;
    timer.start();
    QTest::mouseClick(stop, Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !window.scoring()->isRunning(); }));
    EXPECT_LT(timer.elapsed(), 2000);
    const int kept = window.workspace()->scoredCount();
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, samples);
    EXPECT_EQ(read_score_file(file("set.scores.safetensors").toStdString())->sample_count(), kept);
}

TEST_F(Interaction, ClosingKeepsWhatIsScored) {
    QElapsedTimer timer;
    {
        MainWindow window(file("settings.json"));
        show(window);
        window.openPaths({writeSamples(3000)});
        window.openModel(QStringLiteral(CUSET_TEST_DATA "/models/qwen3"));
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
        window.score();
        ASSERT_TRUE(waitFor([&] { return window.workspace()->scoredCount() > 0; }, 60000));
        timer.start();
        window.close();
    }
    EXPECT_LT(timer.elapsed(), 2000);
    EXPECT_GT(read_score_file(file("set.scores.safetensors").toStdString())->sample_count(), 0);
    EXPECT_TRUE(QFile::exists(file("settings.json")));
}

// True once the process has a handler for SIGTERM.
bool catchesTerm(qint64 pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    std::string line;
    while (std::getline(status, line))
        if (line.rfind("SigCgt:", 0) == 0)
            return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1)) & 1;
    return false;
}

TEST_F(Interaction, TermAtAnyMomentEndsWell) {
    for (const int delay : {0, 20, 100, 400}) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(CUSET_STUDIO_PROGRAM),
                      {QStringLiteral("--settings"), file("settings.json"), writeScores()});
        ASSERT_TRUE(process.waitForStarted());
        ASSERT_TRUE(waitFor([&] { return catchesTerm(process.processId()); }, 30000));
        QTest::qWait(delay);
        process.terminate();
        ASSERT_TRUE(process.waitForFinished(30000)) << delay;
        EXPECT_EQ(process.exitStatus(), QProcess::NormalExit) << delay;
        EXPECT_EQ(process.exitCode(), 0) << delay;
    }
}

// Processor time of this process, in milliseconds: other programs on the machine do not count.
double processorTime() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <class Work> double measured(const char* what, const Work& work) {
    const double before = processorTime();
    work();
    const double time = processorTime() - before;
    std::printf("[ measured ] %s: %.1f ms of processor time\n", what, time);
    return time;
}

// Bounds are several times what an optimised build takes, for unoptimised and checked builds.
TEST_F(Interaction, TenThousandSamples) {
    std::vector<ScoredSample> samples;
    for (int n = 0; n < 10000; ++n)
        samples.push_back(test::scoredSample("sample " + std::to_string(n * 7919 % 10000), "p",
                                             kernelText().substr(0, 100 + n % 200)));
    MainWindow window(file("settings.json"));
    show(window);
    window.workspace()->setScores(scoreSet(samples), {});
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    auto* panel = window.findChild<DatasetPanel*>();
    QTableView* table = panel->table();
    ASSERT_EQ(table->model()->rowCount(), 10000);
    EXPECT_LT(measured("sort 10,000 samples by difficulty",
                       [&] {
                           table->sortByColumn(SampleTableModel::Difficulty, Qt::AscendingOrder);
                           QApplication::processEvents();
                       }),
              2000);
    EXPECT_LT(measured("sort 10,000 samples by id",
                       [&] {
                           table->sortByColumn(SampleTableModel::Id, Qt::AscendingOrder);
                           QApplication::processEvents();
                       }),
              3000);
    const auto filter = [&](const char* text) {
        panel->filterField()->setText(QString::fromLatin1(text));
        QTest::keyClick(panel->filterField(), Qt::Key_Return);
        QApplication::processEvents();
    };
    EXPECT_LT(measured("filter 10,000 samples by a word", [&] { filter("blockIdx"); }), 2000);
    EXPECT_LT(measured("filter 10,000 samples by an expression",
                       [&] { filter("difficulty > 0.3 and tokens > 40"); }),
              2000);
    EXPECT_GT(table->model()->rowCount(), 0);
    filter("");
    constexpr int moves = 20;
    EXPECT_LT(measured("20 moves of tau over 10,000 samples",
                       [&] {
                           for (int step = 0; step < moves; ++step) {
                               window.maskSettings()->setTau(0.1 + step * 0.01);
                               QApplication::processEvents();
                           }
                       })
                  / moves,
              200);
}

TEST_F(Interaction, FramesAreMeasured) {
    MainWindow window(file("settings.json"));
    show(window);
    window.openPaths({writeScores()});
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    FrameMeter* meter = window.frameMeter();
    window.maskSettings()->setTau(0.2);
    QTest::qWait(50);
    EXPECT_TRUE(meter->frames().empty()) << "not while it is off";
    meter->setShown(true);
    for (int step = 0; step < 5; ++step) {
        const std::size_t before = meter->frames().size();
        window.maskSettings()->setTau(0.3 + step * 0.05);
        ASSERT_TRUE(waitFor([&] { return meter->frames().size() > before; }, 3000)) << step;
    }
    EXPECT_GT(meter->quantile(0.5), 0);
    EXPECT_GE(meter->quantile(1), meter->quantile(0.5));
}

} // namespace
} // namespace cuset
