// Numbers that CodeView gives to Scintilla: indicators, margins, markers and styles.
#pragma once

#include <array>

#include <Qsci/qsciscintillabase.h>

#include "core/data/token_labels.h"

namespace cuset::code_view {

inline constexpr int colorIndicator = 8;
inline constexpr int firstKindIndicator = 9;
inline constexpr int hoverIndicator = 20;
inline constexpr int selectedIndicator = 21;
inline constexpr int pickedIndicator = 22;
inline constexpr int correctedIndicator = 23;

inline constexpr int numberMargin = 0;
inline constexpr int signMargin = 1; // letters of the kinds on a line
inline constexpr int kernelMargin = 2; // kernel bodies, launches, the lowest window
inline constexpr int islandMargin = 3; // what is no CUDA source
inline constexpr int kernelMarker = 1;
inline constexpr int launchMarker = 2;
inline constexpr int lowestMarker = 3;
inline constexpr int correctedMarker = 4;
inline constexpr int firstIslandMarker = 8; // a stripe for each kind of island
inline constexpr int firstIslandLetter = 14; // its letter, on the first line
inline constexpr int islandKinds = 6;

inline constexpr int firstKindStyle = 64; // style numbers of the letters, above the lexer's
inline constexpr int maxSigns = 3; // letters that fit on a line

inline constexpr std::array<int, sensitive_kind_count> underlineStyles{
    QsciScintillaBase::INDIC_COMPOSITIONTHIN,
    QsciScintillaBase::INDIC_COMPOSITIONTHICK,
    QsciScintillaBase::INDIC_DOTS,
    QsciScintillaBase::INDIC_TT,
    QsciScintillaBase::INDIC_DASH,
    QsciScintillaBase::INDIC_SQUIGGLE,
    QsciScintillaBase::INDIC_DIAGONAL,
    QsciScintillaBase::INDIC_PLAIN};

inline unsigned long word(int value) {
    return static_cast<unsigned long>(value);
}

} // namespace cuset::code_view
