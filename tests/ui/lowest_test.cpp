// Confidence by line and the like: the bars beside the code, and the list of the lowest stretches.
#include <QAbstractItemModelTester>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/regions/lowest_panel.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::kernelText;
using test::labelledSample;
using test::scoreSet;
using test::waitFor;

class Lowest : public ::testing::Test {
protected:
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    void open() {
        write_score_file(file("a.scores.safetensors").toStdString(),
                         *scoreSet({labelledSample("one", "int x = 1;\nint y = 2;\n"),
                                    labelledSample("two", kernelText())}));
        window.resize(1280, 800);
        window.show();
        window.openPaths({file("a.scores.safetensors")});
        settle();
        panel = window.findChild<LowestPanel*>();
        ASSERT_NE(panel, nullptr);
    }
    void settle() {
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    }
    void ask(TextUnit unit, LabelBits labels = 0) {
        LowestQuery query = window.lowest()->query();
        query.unit = unit;
        query.labels = labels;
        query.least_tokens = default_least_tokens(unit);
        window.lowest()->setQuery(query);
        settle();
    }

    QTemporaryDir folder;
    MainWindow window{folder.filePath(QStringLiteral("settings.json"))};
    LowestPanel* panel = nullptr;
};

TEST_F(Lowest, NothingIsLookedForUntilThePanelIsSeen) {
    open();
    EXPECT_TRUE(window.lowest()->units().empty());
    ASSERT_TRUE(window.showView(QStringLiteral("lowest")));
    settle();
    EXPECT_FALSE(window.lowest()->units().empty());
}

TEST_F(Lowest, TheListIsThatOfTheCore) {
    open();
    window.showView(QStringLiteral("lowest"));
    const QAbstractItemModelTester tester(panel->table()->model());
    RunControl control;
    const CorpusAnalyzer analyzer(window.workspace()->scores(), control);
    for (const TextUnit unit : {TextUnit::token, TextUnit::line, TextUnit::statement,
                                TextUnit::window, TextUnit::region}) {
        ask(unit);
        const auto expected = lowest_units(analyzer, window.lowest()->query(), control);
        ASSERT_EQ(window.lowest()->units().size(), expected.size());
        ASSERT_EQ(panel->table()->model()->rowCount(), static_cast<int>(expected.size()));
        EXPECT_EQ(panel->table()->model()->index(0, LowestTableModel::Mean).data().toString(),
                  QString::number(static_cast<double>(expected.front().unit.mean), 'f', 3));
    }
    ask(TextUnit::region, kind_bit(SensitiveKind::synchronization));
    for (const LowUnit& low : window.lowest()->units())
        EXPECT_EQ(low.unit.labels, kind_bit(SensitiveKind::synchronization));
    EXPECT_EQ(window.lowest()->units().size(), 1u); // one __syncthreads
}

TEST_F(Lowest, AClickGoesToTheSampleAndSelectsTheStretch) {
    open();
    window.showView(QStringLiteral("lowest"));
    ask(TextUnit::region, kind_bit(SensitiveKind::synchronization));
    ASSERT_EQ(window.selection()->sample(), 0);
    panel->table()->setCurrentIndex(panel->table()->model()->index(0, LowestTableModel::Text));
    EXPECT_EQ(window.selection()->sample(), 1);
    const LowUnit& low = window.lowest()->units().front();
    const ByteSpan selected = window.findChild<CodeView*>()->selectedBytes();
    EXPECT_EQ(selected.begin, low.unit.span.begin);
    EXPECT_EQ(selected.end, low.unit.span.end);
    EXPECT_EQ(window.selection()->token(), low.unit.first_token);
    // Away and back with a click on the row that is current already.
    window.selection()->setSample(0);
    emit panel->table()->clicked(panel->table()->currentIndex());
    EXPECT_EQ(window.selection()->sample(), 1);
}

TEST_F(Lowest, TheWindowOfTheThresholdsIsFollowed) {
    open();
    window.showView(QStringLiteral("lowest"));
    ask(TextUnit::window);
    MaskSettings settings = window.maskSettings()->settings();
    settings.window = 5;
    window.maskSettings()->set(settings, QStringLiteral("test"));
    settle();
    ASSERT_FALSE(window.lowest()->units().empty());
    EXPECT_EQ(window.lowest()->units().front().unit.tokens, 5);
}

TEST_F(Lowest, SavesWhatTheCommandLineWouldWrite) {
    open();
    window.showView(QStringLiteral("lowest"));
    settle();
    panel->exportTo(file("lowest.csv"));
    QFile csv(file("lowest.csv"));
    ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
    EXPECT_EQ(csv.readAll().toStdString(),
              lowest_units_csv(*window.workspace()->scores(), window.lowest()->units()));
    window.messages()->clear();
    panel->exportTo(file("no/such/folder.csv"));
    EXPECT_EQ(window.messages()->texts().size(), 1);
}

class Gutter : public Lowest { };

TEST_F(Gutter, ABarStandsForItsLine) {
    open();
    auto* gutter = window.findChild<ConfidenceGutter*>();
    ASSERT_NE(gutter, nullptr);
    EXPECT_EQ(gutter->mode(), GutterMode{});
    ASSERT_EQ(gutter->lines().size(), 2u);
    const auto& figures = *window.analysis()->figures();
    const auto expected = aggregate(line_spans("int x = 1;\nint y = 2;\n"),
                                    {figures.spans(), figures.confidence(), figures.labels()});
    for (std::size_t line = 0; line < 2; ++line)
        EXPECT_EQ(gutter->lines()[line].mean, expected[line].mean);
    EXPECT_TRUE(gutter->description(1).contains(
        QString::number(static_cast<double>(expected[1].mean), 'f', 3)))
        << gutter->description(1).toStdString();
    EXPECT_TRUE(gutter->description(1).contains(QStringLiteral("line 2")));
    EXPECT_EQ(gutter->description(2), QString());
    EXPECT_EQ(gutter->description(-1), QString());
}

TEST_F(Gutter, LongerBarsAreSurer) {
    open();
    window.selection()->setSample(1);
    settle();
    auto* gutter = window.findChild<ConfidenceGutter*>();
    auto* code = window.findChild<CodeView*>();
    const QImage image = gutter->grab().toImage();
    const int height = code->textHeight(0);
    const QRgb paper = gutter->palette().color(QPalette::Base).rgb();
    for (int line = 0; line < static_cast<int>(gutter->lines().size()); ++line) {
        const int y = line * height + height / 2;
        if (y >= image.height())
            break;
        int painted = 0;
        for (int x = 0; x < image.width(); ++x)
            painted += image.pixel(x, y) != paper ? 1 : 0;
        const double share = static_cast<double>(painted) / (image.width() * 0.8);
        EXPECT_NEAR(share,
                    static_cast<double>(gutter->lines()[static_cast<std::size_t>(line)].mean),
                    3.0 / image.width())
            << "line " << line;
    }
}

TEST_F(Gutter, EveryModeHasItsNumbersAndComesBackAfterARestart) {
    open();
    window.selection()->setSample(1);
    settle();
    auto* editor = window.findChild<EditorPanel*>();
    for (int i = 0; i < gutterModeCount; ++i) {
        const GutterMode mode = gutterMode(i);
        editor->setGutterMode(mode);
        EXPECT_EQ(gutterModeFor(gutterModeKey(mode)), mode);
        EXPECT_EQ(editor->gutter()->isHidden(), !mode.shown);
        bool any = false;
        for (const SpanConfidence& line : editor->gutter()->lines())
            any |= line.tokens > 0;
        EXPECT_EQ(any, mode.shown) << gutterModeKey(mode).toStdString();
    }
    EXPECT_EQ(gutterModeFor(QStringLiteral("unheard of")), GutterMode{});
    window.close();
    MainWindow again(file("settings.json"));
    EXPECT_EQ(again.findChild<EditorPanel*>()->gutterMode(), gutterMode(gutterModeCount - 1));
}

TEST_F(Gutter, AClickGoesToTheLeastSureTokenOfTheLine) {
    open();
    auto* gutter = window.findChild<ConfidenceGutter*>();
    auto* code = window.findChild<CodeView*>();
    QTest::mouseClick(gutter, Qt::LeftButton, {}, QPoint(2, code->textHeight(0) * 3 / 2));
    const auto& figures = *window.analysis()->figures();
    const auto lineOf = [&](int token) {
        return code->lineOfByte(figures.spans()[static_cast<std::size_t>(token)].end - 1);
    };
    ASSERT_TRUE(waitFor([&] {
        return window.selection()->token() >= 0 && lineOf(window.selection()->token()) == 1;
    }));
    EXPECT_EQ(figures.confidence()[static_cast<std::size_t>(window.selection()->token())],
              gutter->lines()[1].minimum);
}

} // namespace
} // namespace cuset
