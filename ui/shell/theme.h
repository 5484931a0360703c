// Theme: the program's own light and dark palettes beside the desktop's, and icons drawn in the
// palette's colour.
#pragma once

#include <QIcon>
#include <QPalette>
#include <QString>

namespace cuset {

QPalette lightPalette();
QPalette darkPalette();

// "system" gives the desktop's palette back and follows it; "light" and "dark" are ours.
void applyAppearance(const QString& appearance);

// resources/icons/NAME.svg with its `currentColor` in the palette's text colour, sharp at any
// scale.
QIcon themedIcon(const QString& name, const QPalette& palette);

} // namespace cuset
