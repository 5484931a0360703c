// Sessions: saved, opened, kept up to date, and brought back after a crash.
#include <csignal>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QPushButton>
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

class Session : public ::testing::Test {
protected:
    Session() {
        write_score_file(file("a.scores.safetensors").toStdString(),
                         *scoreSet({scoredSample("one", "", "int x = 1;"),
                                    scoredSample("two", "", kernelText())}));
    }
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    QStringList copies() const {
        return QDir(file("recovery")).entryList({QStringLiteral("*.cuset-session")});
    }
    static void settle(MainWindow& window) {
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    }
    // A window with the scores, another sample, token and threshold.
    void look(MainWindow& window) const {
        window.show();
        window.openPaths({file("a.scores.safetensors")});
        settle(window);
        window.selection()->setSample(1);
        window.selection()->setToken(7);
        window.selection()->setObjective(TokenObjective::profit);
        window.maskSettings()->setTau(0.42);
        window.showView(QStringLiteral("mask"));
    }
    static void expectLooked(MainWindow& window) {
        EXPECT_EQ(window.workspace()->sampleCount(), 2);
        EXPECT_EQ(window.selection()->sample(), 1);
        EXPECT_EQ(window.selection()->token(), 7);
        EXPECT_EQ(window.selection()->objective(), TokenObjective::profit);
        EXPECT_DOUBLE_EQ(window.maskSettings()->settings().tau, 0.42);
    }

    QTemporaryDir folder;
};

TEST_F(Session, ComesBackFromItsFile) {
    {
        MainWindow window(file("settings.json"));
        look(window);
        window.session()->saveAs(file("work")); // the suffix is added
        EXPECT_EQ(window.session()->path(), file("work.cuset-session"));
        window.close();
    }
    MainWindow window(file("other-settings.json"));
    window.show();
    window.openPaths({file("work.cuset-session")});
    settle(window);
    expectLooked(window);
    EXPECT_TRUE(window.messages()->texts().isEmpty());
}

// Data are read the way they were, not by recognition.
TEST_F(Session, KeepsHowTheDataWereRead) {
    QFile data(file("odd.jsonl"));
    ASSERT_TRUE(data.open(QIODevice::WriteOnly));
    data.write("{\"id\": \"a\", \"ask\": \"p\", \"code\": \"int x;\", \"prompt\": \"not me\", "
               "\"response\": \"nor me\"}\n");
    data.close();
    {
        MainWindow window(file("settings.json"));
        ReadOptions options;
        options.prompt_field = "ask";
        options.response_field = "code";
        window.documents()->openData({file("odd.jsonl")}, options);
        settle(window);
        window.session()->saveAs(file("work.cuset-session"));
    }
    MainWindow window(file("settings.json"));
    window.openPaths({file("work.cuset-session")});
    settle(window);
    ASSERT_EQ(window.workspace()->sampleCount(), 1);
    EXPECT_EQ(window.workspace()->response(0), "int x;");
}

TEST_F(Session, IsKeptUpToDate) {
    MainWindow window(file("settings.json"));
    look(window);
    window.session()->saveAs(file("work.cuset-session"));
    window.maskSettings()->setTau(0.9);
    ASSERT_TRUE(waitFor([&] {
        return read_session_file(file("work.cuset-session").toStdString()).settings.tau == 0.9;
    }));
}

TEST_F(Session, AWrongFileIsSaidAndChangesNothing) {
    MainWindow window(file("settings.json"));
    look(window);
    QFile wrong(file("wrong.cuset-session"));
    ASSERT_TRUE(wrong.open(QIODevice::WriteOnly));
    wrong.write("{}");
    wrong.close();
    for (const char* name : {"wrong.cuset-session", "missing.cuset-session"}) {
        window.messages()->clear();
        window.openPaths({file(name)});
        settle(window);
        ASSERT_EQ(window.messages()->texts().size(), 1);
        EXPECT_TRUE(window.messages()->texts()[0].contains(QString::fromLatin1(name)));
        expectLooked(window);
    }
    EXPECT_TRUE(window.session()->path().isEmpty());
}

// Half of a session must never replace the whole.
TEST_F(Session, WhatCannotBeOpenedLeavesItsFileAlone) {
    SessionState session;
    session.scores = file("gone.scores.safetensors").toStdString();
    session.settings.tau = 0.7;
    const std::string path = file("work.cuset-session").toStdString();
    write_session_file(path, session);
    MainWindow window(file("settings.json"));
    window.show();
    window.openPaths({file("a.scores.safetensors")});
    settle(window);
    window.openPaths({file("work.cuset-session")});
    ASSERT_TRUE(waitFor([&] { return window.messages()->texts().size() == 2; }));
    EXPECT_TRUE(window.messages()->texts()[1].contains(QStringLiteral("stays as it is")));
    EXPECT_TRUE(window.session()->path().isEmpty());
    window.maskSettings()->setTau(0.2);
    ASSERT_TRUE(waitFor([&] { return copies().size() == 1 && window.session()->isSettled(); }));
    window.close();
    EXPECT_EQ(read_session_file(path), session);
}

TEST_F(Session, ACleanEndLeavesNothingToRestore) {
    {
        MainWindow window(file("settings.json"));
        look(window);
        ASSERT_TRUE(waitFor([&] { return copies().size() == 1; }));
        window.close();
    }
    EXPECT_TRUE(copies().isEmpty());
    MainWindow window(file("settings.json"));
    EXPECT_TRUE(window.messages()->texts().isEmpty());
}

TEST_F(Session, AnotherRunningWindowIsNoCrash) {
    MainWindow first(file("settings.json"));
    look(first);
    ASSERT_TRUE(waitFor([&] { return copies().size() == 1; }));
    const MainWindow second(file("settings.json"));
    EXPECT_TRUE(const_cast<MainWindow&>(second).messages()->texts().isEmpty());
}

// The program itself, killed without a chance to tidy up.
TEST_F(Session, IsOfferedAfterAKill) {
    {
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        program.setProcessEnvironment(environment);
        program.start(
            QStringLiteral(CUSET_STUDIO_PROGRAM),
            {QStringLiteral("--settings"), file("settings.json"), file("a.scores.safetensors")});
        ASSERT_TRUE(waitFor([&] { return copies().size() == 1; }, 60000));
        ::kill(static_cast<pid_t>(program.processId()), SIGKILL);
        program.waitForFinished();
    }
    ASSERT_EQ(copies().size(), 1);
    MainWindow window(file("settings.json"));
    window.show();
    ASSERT_EQ(window.messages()->texts().size(), 1);
    EXPECT_TRUE(window.messages()->texts()[0].contains(QStringLiteral("a.scores.safetensors")));
    QPushButton* restore = nullptr;
    for (QPushButton* button : window.messages()->findChildren<QPushButton*>())
        if (button->text() == QLatin1String("Restore"))
            restore = button;
    ASSERT_NE(restore, nullptr);
    restore->click();
    settle(window);
    EXPECT_EQ(window.workspace()->sampleCount(), 2);
    EXPECT_EQ(window.selection()->sample(), 0);
    EXPECT_TRUE(window.messages()->texts().isEmpty());
    // Once the running session is kept, the old copy goes.
    ASSERT_TRUE(waitFor([&] { return copies().size() == 1 && window.session()->isSettled(); }));
    window.close();
    EXPECT_TRUE(copies().isEmpty());
}

TEST_F(Session, DiscardedCopiesAreGone) {
    QDir().mkpath(file("recovery"));
    SessionState left;
    left.scores = file("a.scores.safetensors").toStdString();
    write_session_file(file("recovery/20260101-000000-000-1.cuset-session").toStdString(), left);
    QFile half(file("recovery/20250101-000000-000-2.cuset-session"));
    ASSERT_TRUE(half.open(QIODevice::WriteOnly));
    half.write("{\"format\": ");
    half.close();
    MainWindow window(file("settings.json"));
    ASSERT_EQ(window.messages()->texts().size(), 1);
    for (QPushButton* button : window.messages()->findChildren<QPushButton*>())
        if (button->text() == QLatin1String("Discard"))
            button->click();
    EXPECT_TRUE(window.messages()->texts().isEmpty());
    EXPECT_LE(copies().size(), 1);
    const MainWindow again(file("settings.json"));
    EXPECT_TRUE(const_cast<MainWindow&>(again).messages()->texts().isEmpty());
}

} // namespace
} // namespace cuset
