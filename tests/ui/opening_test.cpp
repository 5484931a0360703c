// Opening: by content and not by name, several files at once, and paths that are not UTF-8.
#include <fstream>

#include <QProcess>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/shell/main_window.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

using test::scoredSample;
using test::scoreSet;
using test::waitFor;

class Opening : public ::testing::Test {
protected:
    std::filesystem::path path(const std::string& name) const {
        return std::filesystem::path(folder.path().toStdString()) / name;
    }
    QString writeScores(const std::string& name, const std::string& response) const {
        write_score_file(path(name), *scoreSet({scoredSample("one", "", response)}));
        return pathText(path(name).native());
    }
    QString writeData(const std::string& name, const std::string& response) const {
        std::ofstream(path(name)) << "{\"id\":\"one\",\"prompt\":\"\",\"response\":\"" << response
                                  << "\"}\n";
        return pathText(path(name).native());
    }
    void open(const QStringList& paths) {
        window.openPaths(paths);
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    }
    std::string said() { return window.messages()->texts().join(QLatin1Char('\n')).toStdString(); }

    QTemporaryDir folder;
    MainWindow window{folder.filePath(QStringLiteral("settings.json"))};
};

TEST(NativePath, EveryByteComesBack) {
    std::string bytes = "/a\xc3\xa9\xf0\x9f\x98\x80";
    for (int value = 1; value < 256; ++value)
        bytes += static_cast<char>(value);
    EXPECT_EQ(nativePath(pathText(bytes)).native(), bytes);
    EXPECT_EQ(pathText("\xc3\xa9"), QStringLiteral("\u00e9"));
    EXPECT_EQ(nativePath(QStringLiteral("\u00e9\U0001F600")).native(), "\xc3\xa9\xf0\x9f\x98\x80");
    EXPECT_EQ(nativePath(pathOfUrl(QUrl(QStringLiteral("file:///tmp/a%FF%20b")))).native(),
              "/tmp/a\xff b");
    EXPECT_EQ(pathOfUrl(QUrl(QStringLiteral("https://a/b"))), QString());
}

TEST_F(Opening, AScoreFileOfAnyName) {
    open({writeScores("anything.bin", "int x;")});
    EXPECT_EQ(window.workspace()->sampleCount(), 1);
    EXPECT_NE(window.analysis()->figures(), nullptr);
    EXPECT_EQ(said(), "");
}

TEST_F(Opening, TwoScoreFilesAreNotDroppedSilently) {
    open({writeScores("first.scores.safetensors", "int x;"),
          writeScores("second.scores.safetensors", "int y;")});
    EXPECT_EQ(window.workspace()->response(0), "int x;");
    EXPECT_NE(said().find("first.scores.safetensors is opened"), std::string::npos) << said();
    EXPECT_NE(said().find("second.scores.safetensors"), std::string::npos);
}

TEST_F(Opening, DataWithTheirScores) {
    open({writeScores("else where.scores.safetensors", "int x;"), writeData("d.jsonl", "int x;")});
    EXPECT_NE(window.workspace()->dataset(), nullptr);
    EXPECT_EQ(window.workspace()->scoredCount(), 1);
    EXPECT_EQ(said(), "");
}

TEST_F(Opening, DataWithScoresOfOthersSayWhatIsShown) {
    open({writeScores("other.scores.safetensors", "int y;"), writeData("d.jsonl", "int x;")});
    EXPECT_EQ(window.workspace()->response(0), "int x;");
    EXPECT_EQ(window.workspace()->scoredCount(), 0);
    EXPECT_NE(said().find("scores of other samples"), std::string::npos) << said();
    EXPECT_NE(window.outcome(), ExitCode::ok);
    window.messages()->clear();
    open({pathText(path("other.scores.safetensors").native())});
    EXPECT_EQ(window.workspace()->response(0), "int y;");
    EXPECT_NE(said().find("d.jsonl was closed"), std::string::npos) << said();
}

TEST_F(Opening, PathsThatAreNotUtf8) {
    const QString scores = writeScores("bad\xff.scores.safetensors", "int x;");
    open({scores});
    EXPECT_EQ(window.workspace()->sampleCount(), 1) << said();
    const QString data = writeData("data\xfe.jsonl", "int z;");
    open({data});
    EXPECT_EQ(window.workspace()->response(0), "int z;") << said();
    // As an argument of the program, with the picture's own name not UTF-8 either.
    QProcess program;
    const std::string picture = path("picture\xff.png").string();
    const std::string command = std::string("exec '") + CUSET_STUDIO_PROGRAM + "' '"
        + nativePath(scores).string() + "' --screenshot '" + picture + "' --size 900x600";
    const std::string script = path("run.sh").string();
    std::ofstream(script) << command << '\n';
    program.start(QStringLiteral("/bin/sh"), {QString::fromStdString(script)});
    ASSERT_TRUE(program.waitForFinished(60000));
    EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
    EXPECT_TRUE(std::filesystem::exists(picture));
}

TEST_F(Opening, APictureThatCannotBeWrittenLeavesTheOldOne) {
    const QString scores = writeScores("a.scores.safetensors", "int x;");
    QProcess program;
    program.start(QStringLiteral(CUSET_STUDIO_PROGRAM),
                  {scores, QStringLiteral("--screenshot"),
                   folder.filePath(QStringLiteral("no/such/folder.png"))});
    ASSERT_TRUE(program.waitForFinished(60000));
    EXPECT_EQ(program.exitCode(), static_cast<int>(ExitCode::disk));
    EXPECT_TRUE(program.readAllStandardError().contains("make it first"));
}

} // namespace
} // namespace cuset
