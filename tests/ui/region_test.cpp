// Regions in the window: the table of kinds, what a chosen kind does, moving between spans, and
// what the header says of a response.
#include <cmath>
#include <fstream>
#include <sstream>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "core/cuda/structure.h"
#include "core/cuda/token_labels.h"
#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/editor/region_layer.h"
#include "ui/regions/region_panel.h"
#include "ui/shell/main_window.h"
#include "ui/state/navigation.h"

namespace cuset {
namespace {

using test::kernelText;
using test::labelledSample;
using test::scoreSet;
using test::waitFor;

constexpr LabelBits threads = kind_bit(SensitiveKind::thread_index);
constexpr LabelBits shared = kind_bit(SensitiveKind::shared_memory);

class Regions : public ::testing::Test {
protected:
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    void open() {
        write_score_file(
            file("a.scores.safetensors").toStdString(),
            *scoreSet({labelledSample("one", kernelText()), labelledSample("two", "int x = 1;"),
                       labelledSample("three", kernelText())}));
        window.show();
        window.openPaths({file("a.scores.safetensors")});
        settle();
    }
    void settle() {
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    }
    QAction* action(const char* text) {
        for (QAction* each : window.findChildren<QAction*>())
            if (each->text().remove(QLatin1Char('&')) == QLatin1String(text))
                return each;
        ADD_FAILURE() << text;
        return nullptr;
    }
    std::string chosenToken() {
        const auto& figures = *window.analysis()->figures();
        const ByteSpan span =
            figures.spans()[static_cast<std::size_t>(window.selection()->token())];
        return std::string(figures.scores()
                               .response(figures.index())
                               .substr(static_cast<std::size_t>(span.begin),
                                       static_cast<std::size_t>(span.size())));
    }

    QTemporaryDir folder;
    MainWindow window{folder.filePath(QStringLiteral("settings.json"))};
};

TEST_F(Regions, TableAgreesWithACountByHand) {
    open();
    const auto scores = window.workspace()->scores();
    const auto labels = scores->columns().labels;
    const std::vector<SampleSummary> rows(window.analysis()->corpus()->analyzer.samples().begin(),
                                          window.analysis()->corpus()->analyzer.samples().end());
    const MaskSettings settings = window.maskSettings()->settings();
    double pushAll = 0, pushThreads = 0, sum = 0;
    std::int64_t tokens = 0;
    for (std::int64_t n = 0; n < scores->sample_count(); ++n)
        for (std::int64_t t = scores->token_begin(n); t < scores->token_end(n); ++t) {
            const auto i = static_cast<std::size_t>(t);
            const double c = std::exp(static_cast<double>(scores->columns().log_prob[i]));
            const double mask =
                (c > settings.tau ? 1 : 0) + (is_cuda_masked(labels[i]) ? settings.lambda : 0);
            const double push =
                static_cast<double>(rows[static_cast<std::size_t>(n)].weight) * mask * (1 - c);
            pushAll += push;
            if (labels[i] & threads) {
                pushThreads += push;
                sum += c;
                ++tokens;
            }
        }
    ASSERT_GT(tokens, 0);
    const KindFigures::Row row = window.kinds()->row(static_cast<int>(SensitiveKind::thread_index));
    EXPECT_EQ(row.tokens, tokens);
    EXPECT_NEAR(row.share, static_cast<double>(tokens) / static_cast<double>(labels.size()), 1e-12);
    EXPECT_NEAR(row.meanConfidence, sum / static_cast<double>(tokens), 1e-6);
    EXPECT_NEAR(row.push, pushThreads / pushAll, 1e-6);
    EXPECT_DOUBLE_EQ(
        row.lowWindows,
        window.analysis()
            ->corpus()
            ->analyzer.summary()
            .low_confidence.by_kind[static_cast<std::size_t>(SensitiveKind::thread_index)]);
}

TEST_F(Regions, PushFollowsThresholds) {
    open();
    const double before = window.kinds()->row(sensitive_kind_count).push;
    MaskSettings settings;
    settings.lambda = 20;
    window.maskSettings()->set(settings, QStringLiteral("test"));
    settle();
    EXPECT_GT(window.kinds()->row(sensitive_kind_count).push, before + 0.01);
}

TEST_F(Regions, ModelIsSound) {
    open();
    auto* panel = window.findChild<RegionPanel*>();
    QAbstractItemModelTester tester(panel->model(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    window.maskSettings()->setTau(0.4);
    settle();
    EXPECT_EQ(panel->model()->rowCount(), 9);
}

TEST_F(Regions, AChosenRowPicksItsTokensOutEverywhere) {
    open();
    auto* panel = window.findChild<RegionPanel*>();
    panel->tableView()->selectRow(static_cast<int>(SensitiveKind::thread_index));
    EXPECT_EQ(window.selection()->kinds(), threads);
    settle();
    auto* code = window.findChild<CodeView*>();
    const auto picked = [&](const char* word) {
        return code->SendScintilla(QsciScintillaBase::SCI_INDICATORVALUEAT, 22UL,
                                   static_cast<long>(kernelText().find(word)))
            != 0;
    };
    EXPECT_TRUE(picked("threadIdx"));
    EXPECT_FALSE(picked("__syncthreads"));
    EXPECT_FALSE(window.kinds()->density().x.empty());
    EXPECT_GT(window.kinds()->selectedTokens(0), 0);
    EXPECT_EQ(window.kinds()->selectedTokens(1), 0);
    window.selection()->setKinds(0);
    settle();
    EXPECT_FALSE(picked("threadIdx"));
    EXPECT_TRUE(window.kinds()->density().x.empty());
    EXPECT_FALSE(panel->tableView()->selectionModel()->hasSelection());
}

TEST_F(Regions, NextAndPreviousGoThroughAllSamples) {
    open();
    window.selection()->setKinds(shared);
    QAction* next = action("Next sensitive span");
    std::vector<std::pair<int, int>> places;
    for (int step = 0; step < 40
         && (places.empty() || step == 0
             || places.front()
                 != std::pair(window.selection()->sample(), window.selection()->token()));
         ++step) {
        if (step > 0)
            places.emplace_back(window.selection()->sample(), window.selection()->token());
        next->trigger();
    }
    // __shared__ declaration and two uses, in two samples; the one between has none.
    ASSERT_EQ(places.size(), 6u);
    EXPECT_EQ(places[2].first, 0);
    EXPECT_EQ(places[3].first, 2);
    EXPECT_EQ(chosenToken(), "__shared__");
    action("Previous sensitive span")->trigger();
    EXPECT_EQ(std::pair(window.selection()->sample(), window.selection()->token()), places.back());
    window.selection()->setSample(0);
    action("Next kernel")->trigger();
    EXPECT_EQ(chosenToken(), "{");
    action("Next kernel")->trigger();
    EXPECT_EQ(window.selection()->sample(), 2);
}

TEST_F(Regions, SwitchesInMenuAndBarAreOne) {
    open();
    auto* code = window.findChild<CodeView*>();
    const auto underlined = [&] {
        return code->SendScintilla(
                   QsciScintillaBase::SCI_INDICATORVALUEAT,
                   static_cast<unsigned long>(9 + static_cast<int>(SensitiveKind::thread_index)),
                   static_cast<long>(kernelText().find("threadIdx")))
            != 0;
    };
    EXPECT_TRUE(underlined());
    QAction* toggle = action("Underline thread index");
    toggle->trigger();
    EXPECT_FALSE(underlined());
    EXPECT_FALSE(window.findChild<KindBar*>()->shownKinds() & threads);
    action("Underline all kinds")->trigger();
    EXPECT_TRUE(underlined());
    EXPECT_TRUE(toggle->isChecked());
}

TEST_F(Regions, TableAsCsv) {
    open();
    auto* panel = window.findChild<RegionPanel*>();
    panel->exportTo(file("kinds.csv"));
    std::ifstream in(file("kinds.csv").toStdString());
    std::string header, first;
    std::getline(in, header);
    std::getline(in, first);
    EXPECT_EQ(header, "kind,tokens,token_share,mean_confidence,low_window_share,push_share");
    EXPECT_EQ(first.substr(0, first.find(',')), "memory_access");
    panel->exportTo(QStringLiteral("/nowhere/kinds.csv"));
    EXPECT_FALSE(window.messages()->texts().isEmpty());
}

TEST(RegionLayer, CorrectionsLieOverWhatWasFound) {
    CudaStructure structure;
    structure.spans = {{SensitiveKind::thread_index, {2, 6}, "x"}};
    KernelLaunch launch;
    launch.config = {8, 12};
    structure.launches.push_back(launch);
    KernelDefinition kernel;
    kernel.body = {0, 7};
    structure.kernels.push_back(kernel);
    const auto marks = regionMarks(
        structure, {{"s", {4, 9}, std::nullopt}, {"s", {5, 6}, SensitiveKind::atomic}}, 12);
    const auto bitsAt = [&](int byte) {
        int bits = 0;
        for (const RegionMark& mark : marks)
            if (mark.span.contains(byte))
                bits |= mark.labels;
        return bits;
    };
    EXPECT_EQ(bitsAt(3), threads | kernel_bit);
    EXPECT_EQ(bitsAt(4), kernel_bit);
    EXPECT_EQ(bitsAt(5), kind_bit(SensitiveKind::atomic) | kernel_bit);
    EXPECT_EQ(bitsAt(8), 0);
    EXPECT_EQ(bitsAt(9), launch_bit);
}

TEST(RegionLayer, CorrectionsBeyondTheTextAreHarmless) {
    const auto marks = regionMarks({}, {{"s", {90, 900}, SensitiveKind::atomic}}, 12);
    EXPECT_TRUE(marks.empty());
}

TEST(RegionLayer, SaysWhatAResponseIsMadeOf) {
    const std::string text = "<think>\nLet me see.\n</think>\nHere it is:\n\n```cuda\n"
        + kernelText()
        + "```\n\n```python\nimport triton\nimport triton.language as tl\n@triton.jit\n"
          "def k(x):\n    tl.load(x)\n```\n";
    const CudaStructure structure = find_cuda_structure(text);
    const QString line = placementText(structure, nullptr);
    for (const char* part : {"placed ", "reasoning ", "prose ", "CUDA source ", "Triton "})
        EXPECT_TRUE(line.contains(QLatin1String(part))) << part << ": " << line.toStdString();
    EXPECT_TRUE(line.contains(QLatin1String("(not labelled)"))) << line.toStdString();
    EXPECT_FALSE(line.contains(QLatin1String("unfinished"))) << line.toStdString();
    const QString cut = placementText(find_cuda_structure(text.substr(0, 150)), nullptr);
    EXPECT_TRUE(cut.contains(QLatin1String("unfinished"))) << cut.toStdString();
    const auto marks = islandMarks(structure);
    ASSERT_FALSE(marks.empty());
    EXPECT_EQ(marks.front().letter, 'R');
    CodeView view;
    view.setResponse(text);
    view.setIslands(marks);
    EXPECT_GT(view.marginWidth(3), 0);
    view.setIslands({});
    EXPECT_EQ(view.marginWidth(3), 0);
}

TEST(Navigation, FindsWhereStretchesBegin) {
    const std::vector<LabelBits> labels{0,      threads,   threads, 0, threads | shared,
                                        shared, kernel_bit};
    EXPECT_EQ(nextRegion(labels, threads, -1, 1), 1);
    EXPECT_EQ(nextRegion(labels, threads, 1, 1), 4);
    EXPECT_EQ(nextRegion(labels, threads, 4, 1), -1);
    EXPECT_EQ(nextRegion(labels, threads, 7, -1), 4);
    EXPECT_EQ(nextRegion(labels, threads, 2, -1), 1);
    EXPECT_EQ(nextRegion(labels, static_cast<LabelBits>(threads | shared), 4, 1), -1);
    EXPECT_EQ(nextRegion({}, threads, -1, 1), -1);
}

} // namespace
} // namespace cuset
