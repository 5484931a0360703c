// Corrected labels: marking, undo, the file beside the data, and scores that come again.
#include <fstream>
#include <sstream>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "core/model/label_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/regions/correction_panel.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::kernelText;
using test::labelledSample;
using test::scoreSet;
using test::waitFor;

class Corrections : public ::testing::Test {
protected:
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    void open(MainWindow& window, const QString& path) {
        window.show();
        window.openPaths({path});
        settle(window);
    }
    void settle(MainWindow& window) {
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    }
    QString writeScores() const {
        write_score_file(
            file("set.scores.safetensors").toStdString(),
            *scoreSet({labelledSample("one", kernelText()), labelledSample("two", "int x = 1;")}));
        return file("set.scores.safetensors");
    }
    QAction* action(MainWindow& window, const char* text) {
        for (QAction* each : window.findChildren<QAction*>())
            if (each->text().remove(QLatin1Char('&')) == QLatin1String(text))
                return each;
        ADD_FAILURE() << text;
        return nullptr;
    }
    // The bytes of `word` in the kernel's text.
    static ByteSpan spanOf(const std::string& word) {
        const auto begin = static_cast<int>(kernelText().find(word));
        return {begin, begin + static_cast<int>(word.size())};
    }
    static LabelBits labelsAt(MainWindow& window, const std::string& word) {
        const auto& figures = *window.analysis()->figures();
        return figures.labels()[static_cast<std::size_t>(figures.tokenAt(spanOf(word).begin))];
    }
    std::string saved() const {
        std::ifstream in(file("set.labels.json").toStdString());
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }

    QTemporaryDir folder;
};

TEST_F(Corrections, MarkUndoRedo) {
    MainWindow window(file("settings.json"));
    open(window, writeScores());
    const LabelBits before = labelsAt(window, "2.0f");
    const std::int64_t atomics =
        window.kinds()->row(static_cast<int>(SensitiveKind::atomic)).tokens;
    window.findChild<CodeView*>()->selectBytes(spanOf("2.0f"));
    action(window, "Mark as atomic")->trigger();
    EXPECT_EQ(labelsAt(window, "2.0f"), kernel_bit | kind_bit(SensitiveKind::atomic));
    EXPECT_NE(saved().find("\"kind\": \"atomic\""), std::string::npos) << saved();
    settle(window);
    EXPECT_GT(window.kinds()->row(static_cast<int>(SensitiveKind::atomic)).tokens, atomics);
    auto* undo = window.maskSettings()->undoStack();
    EXPECT_EQ(undo->undoText(), QStringLiteral("Mark as atomic"));
    window.maskSettings()->setTau(0.3);
    undo->undo(); // the threshold
    EXPECT_EQ(labelsAt(window, "2.0f"), kernel_bit | kind_bit(SensitiveKind::atomic));
    undo->undo();
    EXPECT_EQ(labelsAt(window, "2.0f"), before);
    EXPECT_EQ(saved().find("atomic"), std::string::npos);
    undo->redo();
    EXPECT_EQ(labelsAt(window, "2.0f"), kernel_bit | kind_bit(SensitiveKind::atomic));
    EXPECT_NE(saved().find("atomic"), std::string::npos);
}

TEST_F(Corrections, NeutralAndTheTokenPanel) {
    MainWindow window(file("settings.json"));
    open(window, writeScores());
    EXPECT_TRUE(is_cuda_sensitive(labelsAt(window, "threadIdx")));
    const auto& figures = *window.analysis()->figures();
    window.selection()->setToken(figures.tokenAt(spanOf("threadIdx").begin));
    action(window, "Mark as neutral")->trigger(); // of the selected token
    EXPECT_EQ(labelsAt(window, "threadIdx"), kernel_bit);
    bool said = false;
    for (const QLabel* label : window.findChild<TokenPanel*>()->findChildren<QLabel*>())
        said |= label->text().contains(QStringLiteral("corrected by you"));
    EXPECT_TRUE(said);
    action(window, "Take correction back")->trigger();
    EXPECT_TRUE(is_cuda_sensitive(labelsAt(window, "threadIdx")));
}

TEST_F(Corrections, AreReadAgainAndSurviveARescore) {
    {
        MainWindow window(file("settings.json"));
        open(window, writeScores());
        window.labels()->mark("one", spanOf("2.0f"), SensitiveKind::atomic);
        window.close();
    }
    writeScores(); // scored again: the labels that were computed
    MainWindow window(file("settings.json"));
    open(window, file("set.scores.safetensors"));
    EXPECT_EQ(labelsAt(window, "2.0f"), kernel_bit | kind_bit(SensitiveKind::atomic));
    ASSERT_EQ(window.labels()->corrections().size(), 1u);
    // Data of that name have the same corrections.
    std::ofstream(file("set.jsonl").toStdString())
        << R"({"id":"one","prompt":"p","response":"int x;"})" << '\n';
    open(window, file("set.jsonl"));
    EXPECT_EQ(window.labels()->corrections().size(), 1u);
}

// A score file that the command line wrote with a correction in it, taken back since.
TEST_F(Corrections, BakedLabelsGoBackToTheText) {
    const std::vector<LabelCorrection> corrections{
        {"one", spanOf("threadIdx"), SensitiveKind::atomic}};
    const auto scores = scoreSet({labelledSample("one", kernelText())});
    write_score_file(file("set.scores.safetensors").toStdString(),
                     *corrected_scores(scores, corrections));
    write_label_file(file("set.labels.json").toStdString(), corrections);
    MainWindow window(file("settings.json"));
    open(window, file("set.scores.safetensors"));
    EXPECT_TRUE(labelsAt(window, "threadIdx") & kind_bit(SensitiveKind::atomic));
    window.labels()->remove({0});
    EXPECT_FALSE(labelsAt(window, "threadIdx") & kind_bit(SensitiveKind::atomic));
    EXPECT_TRUE(labelsAt(window, "threadIdx") & kind_bit(SensitiveKind::thread_index));
}

TEST_F(Corrections, ABrokenFileIsSaidAndKept) {
    std::ofstream(file("set.labels.json").toStdString()) << "{ not ours";
    MainWindow window(file("settings.json"));
    open(window, writeScores());
    ASSERT_EQ(window.messages()->texts().size(), 1);
    EXPECT_TRUE(window.messages()->texts().first().contains(QStringLiteral("set.labels.json")));
    window.messages()->clear();
    window.labels()->mark("one", spanOf("2.0f"), SensitiveKind::atomic);
    EXPECT_TRUE(window.labels()->corrections().empty());
    EXPECT_EQ(window.messages()->texts().size(), 1);
    EXPECT_EQ(saved(), "{ not ours");
}

TEST_F(Corrections, ANewOneReplacesWhatItCovers) {
    MainWindow window(file("settings.json"));
    open(window, writeScores());
    LabelState* labels = window.labels();
    labels->mark("one", {10, 14}, SensitiveKind::atomic);
    labels->mark("one", {8, 20}, std::nullopt);
    ASSERT_EQ(labels->corrections().size(), 1u);
    labels->mark("one", {10, 14}, SensitiveKind::atomic);
    EXPECT_EQ(labels->corrections().size(), 2u);
    EXPECT_EQ(labels->touching("one", {11, 12}), 1);
    EXPECT_EQ(labels->touching("one", {8, 9}), 0);
    EXPECT_EQ(labels->touching("two", {8, 9}), -1);
    labels->mark("one", {5, 5}, std::nullopt);
    labels->mark("", {5, 9}, std::nullopt);
    EXPECT_EQ(labels->corrections().size(), 2u);
}

TEST_F(Corrections, OtherSamplesHaveOtherUndoSteps) {
    MainWindow window(file("settings.json"));
    open(window, writeScores());
    window.labels()->mark("one", spanOf("2.0f"), SensitiveKind::atomic);
    write_score_file(file("other.scores.safetensors").toStdString(),
                     *scoreSet({labelledSample("x", kernelText())}));
    open(window, file("other.scores.safetensors"));
    EXPECT_TRUE(window.labels()->corrections().empty());
    EXPECT_FALSE(window.maskSettings()->undoStack()->canUndo());
    EXPECT_NE(saved().find("atomic"), std::string::npos);
}

TEST_F(Corrections, PanelListsAndRemoves) {
    MainWindow window(file("settings.json"));
    open(window, writeScores());
    auto* panel = window.findChild<CorrectionPanel*>();
    QAbstractItemModelTester tester(panel->tableView()->model(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    window.labels()->mark("two", {4, 5}, SensitiveKind::atomic);
    window.labels()->mark("gone", {0, 5}, std::nullopt);
    ASSERT_EQ(panel->tableView()->model()->rowCount(), 2);
    const auto cell = [&](int row, int column) {
        return panel->tableView()->model()->index(row, column).data().toString();
    };
    EXPECT_EQ(cell(0, CorrectionTableModel::Text), QStringLiteral("x"));
    EXPECT_EQ(cell(1, CorrectionTableModel::Label), QStringLiteral("neutral"));
    EXPECT_EQ(cell(1, CorrectionTableModel::Text), QStringLiteral("not open"));
    emit panel->tableView()->clicked(panel->tableView()->model()->index(0, 0));
    EXPECT_EQ(window.selection()->sample(), 1);
    EXPECT_EQ(window.findChild<CodeView*>()->selectedText(), QStringLiteral("x"));
    panel->tableView()->selectRow(1);
    panel->findChild<QPushButton*>()->click();
    ASSERT_EQ(window.labels()->corrections().size(), 1u);
    EXPECT_EQ(window.labels()->corrections()[0].sample_id, "two");
}

} // namespace
} // namespace cuset
