// Writing answers in the window, offscreen on a tiny model: the same text as `cuset generate`, with
// and without an adapter, stopped, compiled, saved.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPlainTextEdit>
#include <QProcess>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "ui/generate/generate_panel.h"
#include "ui/shell/compare_controller.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::kernelText;
using test::waitFor;

const QString testData = QStringLiteral(CUSET_TEST_DATA);

class Generate : public ::testing::Test {
protected:
    Generate() {
        Settings settings;
        settings.dtype = QStringLiteral("float32");
        settings.device = QStringLiteral("cpu");
        settings.chatTemplate = QStringLiteral("none");
        SettingsStore(file("settings.json")).save(settings);
    }
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    void open(MainWindow& window) const {
        window.resize(1280, 800);
        window.show();
        window.openModel(testData + QStringLiteral("/models/qwen2"));
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
        ASSERT_TRUE(window.showView(QStringLiteral("generate")));
    }
    static QJsonObject commandLine(const QStringList& more) {
        QProcess process;
        QStringList arguments{
            QStringLiteral("generate"),     testData + QStringLiteral("/models/qwen2"),
            QStringLiteral("--prompt"),     QStringLiteral("__global__ void k("),
            QStringLiteral("--max-tokens"), QStringLiteral("24"),
            QStringLiteral("--template"),   QStringLiteral("none"),
            QStringLiteral("--dtype"),      QStringLiteral("float32"),
            QStringLiteral("--device"),     QStringLiteral("cpu"),
            QStringLiteral("--json")};
        process.start(QStringLiteral(CUSET_PROGRAM), arguments + more);
        EXPECT_TRUE(process.waitForFinished(120000));
        EXPECT_EQ(process.exitCode(), 0) << process.readAllStandardError().toStdString();
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }
    static GenerateOptions options(int tokens) {
        GenerateOptions made;
        made.max_tokens = tokens;
        return made;
    }

    QTemporaryDir folder;
};

TEST_F(Generate, BaseAndAdapterWriteWhatTheCommandLineWrites) {
    MainWindow window(file("settings.json"));
    open(window);
    const QString adapter = testData + QStringLiteral("/adapter/plain");
    GeneratePanel* panel = window.generatePanel();
    panel->setPrompt(QStringLiteral("__global__ void k("));
    panel->setOptions(options(24));
    panel->setAdapters({{QStringLiteral("plain"), adapter}});
    panel->findChild<QComboBox*>()->setCurrentIndex(1);
    emit panel->generateRequested();
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 120000));
    EXPECT_EQ(window.outcome(), ExitCode::ok)
        << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    const auto expectSame = [&](int variant, const QStringList& more) {
        const QJsonObject theirs = commandLine(more);
        const Answer& ours = panel->answer(variant)->answer();
        EXPECT_EQ(QString::fromStdString(ours.text), theirs[QStringLiteral("text")].toString());
        const QJsonArray tokens = theirs[QStringLiteral("tokens")].toArray();
        ASSERT_EQ(static_cast<qsizetype>(ours.tokens.size()), tokens.size());
        for (qsizetype t = 0; t < tokens.size(); ++t)
            EXPECT_NEAR(static_cast<double>(ours.tokens[static_cast<std::size_t>(t)].confidence),
                        std::exp(tokens[t][QStringLiteral("logprob")].toDouble()), 1e-6);
        EXPECT_EQ(ours.labels.size(), ours.tokens.size()) << "regions were found to the end";
        EXPECT_FALSE(ours.ending.isEmpty());
    };
    expectSame(0, {});
    expectSame(1, {QStringLiteral("--adapter"), adapter});
    // What is shown is the text itself, byte for byte.
    CodeView* code = panel->answer(1)->codeView();
    EXPECT_EQ(static_cast<std::size_t>(code->SendScintilla(QsciScintillaBase::SCI_GETLENGTH)),
              panel->answer(1)->answer().text.size());
}

TEST_F(Generate, AStopKeepsWhatIsThere) {
    MainWindow window(file("settings.json"));
    open(window);
    GeneratePanel* panel = window.generatePanel();
    panel->setPrompt(QStringLiteral("int x"));
    GenerateOptions sampled = options(100000);
    sampled.temperature = 1;
    panel->setOptions(sampled);
    emit panel->generateRequested();
    ASSERT_TRUE(waitFor([&] { return panel->answer(0)->answer().tokens.size() > 3; }, 60000));
    emit panel->stopRequested();
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 60000));
    const Answer& answer = panel->answer(0)->answer();
    EXPECT_GT(answer.tokens.size(), 3u);
    EXPECT_FALSE(answer.ending.isEmpty());
    EXPECT_EQ(window.outcome(), ExitCode::ok);
    // Once more, at once: the older answer is gone.
    panel->setOptions(options(2));
    emit panel->generateRequested();
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 60000));
    EXPECT_LE(panel->answer(0)->answer().tokens.size(), 2u);
}

TEST_F(Generate, ThePromptOfTheSampleIsTakenAndTheAnswerSaved) {
    QFile data(file("set.jsonl"));
    ASSERT_TRUE(data.open(QFile::WriteOnly));
    data.write("{\"id\":\"a\",\"prompt\":\"<b>Scale</b>.\",\"response\":\"int x;\"}\n");
    data.close();
    MainWindow window(file("settings.json"));
    window.openPaths({file("set.jsonl")});
    open(window);
    GeneratePanel* panel = window.generatePanel();
    for (QToolButton* button : panel->findChildren<QToolButton*>())
        if (button->text() == GeneratePanel::tr("Use the sample's"))
            button->click();
    EXPECT_EQ(panel->request().sample.prompt, "<b>Scale</b>.");
    EXPECT_EQ(panel->findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("<b>Scale</b>."));
    panel->setOptions(options(4));
    emit panel->generateRequested();
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 60000));
    panel->saveTo(0, file("set.jsonl"));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 60000));
    ASSERT_EQ(window.workspace()->sampleCount(), 2) << "it joins the open data";
    EXPECT_EQ(window.workspace()->prompt(1), "<b>Scale</b>.");
    // As text: a character that the answer broke off is U+FFFD in a JSON file.
    EXPECT_EQ(QString::fromStdString(std::string(window.workspace()->response(1))),
              QString::fromStdString(panel->answer(0)->answer().text));
    window.messages()->clear();
    panel->saveTo(0, file("set.txt"));
    ASSERT_EQ(window.messages()->texts().size(), 1);
}

TEST_F(Generate, CompilerMessagesStandAtTheirLines) {
    if (find_nvcc().empty())
        GTEST_SKIP() << "no nvcc here";
    JobRunner pool(2);
    AnswerView view(QStringLiteral("test"), &pool);
    view.resize(700, 500);
    view.show();
    view.start(QStringLiteral("Base model"));
    const std::string text = "```cuda\n__global__ void k(float* x) {\n    x[threadIdx.x] = wrong;\n"
                             "}\n```\n";
    for (std::size_t at = 0; at < text.size(); at += 4) {
        AnswerToken token;
        token.bytes = text.substr(at, 4);
        token.confidence = token.bytes.find("wro") != std::string::npos ? 0.05f : 0.9f;
        view.add(token);
    }
    view.end(QStringLiteral("ended"));
    ASSERT_TRUE(waitFor([&] { return view.isSettled(); }));
    view.compile();
    ASSERT_TRUE(waitFor([&] { return view.isSettled(); }, 90000));
    ASSERT_TRUE(view.compiled());
    EXPECT_FALSE(view.compiled()->ok);
    ASSERT_GE(view.messageList()->count(), 1);
    const QString row = view.messageList()->item(0)->text();
    EXPECT_TRUE(row.startsWith(QStringLiteral("line 3"))) << row.toStdString();
    EXPECT_TRUE(row.contains(QStringLiteral("wrong"))) << row.toStdString();
    using S = QsciScintillaBase;
    EXPECT_GT(view.codeView()->SendScintilla(S::SCI_ANNOTATIONGETLINES, 2UL), 0);
    EXPECT_EQ(view.codeView()->SendScintilla(S::SCI_ANNOTATIONGETLINES, 1UL), 0);
    // A new answer takes them away.
    view.start({});
    EXPECT_EQ(view.messageList()->count(), 0);
}

TEST(AnswerFigures, MeansByClassAndCharactersCutBetweenTokens) {
    Answer answer;
    for (const auto& [bytes, confidence] : {std::pair("a\xc3", 0.2f), {"\xa4", 0.6f}, {"", 1.0f}}) {
        AnswerToken token;
        token.bytes = bytes;
        token.confidence = confidence;
        answer.add(token);
    }
    answer.labels = {kind_bit(SensitiveKind::atomic), 0};
    EXPECT_EQ(answer.text, "a\xc3\xa4");
    EXPECT_EQ(answer.tokenAt(2), 1);
    EXPECT_EQ(answer.tokenAt(3), -1);
    EXPECT_NEAR(answer.means().all, 0.6, 1e-6);
    EXPECT_NEAR(answer.means().sensitive, 0.2, 1e-6);
    EXPECT_NEAR(answer.means().neutral, 0.6, 1e-6);
    JobRunner pool(1);
    AnswerView view(QStringLiteral("cut"), &pool);
    view.start({});
    for (const AnswerToken& token : answer.tokens)
        view.add(token);
    view.end({});
    EXPECT_TRUE(waitFor([&] { return view.isSettled(); }));
    EXPECT_EQ(view.codeView()->SendScintilla(QsciScintillaBase::SCI_GETLENGTH), 3);
}

} // namespace
} // namespace cuset
