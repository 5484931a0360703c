#include "ui/editor/confidence_painter.h"

#include <cmath>
#include <string>
#include <vector>

#include <QApplication>
#include <QPaintEvent>
#include <Qsci/qsciscintilla.h>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "ui/editor/code_view.h"
#include "ui/editor/code_view_numbers.h"
#include "ui/editor/long_lines.h"
#include "ui/editor/token_colors.h"
#include "ui/state/navigation.h"

namespace cuset {
namespace {

using S = QsciScintillaBase;
constexpr int indicator = 8;

int valueAt(const QsciScintilla& view, int byte) {
    return static_cast<int>(view.SendScintilla(
        S::SCI_INDICATORVALUEAT, static_cast<unsigned long>(indicator), static_cast<long>(byte)));
}

TEST(ConfidencePainter, ColoursAreTheIndicatorsValue) {
    QsciScintilla view;
    view.setText(QStringLiteral("aabbcc"));
    ConfidencePainter painter(&view, indicator);
    const std::vector<ByteSpan> spans{{0, 2}, {2, 4}, {4, 6}};
    EXPECT_EQ(painter.paint(spans, {QColor(1, 2, 3), QColor(), QColor(250, 5, 6)}), 3);
    EXPECT_EQ(valueAt(view, 0), 0x1030201); // blue, green, red above the bit that says "a colour"
    EXPECT_EQ(valueAt(view, 3), 0);
    EXPECT_EQ(valueAt(view, 5), 0x10605fa);
}

TEST(ConfidencePainter, FillsOnlyWhatChanged) {
    QsciScintilla view;
    view.setText(QStringLiteral("aabbccdd"));
    ConfidencePainter painter(&view, indicator);
    const std::vector<ByteSpan> spans{{0, 2}, {2, 4}, {4, 6}, {6, 8}};
    std::vector<QColor> colors{Qt::red, Qt::green, Qt::blue, Qt::yellow};
    painter.paint(spans, colors);
    EXPECT_EQ(painter.paint(spans, colors), 0);
    colors[2] = Qt::black;
    EXPECT_EQ(painter.paint(spans, colors), 1);
    EXPECT_EQ(valueAt(view, 4), 0x1000000);
    EXPECT_EQ(valueAt(view, 6), 0x100ffff);
}

TEST(ConfidencePainter, RunsThatMergeAndSplitAreRepainted) {
    QsciScintilla view;
    view.setText(QStringLiteral("aabbcc"));
    ConfidencePainter painter(&view, indicator);
    const std::vector<ByteSpan> spans{{0, 2}, {2, 4}, {4, 6}};
    painter.paint(spans, {Qt::red, Qt::red, Qt::blue});
    painter.paint(spans, {Qt::red, Qt::green, Qt::green});
    EXPECT_EQ(valueAt(view, 1), 0x10000ff);
    EXPECT_EQ(valueAt(view, 2), 0x100ff00);
    EXPECT_EQ(valueAt(view, 5), 0x100ff00);
    painter.paint(spans, {QColor(), QColor(), QColor()});
    for (const int byte : {0, 2, 4})
        EXPECT_EQ(valueAt(view, byte), 0);
}

// Counts the pixels that a widget is told to paint.
class PaintedArea : public QObject {
public:
    explicit PaintedArea(QWidget* widget)
        : QObject(widget) {
        widget->installEventFilter(this);
    }
    int pixels = 0;

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Paint)
            for (const QRect& part : static_cast<QPaintEvent*>(event)->region())
                pixels += part.width() * part.height();
        return false;
    }
};

// A window length that is dragged moves the mark at every step.
TEST(CodeView, TheLowestWindowsMarkPaintsItsMarginOnly) {
    CodeView view;
    view.resize(600, 400);
    std::string lines;
    for (int line = 0; line < 10; ++line)
        lines += "0123456\n"; // 8 bytes
    view.setResponse(lines);
    view.setLowestWindow({8, 20});
    view.show();
    ASSERT_TRUE(test::waitFor([&] { return view.isVisible(); }));
    QApplication::processEvents();
    const auto marked = [&](int line) {
        return (view.markersAtLine(line) & (1u << code_view::lowestMarker)) != 0;
    };
    EXPECT_TRUE(marked(1));
    PaintedArea area(view.viewport());
    view.setLowestWindow({9, 21});
    QApplication::processEvents();
    EXPECT_EQ(area.pixels, 0) << "the same line";
    view.setLowestWindow({32, 40});
    QApplication::processEvents();
    EXPECT_GT(area.pixels, 0);
    EXPECT_LT(area.pixels, 600 * 400 / 4);
    EXPECT_FALSE(marked(1));
    EXPECT_TRUE(marked(4));
    view.setLowestWindow({});
    EXPECT_FALSE(marked(4));
}

// Eq. 1-8 by hand: c = [0.9, 0.05, 0.5, 0.1], cuda = [0, 1, 1, 0], tau 0.1, lambda 1, l 2 give M =
// [1, 1, 2, 0], C_n = 0.275 and w_n = 0.725; push = w M (1 - c).
TEST(TokenFigures, AgreeWithTheMethodByHand) {
    ScoredSample sample;
    sample.sample = {.id = "s", .prompt = "", .response = "abcd"};
    const std::vector<float> c{0.9f, 0.05f, 0.5f, 0.1f};
    for (int t = 0; t < 4; ++t) {
        sample.encoding.ids.push_back(t);
        sample.encoding.spans.push_back({t, t + 1});
        sample.scores.log_prob.push_back(std::log(c[static_cast<std::size_t>(t)]));
        sample.scores.entropy.push_back(0);
        sample.scores.entropy_top20.push_back(0);
        sample.scores.rank.push_back(0);
        sample.labels.push_back(t == 1 || t == 2 ? kernel_bit : LabelBits{0});
        for (int k = 0; k < 2; ++k) {
            sample.scores.top_ids.push_back(k);
            sample.scores.top_log_probs.push_back(-1);
        }
    }
    sample.scores.top_k = 2;
    MaskSettings settings;
    settings.tau = 0.1000001; // exp(ln 0.1) in float32 may lie above 0.1
    settings.window = 2;
    const TokenFigures figures(test::scoreSet({sample}), 0, settings);
    const std::vector<float> mask{1, 1, 2, 0};
    for (int t = 0; t < 4; ++t) {
        EXPECT_FLOAT_EQ(figures.mask(t), mask[static_cast<std::size_t>(t)]);
        EXPECT_NEAR(figures.push(t),
                    0.725f * mask[static_cast<std::size_t>(t)]
                        * (1 - c[static_cast<std::size_t>(t)]),
                    1e-5);
        EXPECT_NEAR(tokenValue(figures, t, ColorBy::Weight),
                    0.725 * static_cast<double>(mask[static_cast<std::size_t>(t)]), 1e-5);
    }
    EXPECT_EQ(figures.tokenAt(2), 2);
    EXPECT_EQ(figures.tokenAt(4), -1);
    EXPECT_EQ(figures.tokenAt(-1), -1);
    EXPECT_EQ(lowestWindowAt(figures), 2);
}

TEST(TokenFigures, EmptyResponseIsNoToken) {
    ScoredSample sample;
    sample.sample.id = "empty";
    sample.scores.top_k = 2;
    const TokenFigures figures(test::scoreSet({sample}), 0, MaskSettings{});
    EXPECT_EQ(figures.count(), 0);
    EXPECT_EQ(figures.tokenAt(0), -1);
    EXPECT_EQ(lowestWindowAt(figures), -1);
    EXPECT_EQ(nextLowWindow(figures, 1, -1), -1);
}

TEST(LongLines, OnlyWhatIsAroundTheVisibleColumnsIsMarked) {
    const int most = LongLines::longest;
    const std::string text = "short\n" + std::string(static_cast<std::size_t>(most), 'a') + "\n"
        + std::string(100000, 'b') + "\nend";
    LongLines lines(text);
    const int begin = most + 7; // of the overlong line
    ASSERT_TRUE(lines.any());
    EXPECT_TRUE(lines.marks({0, 5}));
    EXPECT_TRUE(lines.marks({6 + most - 1, 6 + most})) << "a line of the longest length is whole";
    EXPECT_TRUE(lines.marks({begin, begin + 1}));
    EXPECT_FALSE(lines.marks({begin + most, begin + most + 1}));
    EXPECT_TRUE(lines.marks({begin + 100001, begin + 100002})) << "the line after it";
    EXPECT_FALSE(lines.moveTo(10)) << "not for every step of the scroll bar";
    EXPECT_TRUE(lines.moveTo(50000));
    EXPECT_FALSE(lines.marks({begin, begin + 1}));
    EXPECT_TRUE(lines.marks({begin + 50000, begin + 50001}));
    EXPECT_FALSE(LongLines("a\nb").any());
    EXPECT_FALSE(LongLines("").any());
    EXPECT_TRUE(LongLines().marks({5, 6}));
}

TEST(LongLines, AMegabyteInOneLineIsShownAtOnce) {
    CodeView view;
    view.resize(800, 400);
    const int bytes = 960000;
    std::vector<ByteSpan> spans;
    std::vector<QColor> colors;
    for (int byte = 0; byte < bytes; byte += 3) {
        spans.push_back({byte, byte + 3});
        colors.push_back(QColor(byte % 250, 9, 9));
    }
    view.setResponse(std::string(static_cast<std::size_t>(bytes), 'x'));
    view.paintTokens(spans, colors);
    EXPECT_TRUE(view.hasLongLines());
    EXPECT_NE(valueAt(view, 3), 0);
    EXPECT_EQ(valueAt(view, bytes / 2), 0) << "far out of sight";
    EXPECT_FALSE(view.grab().isNull());
    view.setResponse("x");
    EXPECT_FALSE(view.hasLongLines());
}

} // namespace
} // namespace cuset
