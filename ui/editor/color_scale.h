// Colours that stand for numbers and categories, the same in the code view, its legend and the
// charts. Maps: cividis (Nunez et al. 2018, doi 10.1371/journal.pone.0199239), viridis (van der
// Walt, Smith 2015) and a red-green-safe diverging map, as anchors that are interpolated linearly.
#pragma once

#include <vector>

#include <QColor>
#include <QPalette>
#include <QString>

#include "core/data/token_labels.h"

namespace cuset {

enum class ColorMap { Cividis, Viridis, Diverging };

// `position` in [0, 1], clamped; not a number gives the map's start.
QColor mapColor(ColorMap map, double position);
// The same laid over paper, `strength` in [0, 1]; see ColorScale::setPaper.
QColor mapOverPaper(ColorMap map, double position, const QColor& paper, double strength);

// True if text is lighter than its background: the desktop's dark palette.
bool isDark(const QPalette& palette);

// WCAG 2.1's contrast ratio of two opaque colours, 1 to 21.
double contrastRatio(const QColor& first, const QColor& second);

// `amount` in [0, 1] of `color` over `base`, opaque.
QColor mixed(const QColor& color, const QColor& base, double amount);

// `color` moved towards black or white until it has `ratio` to 1 against `background`.
QColor readableOn(const QColor& color, const QColor& background, double ratio = 4.5);

// Fixed series colours for light and dark palettes; all keep 3:1 against the base colour.
struct SeriesColors {
    QColor sensitive; // CUDA-sensitive tokens
    QColor neutral; // CUDA-neutral tokens
    QColor accent; // the marked token, tau
    QColor warning; // minimum, low-confidence windows
    QColor grid;
    QColor mutedText;
};
SeriesColors seriesColors(const QPalette& palette);

// The colour and the one-letter sign of a kind of CUDA-sensitive span; a sign stands beside every
// colour.
QColor kindColor(SensitiveKind kind, const QPalette& palette);
QChar kindSign(SensitiveKind kind);
QString kindTitle(SensitiveKind kind); // "memory access"

// A map over a range of values, with the numbers to write beside it.
class ColorScale {
public:
    ColorScale() = default;
    ColorScale(ColorMap map, double low, double high);

    ColorMap map() const { return map_; }
    // How strongly colours lie over the paper: `strength` in [0, 1] of the map over `paper`. On
    // dark paper the map's dark end is lifted, since it would be lost there. The middle of a
    // diverging map is the paper itself, so that no change is no colour.
    void setPaper(const QColor& paper, double strength);
    QColor color(double value) const; // clamped to the range
    QColor colorAt(double position) const; // position in [0, 1]
    double low() const { return low_; }
    double high() const { return high_; }
    // About `count` round values within the range, both ends included when they are round.
    std::vector<double> ticks(int count) const;
    friend bool operator==(const ColorScale&, const ColorScale&) = default;

private:
    ColorMap map_ = ColorMap::Cividis;
    double low_ = 0;
    double high_ = 1;
    bool onDark_ = false;
    QColor paper_ = Qt::white;
    double strength_ = 1;
};

// The largest strength up to `wanted` at which every one of `texts` keeps 4.5:1 on every colour of
// the map laid over `paper`.
double readableStrength(ColorMap map, const QColor& paper, const std::vector<QColor>& texts,
                        double wanted);

} // namespace cuset
