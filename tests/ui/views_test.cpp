// The panels about what training would do: what-if surface, objectives, corpus shares, exports.
#include <atomic>
#include <fstream>
#include <sstream>

#include <QMenu>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/dataset/note_panel.h"
#include "ui/shell/main_window.h"
#include "ui/whatif/objective_panel.h"
#include "ui/whatif/what_if_panel.h"

namespace cuset {
namespace {

using test::kernelText;
using test::labelledSample;
using test::scoreSet;
using test::waitFor;

class Views : public ::testing::Test {
protected:
    Views() {
        write_score_file(file("a.scores.safetensors").toStdString(),
                         *scoreSet({labelledSample("<b>one</b>", kernelText()),
                                    labelledSample("two", "int x = threadIdx.x;")}));
        window.show();
        window.openPaths({file("a.scores.safetensors")});
        settle();
    }
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    void settle() {
        ASSERT_TRUE(waitFor([this] { return window.isSettled(); }));
    }
    WhatIfPanel* surface() {
        window.showView(QStringLiteral("whatif"));
        settle();
        return window.whatIf();
    }
    ObjectivePanel* objectives() {
        window.showView(QStringLiteral("objectives"));
        settle();
        return window.findChild<ObjectivePanel*>();
    }

    QTemporaryDir folder;
    MainWindow window{file("settings.json")};
};

TEST_F(Views, TheSurfaceIsTheSweepAndAClickAdoptsACell) {
    WhatIfPanel* panel = surface();
    panel->figureChoice()->setCurrentIndex(static_cast<int>(SweepFigure::supervised_share));
    ASSERT_FALSE(panel->chart()->isEmpty());
    const ChartTable table = panel->chart()->table();
    EXPECT_EQ(table.rows.size(), 11u * 6);
    RunControl control;
    CorpusAnalyzer analyzer(window.workspace()->scores(), control);
    analyzer.update({.tau = 0.3, .lambda = 4});
    const auto row = std::find_if(table.rows.begin(), table.rows.end(), [](const QStringList& r) {
        return r[0] == QLatin1String("0.3") && r[1] == QLatin1String("4");
    });
    ASSERT_NE(row, table.rows.end());
    EXPECT_DOUBLE_EQ((*row)[2].toDouble(), analyzer.summary().mask.supervised_share);

    emit panel->chart()->cellHovered(4, 4);
    bool said = false;
    for (const QLabel* label : panel->findChildren<QLabel*>())
        said |= label->text().contains(QStringLiteral("\u03bb 4"))
            && label->text().contains(QStringLiteral("mean weight w"));
    EXPECT_TRUE(said) << "the numbers under the pointer";
    const int steps = window.maskSettings()->undoStack()->index();
    emit panel->chart()->cellClicked(4, 1);
    EXPECT_EQ(window.maskSettings()->settings().tau, 0.3);
    EXPECT_EQ(window.maskSettings()->settings().lambda, 0.5);
    EXPECT_EQ(window.maskSettings()->settings().window, 256);
    EXPECT_EQ(window.maskSettings()->undoStack()->index(), steps + 1) << "one undo step";
    window.maskSettings()->undoStack()->undo();
    EXPECT_EQ(window.maskSettings()->settings(), MaskSettings{});
}

TEST_F(Views, TheThirdAxisIsHeldByTheSlider) {
    WhatIfPanel* panel = surface();
    panel->figureChoice()->setCurrentIndex(static_cast<int>(SweepFigure::mean_weight));
    const auto first = [panel] { return panel->chart()->table().rows.front()[2].toDouble(); };
    panel->heldSlider()->setValue(0); // l 16
    EXPECT_EQ(panel->settingsAt(0, 0).window, 16);
    const double small = first();
    panel->heldSlider()->setValue(panel->heldSlider()->maximum());
    EXPECT_EQ(panel->settingsAt(0, 0).window, 1024);
    EXPECT_GT(small, first()) << "a longer window has a higher minimum";
    panel->planeChoice()->setCurrentIndex(1); // tau and l; lambda held where it is now
    EXPECT_EQ(panel->settingsAt(2, 3).lambda, 1);
    EXPECT_EQ(panel->settingsAt(2, 3).window, 128);
    EXPECT_EQ(panel->settingsAt(2, 3).tau, 0.1);
}

// The pool's only thread is busy, so that the computation waits and can be stopped for certain.
TEST_F(Views, TheSurfaceCanBeStoppedAndComputedAgain) {
    JobRunner lane(1);
    std::atomic<bool> free{false};
    lane.start(
        QStringLiteral("busy"),
        [&](RunControl&) {
            while (!free)
                QThread::msleep(1);
            return true;
        },
        [](const JobOutcome<bool>&) {});
    WhatIfState state(window.analysis(), window.workspace(), window.maskSettings(), &lane);
    WhatIfPanel panel(&state, window.maskSettings());
    state.setWanted(true);
    EXPECT_TRUE(state.isRunning());
    state.stop();
    free = true;
    ASSERT_TRUE(waitFor([&] { return !state.isRunning(); }));
    EXPECT_TRUE(state.isStopped());
    EXPECT_TRUE(panel.chart()->isEmpty());
    EXPECT_TRUE(panel.chart()->emptyText().contains(QStringLiteral("Compute again")));
    state.compute();
    ASSERT_TRUE(waitFor([&] { return !state.isRunning(); }));
    EXPECT_FALSE(panel.chart()->isEmpty());
    EXPECT_EQ(state.progress(), 1);
}

TEST_F(Views, OtherSwitchesAreComputedAnewAndNothingWhileHidden) {
    WhatIfPanel* panel = surface();
    const double before = panel->chart()->table().rows.front()[2].toDouble();
    MaskSettings plain;
    plain.cuda_mask = false;
    window.maskSettings()->set(plain, QStringLiteral("test"));
    settle();
    EXPECT_NE(panel->chart()->table().rows.back()[2].toDouble(), before);
    EXPECT_FALSE(panel->settingsAt(0, 0).cuda_mask);
}

TEST_F(Views, ACellIsOfferedAsARunWhileSomebodyListens) {
    WhatIfPanel* panel = surface();
    const auto entries = [panel] {
        QMenu menu;
        emit panel->chart()->cellMenuRequested(&menu, 3, 2);
        return menu.actions().size();
    };
    EXPECT_EQ(entries(), 2); // the window's run form listens
    QObject::disconnect(panel, &WhatIfPanel::runRequested, nullptr, nullptr);
    EXPECT_EQ(entries(), 1);
    MaskSettings wanted;
    QObject::connect(panel, &WhatIfPanel::runRequested, panel,
                     [&](const MaskSettings& settings) { wanted = settings; });
    EXPECT_EQ(entries(), 2);
    QMenu menu;
    emit panel->chart()->cellMenuRequested(&menu, 3, 2);
    menu.actions().last()->trigger();
    EXPECT_EQ(wanted.tau, 0.2);
    EXPECT_EQ(wanted.lambda, 1);
}

TEST_F(Views, ObjectivesOverCorpusAndSampleAgreeWithCore) {
    ObjectivePanel* panel = objectives();
    ASSERT_FALSE(panel->bars()->isEmpty());
    const ChartTable table = panel->bars()->table();
    ASSERT_EQ(table.rows.size(), 6u);
    RunControl control;
    CorpusAnalyzer analyzer(window.workspace()->scores(), control);
    for (int i = 0; i < token_objective_count; ++i) {
        const ObjectivePush push =
            objective_push(analyzer, static_cast<TokenObjective>(i), {}, control);
        const QStringList& row = table.rows[static_cast<std::size_t>(i)];
        EXPECT_NEAR(row[1].toDouble(), push.corpus.total, 1e-9 + push.corpus.total * 1e-9);
        EXPECT_NEAR(row[3].toDouble(), push.corpus.sensitive_share(), 1e-9);
    }
    EXPECT_EQ(static_cast<int>(panel->curves()->table().rows.size()),
              window.analysis()->figures()->count());
}

TEST_F(Views, TheChosenObjectiveColoursPushAndCurvesFollowTheCode) {
    ObjectivePanel* panel = objectives();
    emit panel->bars()->rowClicked(static_cast<int>(TokenObjective::dft));
    EXPECT_EQ(window.selection()->objective(), TokenObjective::dft);
    EXPECT_EQ(panel->choice()->currentIndex(), static_cast<int>(TokenObjective::dft));
    const auto& figures = window.analysis()->figures();
    for (int t = 0; t < figures->count(); ++t) {
        const float c = figures->confidence()[static_cast<std::size_t>(t)];
        EXPECT_FLOAT_EQ(figures->objectivePush(t), c * (1 - c));
        EXPECT_EQ(tokenValue(*figures, t, ColorBy::Push),
                  static_cast<double>(figures->objectivePush(t)));
    }
    emit panel->curves()->tokenClicked(5);
    EXPECT_EQ(window.selection()->token(), 5);
    window.selection()->setToken(9);
    EXPECT_EQ(panel->curves()->markedToken(), 9);
}

TEST_F(Views, CorpusSharesAreTheSummarys) {
    auto* chart = qobject_cast<BarListChart*>(
        window.findChild<QDockWidget*>(QStringLiteral("shares"))->widget());
    ASSERT_NE(chart, nullptr);
    const ChartTable table = chart->table();
    const LowConfidenceSummary& low =
        window.analysis()->corpus()->analyzer.summary().low_confidence;
    ASSERT_EQ(table.rows.size(), 3u + sensitive_kind_count);
    EXPECT_EQ(table.rows[0][1].toDouble(), low.samples_share);
    EXPECT_EQ(table.rows[1][1].toDouble(), low.windows_share);
    EXPECT_EQ(table.rows[2][1].toDouble(), low.sensitive_share);
    EXPECT_EQ(table.rows[3][1].toDouble(), low.by_kind[0]);
}

TEST_F(Views, TheDensityOffersHistogramsOfTheSameTokens) {
    auto* density = window.findChild<DensityChart*>();
    density->setHistogramShown(true);
    ASSERT_TRUE(density->histogramShown());
    EXPECT_FALSE(density->table().rows.empty());
}

TEST_F(Views, ExportsWhatIsChosen) {
    window.notes()->setQuarantined({QStringLiteral("two")}, true);
    const auto lines = [this](const SampleExporter::Request& request) {
        window.exporter()->write(request);
        EXPECT_TRUE(waitFor([this] { return window.isSettled(); }));
        std::vector<nlohmann::json> all;
        std::ifstream in(request.path.toStdString());
        for (std::string line; std::getline(in, line);)
            all.push_back(nlohmann::json::parse(line));
        return all;
    };
    SampleExporter::Request request;
    request.rows = {0, 1};
    request.format = ExportFormat::data;
    request.path = file("out.jsonl");
    auto all = lines(request);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0]["id"], "<b>one</b>");
    EXPECT_EQ(all[0]["response"], kernelText());
    request.withoutQuarantined = false;
    request.format = ExportFormat::messages;
    all = lines(request);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1]["token_weights"].size(), all[1]["token_ids"].size());
    request.path = QStringLiteral("/nowhere/out.jsonl");
    window.messages()->clear();
    lines(request);
    ASSERT_EQ(window.messages()->texts().size(), 1);
    EXPECT_TRUE(window.messages()->texts()[0].contains(QStringLiteral("/nowhere/out.jsonl")));
}

TEST_F(Views, TheNotePanelKeepsWhatIsTyped) {
    window.showView(QStringLiteral("notes"));
    auto* panel = window.findChild<NotePanel*>();
    auto* text = panel->findChild<QPlainTextEdit*>();
    auto* tags = panel->findChild<QLineEdit*>();
    text->setPlainText(QStringLiteral("looks wrong"));
    tags->setText(QStringLiteral("race, slow"));
    window.selection()->setSample(1); // what was typed belongs to the sample before
    EXPECT_TRUE(text->toPlainText().isEmpty());
    const SampleNote* note = window.notes()->find(QStringLiteral("<b>one</b>"));
    ASSERT_NE(note, nullptr);
    EXPECT_EQ(note->text, "looks wrong");
    EXPECT_EQ(note->tags.size(), 2u);
    EXPECT_EQ(window.notes()->find(QStringLiteral("two")), nullptr);
    EXPECT_TRUE(QFile::exists(file("a.notes.json")));
    for (const QLabel* label : panel->findChildren<QLabel*>())
        EXPECT_EQ(label->textFormat() == Qt::PlainText || !label->text().contains(QLatin1Char('<')),
                  true);
}

} // namespace
} // namespace cuset
