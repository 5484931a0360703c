// What "colour by" offers: the number behind each token's colour, its range and its legend.
#pragma once

#include <array>
#include <vector>

#include <QColor>
#include <QString>

#include "ui/editor/color_scale.h"
#include "ui/state/token_figures.h"

namespace cuset {

enum class ColorBy { Confidence, Mask, Weight, Push, Window, Region, Entropy, Rank, Change };
inline constexpr std::array<ColorBy, 9> allColorModes{
    ColorBy::Confidence, ColorBy::Mask,    ColorBy::Weight, ColorBy::Push,  ColorBy::Window,
    ColorBy::Region,     ColorBy::Entropy, ColorBy::Rank,   ColorBy::Change};

struct ColorMode {
    QString key; // in settings and on the command line
    QString title; // in the combo box
    QString unit; // beside the legend
    QString explanation; // tooltip: what it is, with the equation
};
ColorMode colorMode(ColorBy by);

// "+0.123", with a true minus sign.
QString changeText(double change, int decimals = 3);
// The root of a change's size with its sign, [-1, 1]: small changes are seen, large ones fit.
double changePosition(double change);
// The number that `by` shows for token t, on its scale; not defined for Region.
double tokenValue(const TokenFigures& figures, int t, ColorBy by);
// Its range for the legend. Entropy and rank are shown up to the values that still tell something;
// what a sample's weight multiplies goes up to the largest weight of the corpus.
ColorScale colorScaleFor(ColorBy by, ColorMap map, const MaskSettings& settings,
                         double largestWeight, TokenObjective objective = TokenObjective::cuset);
// What push is under that objective: "dft: c (1 - c)".
QString pushFormula(TokenObjective objective);

// One opaque colour a token, [T]; an invalid colour leaves a token unpainted. The scale's paper and
// strength decide how readable text on top stays.
std::vector<QColor> tokenColors(const TokenFigures& figures, ColorBy by, const ColorScale& scale,
                                const QPalette& palette);

// The kind that stands for a token's label bits in one colour: the first one set. -1: kernel or
// launch only.
int leadingKind(LabelBits labels);

} // namespace cuset
