#include "ui/editor/token_colors.h"

#include <cmath>

#include <QCoreApplication>

namespace cuset {
namespace {

constexpr double maxEntropyShown = 4.0; // nats; ln 55: more choices than that look the same
constexpr double maxRankShown = 10000.0; // logarithmic

QString text(const char* source) {
    return QCoreApplication::translate("ColorBy", source);
}

QColor regionColor(LabelBits labels, const QPalette& palette) {
    const QColor paper = palette.color(QPalette::Base);
    const int kind = leadingKind(labels);
    if (kind >= 0)
        return mixed(kindColor(static_cast<SensitiveKind>(kind), palette), paper,
                     isDark(palette) ? 0.30 : 0.20);
    if (labels & launch_bit)
        return mixed(kindColor(SensitiveKind::launch_config, palette), paper,
                     isDark(palette) ? 0.30 : 0.20);
    if (labels & kernel_bit)
        return mixed(palette.color(QPalette::Text), paper, 0.06);
    return {};
}

} // namespace

ColorMode colorMode(ColorBy by) {
    switch (by) {
    case ColorBy::Confidence:
        return {"confidence", text("Confidence"), text("c"),
                text("c = the probability the model gives to this token (Eq. 1)")};
    case ColorBy::Mask:
        return {"mask", text("Mask"), text("M"),
                text("M = 1[c > tau] + lambda 1[CUDA region] (Eq. 2-4)")};
    case ColorBy::Weight:
        return {
            "weight", text("Training weight"), text("w M"),
            text("w M: the factor of this token's -ln p in the loss (Eq. 9); w = 1 - C_n (Eq. 8)")};
    case ColorBy::Push:
        return {"push", text("Push"), text("w M (1 - c)"),
                text("w M (1 - c): how far one training step moves this token; half the L1 norm of "
                     "the loss's "
                     "gradient in the logits")};
    case ColorBy::Window:
        return {"window", text("Window confidence"), text("C t"),
                text("C_t = mean of c over the window of l tokens around t (Eq. 5, 6)")};
    case ColorBy::Region:
        return {"region", text("CUDA region"), QString(),
                text("The kind of CUDA-sensitive span a token lies in")};
    case ColorBy::Entropy:
        return {"entropy", text("Entropy"), text("H, nats"),
                text("H = - sum over the vocabulary of p ln p")};
    case ColorBy::Change:
        return {"change", text("Change"), text("change of c"),
                text("Change of confidence: c after training minus c before. The colours follow "
                     "the root of its size; unchanged tokens are not painted")};
    case ColorBy::Rank:
        break;
    }
    return {"rank", text("Rank"), text("rank"),
            text("How many tokens the model finds more probable; 0 is its first choice")};
}

QString changeText(double change, int decimals) {
    const QString size = QString::number(std::abs(change), 'f', decimals);
    return (change < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) + size;
}

double changePosition(double change) {
    return std::copysign(std::sqrt(std::abs(change)), change);
}

double tokenValue(const TokenFigures& figures, int t, ColorBy by) {
    const auto index = static_cast<std::size_t>(t);
    switch (by) {
    case ColorBy::Confidence:
        return figures.confidence()[index];
    case ColorBy::Mask:
        return figures.mask(t);
    case ColorBy::Weight:
        return figures.trainingWeight(t);
    case ColorBy::Push:
        return figures.objectivePush(t);
    case ColorBy::Window:
        return figures.masked().window_mean[index];
    case ColorBy::Entropy:
        return figures.entropy(t);
    case ColorBy::Rank:
        return std::log10(1.0 + figures.rank(t));
    case ColorBy::Change:
        return changePosition(static_cast<double>(figures.change(t)));
    case ColorBy::Region:
        break;
    }
    return 0;
}

ColorScale colorScaleFor(ColorBy by, ColorMap map, const MaskSettings& settings,
                         double largestWeight, TokenObjective objective) {
    const double most = (settings.confidence_mask || !settings.cuda_mask ? 1.0 : 0.0)
        + (settings.cuda_mask ? settings.lambda : 0.0);
    switch (by) {
    case ColorBy::Mask:
        return {map, 0, most};
    case ColorBy::Push:
        if (objective != TokenObjective::cuset)
            return {map, 0, 1};
        [[fallthrough]];
    case ColorBy::Weight:
        return {map, 0, most * (largestWeight > 0 ? largestWeight : 1)};
    case ColorBy::Entropy:
        return {map, 0, maxEntropyShown};
    case ColorBy::Rank:
        return {map, 0, std::log10(1.0 + maxRankShown)};
    case ColorBy::Change:
        return {ColorMap::Diverging, -1, 1};
    default:
        return {map, 0, 1};
    }
}

QString pushFormula(TokenObjective objective) {
    switch (objective) {
    case TokenObjective::sft:
        return text("sft: 1 - c");
    case TokenObjective::dft:
        return text("dft: c (1 - c)");
    case TokenObjective::asft:
        return text("asft: c (1 - c), without its divergence from the base model");
    case TokenObjective::eaft:
        return text("eaft: H/ln 20 (1 - c)");
    case TokenObjective::profit:
        return text("profit: 1[c \u2265 0.1] (1 - c)");
    case TokenObjective::cuset:
        break;
    }
    return text("w M (1 - c)");
}

int leadingKind(LabelBits labels) {
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (labels & kind_bit(static_cast<SensitiveKind>(kind)))
            return kind;
    return -1;
}

std::vector<QColor> tokenColors(const TokenFigures& figures, ColorBy by, const ColorScale& scale,
                                const QPalette& palette) {
    std::vector<QColor> colors(static_cast<std::size_t>(figures.count()));
    if (by == ColorBy::Change && !figures.isCompared())
        return colors;
    for (int t = 0; t < figures.count(); ++t) {
        const auto index = static_cast<std::size_t>(t);
        colors[index] = by == ColorBy::Region ? regionColor(figures.labels()[index], palette)
                                              : scale.color(tokenValue(figures, t, by));
    }
    return colors;
}

} // namespace cuset
