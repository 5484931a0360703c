// Colours of the charts, derived from a widget's palette so that they follow light and dark
// desktops at once.
#pragma once

#include <QColor>
#include <QPalette>

namespace cuset {

struct ChartTheme {
    bool dark = false;
    QColor background, text, muted, grid, frame;
    QColor sensitive, neutral; // the two groups of tokens, as in the paper: sensitive and neutral
    QColor line; // a curve that belongs to neither group
    QColor low; // what lies below a threshold, and the minimum
    QColor marker; // what the user points at or has selected

    static ChartTheme fromPalette(const QPalette& palette);

    // The colour of the i-th of several curves; safe for colour-blind eyes, repeats after six.
    QColor series(int index) const;
    // The dash pattern that goes with it, so that colour is never the only difference.
    static Qt::PenStyle seriesStyle(int index);
};

} // namespace cuset
