#include <QAbstractItemModelTester>

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
        ASSERT_TRUE(waitFor([this] { return analysis.isSettled(); }));
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
    SampleTableModel model{&workspace, &analysis};
    SampleFilterProxy proxy;
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
    changes = 0;
    for (int step = 0; step < 100; ++step)
        mask.setTau(step / 100.0);
    ASSERT_TRUE(waitFor([&] { return analysis.isSettled(); }));
    EXPECT_EQ(changes, 1);
    EXPECT_DOUBLE_EQ(analysis.corpus()->analyzer.summary().settings.tau, 0.99);
}

TEST_F(SampleTable, FiltersByWordsAndConditions) {
    openDataset();
    openScores({scoredSample("alpha", "", kernelText()),
                scoredSample("beta", "", "int main() { return 0; }")});
    proxy.setFilterText(QStringLiteral("HELLO"));
    EXPECT_EQ(ids(), QStringList{QStringLiteral("beta")});
    proxy.setFilterText(QStringLiteral("threadIdx"));
    EXPECT_EQ(ids(), QStringList{QStringLiteral("alpha")});
    proxy.setFilterText(QStringLiteral("tokens<30"));
    EXPECT_EQ(ids(), QStringList{QStringLiteral("beta")}) << "unscored samples have no tokens yet";
    proxy.setFilterText(QStringLiteral("tokens<30 vectors"));
    EXPECT_TRUE(ids().isEmpty());
    proxy.setFilterText(QStringLiteral("w<bad ( [ *"));
    EXPECT_TRUE(ids().isEmpty()) << "not a condition: words, and no pattern";
    proxy.setFilterText({});
    EXPECT_EQ(ids().size(), 3);
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
    DatasetPanel panel(&workspace, &analysis, &selection);
    selection.setSample(1);
    EXPECT_EQ(panel.table()->currentIndex().row(), 1);
    EXPECT_TRUE(panel.step(1));
    EXPECT_EQ(selection.sample(), 2);
    EXPECT_FALSE(panel.step(1));
    panel.table()->sortByColumn(SampleTableModel::Id, Qt::DescendingOrder);
    EXPECT_EQ(selection.sample(), 2) << "sorting moves rows, not the selection";
}

} // namespace
} // namespace cuset
