#include "ui/editor/color_scale.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ui/editor/cuda_lexer.h"
#include "ui/shell/theme.h"

namespace cuset {
namespace {

TEST(ColorScale, EndsOfTheMaps) {
    EXPECT_EQ(mapColor(ColorMap::Cividis, 0), QColor(0, 32, 76));
    EXPECT_EQ(mapColor(ColorMap::Cividis, 1), QColor(255, 233, 69));
    EXPECT_EQ(mapColor(ColorMap::Viridis, -5), QColor(0x44, 0x01, 0x54));
    EXPECT_EQ(mapColor(ColorMap::Viridis, 7), QColor(0xfd, 0xe7, 0x25));
    EXPECT_EQ(mapColor(ColorMap::Cividis, std::numeric_limits<double>::quiet_NaN()),
              QColor(0, 32, 76));
}

TEST(ColorScale, LightnessGrowsAlongSequentialMaps) {
    for (const ColorMap map : {ColorMap::Cividis, ColorMap::Viridis})
        for (int step = 1; step <= 100; ++step)
            EXPECT_GT(contrastRatio(mapColor(map, step / 100.0), Qt::black),
                      contrastRatio(mapColor(map, (step - 1) / 100.0), Qt::black) - 0.02);
}

TEST(ColorScale, ContrastOfKnownPairs) {
    EXPECT_NEAR(contrastRatio(Qt::black, Qt::white), 21.0, 1e-9);
    EXPECT_NEAR(contrastRatio(QColor(0x77, 0x77, 0x77), Qt::white), 4.48,
                0.01); // WCAG's well-known grey
}

TEST(ColorScale, TextKeepsItsContrastOnEveryTokenColour) {
    for (const QPalette& palette : {lightPalette(), darkPalette()}) {
        const QColor paper = palette.color(QPalette::Base);
        const auto texts = CudaLexer::textColors(palette);
        for (const ColorMap map : {ColorMap::Cividis, ColorMap::Viridis}) {
            const double strength = readableStrength(map, paper, texts, 0.62);
            EXPECT_GT(strength, 0.2) << "colours would hardly be seen";
            ColorScale scale(map, 0, 1);
            scale.setPaper(paper, strength);
            for (int step = 0; step <= 200; ++step)
                for (const QColor& text : texts)
                    EXPECT_GE(contrastRatio(text, scale.colorAt(step / 200.0)), 4.45);
        }
    }
}

// Cividis begins almost as dark as the dark paper: low values would not be seen on it.
TEST(ColorScale, LowValuesStandOutFromDarkPaper) {
    const QColor paper = darkPalette().color(QPalette::Base);
    const auto texts = CudaLexer::textColors(darkPalette());
    for (const ColorMap map : {ColorMap::Cividis, ColorMap::Viridis}) {
        const double strength = readableStrength(map, paper, texts, 0.62);
        ColorScale scale(map, 0, 1);
        scale.setPaper(paper, strength);
        EXPECT_GT(contrastRatio(scale.colorAt(0), paper),
                  contrastRatio(mixed(mapColor(map, 0), paper, strength), paper) + 0.05);
        EXPECT_GT(scale.colorAt(0).blue() - paper.blue(), 30) << "a clear blue, no other grey";
    }
}

TEST(ColorScale, KindsAreReadableAndDifferent) {
    for (const QPalette& palette : {lightPalette(), darkPalette()})
        for (int a = 0; a < sensitive_kind_count; ++a) {
            const QColor color = kindColor(static_cast<SensitiveKind>(a), palette);
            EXPECT_GE(contrastRatio(color, palette.color(QPalette::Base)), 4.5);
            for (int b = 0; b < a; ++b) {
                EXPECT_NE(color, kindColor(static_cast<SensitiveKind>(b), palette));
                EXPECT_NE(kindSign(static_cast<SensitiveKind>(a)),
                          kindSign(static_cast<SensitiveKind>(b)));
            }
        }
}

TEST(ColorScale, TicksAreRound) {
    EXPECT_EQ(ColorScale(ColorMap::Cividis, 0, 1).ticks(5).size(), 6u);
    EXPECT_EQ(ColorScale(ColorMap::Cividis, 0, 4).ticks(4).size(), 5u);
    EXPECT_EQ(ColorScale(ColorMap::Cividis, 0, 1).color(-3), mapColor(ColorMap::Cividis, 0));
}

} // namespace
} // namespace cuset
