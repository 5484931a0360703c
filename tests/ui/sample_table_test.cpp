#include <QAbstractItemModelTester>
#include <QFile>
#include <QFont>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "ui/dataset/dataset_panel.h"
#include "ui/dataset/sample_filter_proxy.h"
#include "ui/dataset/sample_table_model.h"

namespace cuset {
namespace {

using test::kernelText;
using test::scoredSample;
using test::scoreSet;
using test::waitFor;

class SampleTable : public ::testing::Test {
protected:
    SampleTable() {
        proxy.setSourceModel(&model);
        QObject::connect(&model, &QAbstractItemModel::dataChanged, &model, [this] { ++changes; });
    }

    void openDataset() {
        auto dataset = std::make_shared<Dataset>();
        dataset->samples.push_back(
            {.id = "alpha", .prompt = "add vectors", .response = kernelText()});
        dataset->samples.push_back(
            {.id = "beta", .prompt = "say hello", .response = "int main() { return 0; }"});
        dataset->samples.push_back({.id = "gamma", .prompt = "", .response = "x"});
        workspace.setDataset(dataset, {QStringLiteral("d.jsonl")});
    }
    void openScores(const std::vector<ScoredSample>& samples) {
        workspace.setScores(scoreSet(samples), QStringLiteral("s.scores.safetensors"));
        ASSERT_TRUE(waitFor([this] { return analysis.isSettled() && kinds.isSettled(); }));
    }
    QStringList ids() const {
        QStringList all;
        for (int row = 0; row < proxy.rowCount(); ++row)
            all += proxy.index(row, SampleTableModel::Id).data().toString();
        return all;
    }

    JobRunner pool{2};
    Workspace workspace;
    MaskSettingsState mask;
    SelectionState selection;
    AnalysisState analysis{&workspace, &mask, &selection, &pool};
    KindFigures kinds{&analysis, &mask, &selection, &pool};
    UnitFigures units{&analysis, &mask, &pool};
    NoteState notes{mask.undoStack()};
    SampleTableModel model{&workspace, &analysis, &kinds, &units, &notes};
    SampleFilterProxy proxy{&workspace, &analysis, &notes};
    QAbstractItemModelTester modelTester{&model,
                                         QAbstractItemModelTester::FailureReportingMode::Fatal};
    QAbstractItemModelTester proxyTester{&proxy,
                                         QAbstractItemModelTester::FailureReportingMode::Fatal};
    int changes = 0;
};

TEST_F(SampleTable, ShowsUnscoredThenScoredSamples) {
    openDataset();
    EXPECT_EQ(model.rowCount(), 3);
    EXPECT_FALSE(
        model.index(0, SampleTableModel::Weight).data(SampleTableModel::sortRole).isValid());
    const ScoredSample beta = scoredSample("beta", "say hello", "int main() { return 0; }");
    openScores({beta});
    EXPECT_EQ(model.rowCount(), 3) << "scores of the open data keep its rows";
    EXPECT_EQ(workspace.scoredCount(), 1);
    EXPECT_EQ(model.index(1, SampleTableModel::Tokens).data(SampleTableModel::sortRole).toInt(),
              beta.encoding.response_tokens());
    EXPECT_FALSE(
        model.index(0, SampleTableModel::Tokens).data(SampleTableModel::sortRole).isValid());
}

TEST_F(SampleTable, ScoresOfOtherSamplesReplaceTheData) {
    openDataset();
    openScores({scoredSample("delta", "", "other text")});
    EXPECT_EQ(model.rowCount(), 1);
    EXPECT_FALSE(workspace.dataset());
    EXPECT_EQ(workspace.response(0), "other text");
}

TEST_F(SampleTable, SameIdWithAnotherTextIsAnotherSample) {
    openDataset();
    EXPECT_FALSE(workspace.matches(*scoreSet({scoredSample("beta", "", "changed")})));
    EXPECT_TRUE(workspace.matches(*scoreSet({scoredSample("gamma", "", "x")})));
}

TEST_F(SampleTable, FollowsThresholds) {
    openScores({scoredSample("a", "", kernelText())});
    const auto kept = [&] {
        return model.index(0, SampleTableModel::Kept).data(SampleTableModel::sortRole).toDouble();
    };
    MaskSettings none;
    none.cuda_mask = false;
    none.tau = 1;
    changes = 0;
    mask.set(none, QStringLiteral("test"));
    ASSERT_TRUE(waitFor([&] { return changes > 0; }));
    EXPECT_DOUBLE_EQ(kept(), 0);
    mask.undoStack()->undo();
    ASSERT_TRUE(waitFor([&] { return changes > 1; }));
    EXPECT_GT(kept(), 0.9);
}

TEST_F(SampleTable, ManyMovesAreFollowedOnce) {
    openScores({scoredSample("a", "", kernelText())});
    changes = 0; // those of push are the kinds' own
    for (int step = 0; step < 100; ++step)
        mask.setTau(step / 100.0);
    ASSERT_TRUE(waitFor([&] { return analysis.isSettled(); }));
    EXPECT_EQ(changes, 1);
    EXPECT_DOUBLE_EQ(analysis.corpus()->analyzer.summary().settings.tau, 0.99);
}

TEST_F(SampleTable, FiltersByWordsAndExpressions) {
    openDataset();
    openScores({scoredSample("alpha", "", kernelText()),
                scoredSample("beta", "", "int main() { return 0; }")});
    const auto filtered = [this](const char* text) {
        EXPECT_EQ(proxy.setFilterText(QString::fromLatin1(text)), QString());
        return ids();
    };
    const QStringList alpha{QStringLiteral("alpha")};
    const QStringList beta{QStringLiteral("beta")};
    EXPECT_EQ(filtered("HELLO"), beta);
    EXPECT_EQ(filtered("threadIdx"), alpha);
    EXPECT_EQ(filtered("tokens<30"), beta) << "unscored samples have no tokens yet";
    EXPECT_EQ(filtered("difficulty >= 0 and kind.thread_index > 1%"), alpha);
    EXPECT_EQ(filtered("not (kind.thread_index > 0) and C >= 0"), beta);
    EXPECT_EQ(filtered("hello; tokens < 30"), beta);
    EXPECT_TRUE(filtered("vectors; tokens < 30").isEmpty());
    EXPECT_EQ(filtered("").size(), 3);
    filtered("hello");
    const QString problem = proxy.setFilterText(QStringLiteral("dificulty > 0.5"));
    EXPECT_TRUE(problem.contains(QStringLiteral("dificulty"))) << problem.toStdString();
    EXPECT_EQ(ids(), beta) << "a wrong filter changes nothing";
}

TEST_F(SampleTable, FilterFieldWaitsAndShowsItsError) {
    openScores({scoredSample("a", "", kernelText()), scoredSample("b", "", "x y")});
    DatasetPanel panel(&workspace, &analysis, &selection, &kinds, &units, &notes);
    panel.filterField()->setText(QStringLiteral("tokens >"));
    EXPECT_TRUE(panel.filterError().isEmpty()) << "not before a rest";
    ASSERT_TRUE(waitFor([&] { return panel.isSettled(); }));
    EXPECT_FALSE(panel.filterError().isEmpty());
    EXPECT_EQ(panel.table()->model()->rowCount(), 2);
    panel.filterField()->setText(QStringLiteral("tokens > 5"));
    ASSERT_TRUE(waitFor([&] { return panel.isSettled(); }));
    EXPECT_TRUE(panel.filterError().isEmpty());
    EXPECT_EQ(panel.table()->model()->rowCount(), 1);
}

// Once thresholds rest, an expression is asked again.
TEST_F(SampleTable, ExpressionsFollowThresholds) {
    openScores({scoredSample("a", "", kernelText())});
    DatasetPanel panel(&workspace, &analysis, &selection, &kinds, &units, &notes);
    panel.filterField()->setText(QStringLiteral("confident > 99%"));
    ASSERT_TRUE(waitFor([&] { return panel.isSettled(); }));
    EXPECT_EQ(panel.table()->model()->rowCount(), 0);
    mask.setTau(0);
    ASSERT_TRUE(waitFor([&] { return panel.table()->model()->rowCount() == 1; }));
}

TEST_F(SampleTable, PickedKindsAreCounted) {
    openScores({scoredSample("a", "", kernelText()), scoredSample("b", "", "x y")});
    DatasetPanel panel(&workspace, &analysis, &selection, &kinds, &units, &notes);
    EXPECT_TRUE(panel.table()->isColumnHidden(SampleTableModel::Picked));
    selection.setKinds(kind_bit(SensitiveKind::thread_index));
    ASSERT_TRUE(waitFor([&] { return kinds.isSettled(); }));
    EXPECT_FALSE(panel.table()->isColumnHidden(SampleTableModel::Picked));
    const auto picked = [&](int row) {
        return model.index(row, SampleTableModel::Picked).data(SampleTableModel::sortRole).toInt();
    };
    EXPECT_EQ(picked(0), 3); // threadIdx stands three times in the text
    EXPECT_EQ(picked(1), 0);
    EXPECT_TRUE(model.index(1, 0).data(Qt::ForegroundRole).isValid());
    EXPECT_FALSE(model.index(0, 0).data(Qt::ForegroundRole).isValid());
    EXPECT_EQ(panel.neighbour(1, 1), 0);
    EXPECT_EQ(panel.neighbour(0, -1), 1);
}

TEST_F(SampleTable, SortsByNumbersNotByText) {
    openScores({scoredSample("long", "", kernelText()), scoredSample("short", "", "a b"),
                scoredSample("middle", "", "int main() { return 0; }")});
    proxy.sort(SampleTableModel::Tokens, Qt::AscendingOrder);
    EXPECT_EQ(
        ids(),
        (QStringList{QStringLiteral("short"), QStringLiteral("middle"), QStringLiteral("long")}));
}

TEST_F(SampleTable, PanelAndSelectionFollowEachOther) {
    openScores(
        {scoredSample("a", "", "x"), scoredSample("b", "", "y"), scoredSample("c", "", "z")});
    DatasetPanel panel(&workspace, &analysis, &selection, &kinds, &units, &notes);
    selection.setSample(1);
    EXPECT_EQ(panel.table()->currentIndex().row(), 1);
    EXPECT_TRUE(panel.step(1));
    EXPECT_EQ(selection.sample(), 2);
    EXPECT_FALSE(panel.step(1));
    panel.table()->sortByColumn(SampleTableModel::Id, Qt::DescendingOrder);
    EXPECT_EQ(selection.sample(), 2) << "sorting moves rows, not the selection";
}

TEST_F(SampleTable, TagsAndNotesAreEditedInPlaceAndUndone) {
    const QTemporaryDir folder;
    openDataset();
    notes.open({folder.filePath(QStringLiteral("d.notes.json")), {}, {}});
    const QModelIndex tags = model.index(0, SampleTableModel::Tags);
    EXPECT_TRUE(tags.flags() & Qt::ItemIsEditable);
    EXPECT_FALSE(model.index(0, SampleTableModel::Weight).flags() & Qt::ItemIsEditable);
    EXPECT_TRUE(model.setData(tags, QStringLiteral(" race, slow ,race"), Qt::EditRole));
    EXPECT_EQ(tags.data().toString(), QStringLiteral("race, slow"));
    EXPECT_TRUE(model.setData(model.index(1, SampleTableModel::Note), QStringLiteral("<b>bold</b>"),
                              Qt::EditRole));
    EXPECT_FALSE(model.setData(model.index(0, SampleTableModel::Weight), 1, Qt::EditRole));
    const OpenedNotes saved = NoteState::read(notes.path());
    ASSERT_NE(saved.notes.find("alpha"), nullptr) << "saved at once";
    EXPECT_EQ(saved.notes.find("beta")->text, "<b>bold</b>");
    EXPECT_FALSE(model.index(1, SampleTableModel::Note)
                     .data(Qt::ToolTipRole)
                     .toString()
                     .contains(QStringLiteral("<b>")))
        << "text, never markup";
    mask.undoStack()->undo();
    mask.undoStack()->undo();
    EXPECT_TRUE(tags.data().toString().isEmpty());
    EXPECT_TRUE(NoteState::read(notes.path()).notes.notes.empty());
}

TEST_F(SampleTable, FiltersByTagsAndQuarantineAlsoUnscored) {
    const QTemporaryDir folder;
    openDataset();
    notes.open({folder.filePath(QStringLiteral("d.notes.json")), {}, {}});
    notes.addTag({QStringLiteral("alpha"), QStringLiteral("gamma")}, QStringLiteral("race"));
    notes.setText(QStringLiteral("beta"), QStringLiteral("zebra"));
    notes.setQuarantined({QStringLiteral("gamma")}, true);
    const auto filtered = [this](const char* text) {
        EXPECT_EQ(proxy.setFilterText(QString::fromLatin1(text)), QString());
        return ids();
    };
    EXPECT_EQ(filtered("tag == \"race\"").size(), 2);
    EXPECT_EQ(filtered("tag = \"race\" and not quarantined"), QStringList{QStringLiteral("alpha")});
    EXPECT_EQ(filtered("quarantined"), QStringList{QStringLiteral("gamma")});
    EXPECT_EQ(filtered("not quarantined").size(), 2);
    EXPECT_EQ(filtered("zebra"), QStringList{QStringLiteral("beta")}) << "words look into notes";
    EXPECT_EQ(filtered("noted"), QStringList{QStringLiteral("beta")});
    EXPECT_TRUE(filtered("quarantined and tokens > 0").isEmpty()) << "nothing is scored";
}

TEST_F(SampleTable, QuarantinedSamplesAreStruckOutAndCountWhenTheUserSaysSo) {
    const QTemporaryDir folder;
    openScores({scoredSample("a", "", kernelText()), scoredSample("b", "", "x y"),
                scoredSample("c", "", "int main() { return 0; }")});
    notes.open({folder.filePath(QStringLiteral("d.notes.json")), {}, {}});
    const std::int64_t all = analysis.corpus()->analyzer.summary().tokens;
    const auto tokens = [&](int row) {
        return model.index(row, SampleTableModel::Tokens).data(SampleTableModel::sortRole).toInt();
    };
    const int second = tokens(1), third = tokens(2);
    notes.setQuarantined({QStringLiteral("b")}, true);
    EXPECT_TRUE(model.index(1, 0).data(Qt::FontRole).value<QFont>().strikeOut());
    EXPECT_FALSE(model.index(0, 0).data(Qt::FontRole).value<QFont>().strikeOut());
    EXPECT_TRUE(notes.leftOut().empty()) << "not before the user says so";
    notes.setLeaveOutQuarantined(true);
    analysis.leaveOut(notes.leftOut());
    ASSERT_TRUE(waitFor([this] { return analysis.isSettled() && kinds.isSettled(); }));
    EXPECT_EQ(analysis.corpus()->analyzer.summary().samples, 2);
    EXPECT_EQ(analysis.corpus()->analyzer.summary().tokens, all - second);
    EXPECT_EQ(analysis.sample(1), nullptr);
    EXPECT_EQ(tokens(2), third) << "rows keep their own figures";
    EXPECT_EQ(analysis.rowOf(1), 2);
    EXPECT_EQ(analysis.corpusIndex(2), 1);
    selection.setSample(1);
    EXPECT_NE(analysis.figures(), nullptr) << "it can still be looked at";
    mask.undoStack()->undo();
    analysis.leaveOut(notes.leftOut());
    ASSERT_TRUE(waitFor([this] { return analysis.isSettled(); }));
    EXPECT_EQ(analysis.corpus()->analyzer.summary().tokens, all);
    notes.setQuarantined({QStringLiteral("a"), QStringLiteral("c")}, true);
    notes.setLeaveOutQuarantined(true);
    analysis.leaveOut(notes.leftOut());
    ASSERT_TRUE(waitFor([this] { return analysis.isSettled(); }));
    EXPECT_EQ(analysis.corpus()->analyzer.summary().samples, 0) << "nothing is left to count";
}

TEST_F(SampleTable, PushFollowsTheChosenObjective) {
    openScores({scoredSample("a", "", kernelText())});
    const auto push = [&] {
        return model.index(0, SampleTableModel::Push).data(SampleTableModel::sortRole).toDouble();
    };
    const double cuset = push();
    EXPECT_GT(cuset, 0);
    selection.setObjective(TokenObjective::sft);
    ASSERT_TRUE(waitFor([this] { return kinds.isSettled(); }));
    double plain = 0;
    for (const float c : analysis.figures() ? analysis.figures()->confidence()
                                            : analysis.corpus()->analyzer.confidence())
        plain += 1.0 - static_cast<double>(c);
    EXPECT_NEAR(push(), plain, 1e-4);
    EXPECT_NE(push(), cuset);
}

// The chosen unit of each sample, by hand: confidence of token t is 0.05 + 0.9 (t mod 10) / 10.
TEST_F(SampleTable, TheLowestUnitOfEachSample) {
    openScores({scoredSample("two lines", "", "aa bb cc\ndd ee ff"), scoredSample("none", "", "")});
    const auto value = [&](int row) {
        return model.index(row, SampleTableModel::LowestUnit).data(SampleTableModel::sortRole);
    };
    EXPECT_FALSE(value(0).isValid()) << "nothing is computed while nobody shows it";
    units.setWanted(true);
    ASSERT_TRUE(waitFor([&] { return units.isSettled(); }));
    // Tokens "aa", " ", "bb", " ", "cc" are 0 to 4, the line's end 5, "dd" to "ff" 6 to 10.
    EXPECT_NEAR(value(0).toDouble(), 0.05 + 0.09 * 2, 1e-6) << "the first line's mean";
    EXPECT_FALSE(value(1).isValid());
    EXPECT_EQ(model.index(1, SampleTableModel::LowestUnit).data().toString(),
              QStringLiteral("\u2013"));
    units.setUnit(TextUnit::token, Aggregate::mean);
    ASSERT_TRUE(waitFor([&] { return units.isSettled(); }));
    EXPECT_NEAR(value(0).toDouble(), 0.05, 1e-6);
    EXPECT_TRUE(model.headerData(SampleTableModel::LowestUnit, Qt::Horizontal, Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("lowest token")));
    units.setUnit(TextUnit::window, Aggregate::mean);
    MaskSettings settings;
    settings.window = 2;
    mask.set(settings, QStringLiteral("test"));
    ASSERT_TRUE(waitFor([&] { return units.isSettled() && value(0).isValid(); }));
    EXPECT_FALSE(value(1).isValid());
    units.setUnit(TextUnit::statement, Aggregate::minimum);
    ASSERT_TRUE(waitFor([&] { return units.isSettled(); }));
    EXPECT_NEAR(value(0).toDouble(), 0.05, 1e-6);
}

TEST_F(SampleTable, TheNameKeepsItsRoomInANarrowPanel) {
    openScores({scoredSample("a_kernel_with_a_long_name_v2", "", "x")});
    DatasetPanel panel(&workspace, &analysis, &selection, &kinds, &units, &notes);
    panel.resize(panel.fontMetrics().averageCharWidth() * 24, 300);
    panel.show();
    ASSERT_TRUE(waitFor([&] {
        return panel.table()->columnWidth(SampleTableModel::Id)
            >= panel.fontMetrics().averageCharWidth() * 18;
    }));
    EXPECT_EQ(panel.table()->textElideMode(), Qt::ElideMiddle);
}

TEST(NotesOfADamagedFile, AreNotOverwritten) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("d.notes.json"));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("{\"format\": \"cuset-notes\"");
    file.close();
    QUndoStack undo;
    NoteState notes(&undo);
    QString said;
    QObject::connect(&notes, &NoteState::failed, &notes, [&](const QString& text) { said = text; });
    notes.open(NoteState::read(path));
    notes.setQuarantined({QStringLiteral("a")}, true);
    EXPECT_TRUE(said.contains(path)) << said.toStdString();
    EXPECT_EQ(notes.find(QStringLiteral("a")), nullptr);
    EXPECT_EQ(undo.count(), 0);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(file.readAll(), QByteArray("{\"format\": \"cuset-notes\""));
}

} // namespace
} // namespace cuset
