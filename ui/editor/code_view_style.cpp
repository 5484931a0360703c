// CodeView: how it looks.
#include <algorithm>
#include <array>

#include <QFontDatabase>

#include "ui/editor/code_view.h"
#include "ui/editor/code_view_numbers.h"
#include "ui/editor/color_scale.h"
#include "ui/editor/cuda_lexer.h"

namespace cuset {

using namespace code_view;

namespace {

using S = QsciScintillaBase;

} // namespace

void CodeView::setUpIndicators() {
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const int indicator = firstKindIndicator + kind;
        SendScintilla(S::SCI_INDICSETSTYLE, word(indicator),
                      static_cast<long>(underlineStyles[static_cast<std::size_t>(kind)]));
        SendScintilla(S::SCI_INDICSETUNDER, word(indicator), 0L);
    }
    for (const int indicator : {hoverIndicator, selectedIndicator}) {
        SendScintilla(S::SCI_INDICSETSTYLE, word(indicator),
                      static_cast<long>(S::INDIC_STRAIGHTBOX));
        SendScintilla(S::SCI_INDICSETALPHA, word(indicator), 0L);
        SendScintilla(S::SCI_INDICSETOUTLINEALPHA, word(indicator), 255L);
    }
    SendScintilla(S::SCI_INDICSETSTYLE, word(pickedIndicator), static_cast<long>(S::INDIC_FULLBOX));
    SendScintilla(S::SCI_INDICSETSTYLE, word(correctedIndicator),
                  static_cast<long>(S::INDIC_DOTBOX));
    for (const int indicator : {pickedIndicator, correctedIndicator}) {
        SendScintilla(S::SCI_INDICSETALPHA, word(indicator), 0L);
        SendScintilla(S::SCI_INDICSETOUTLINEALPHA, word(indicator), 255L);
    }
}

void CodeView::setUpMargins() {
    setMarginType(numberMargin, NumberMargin);
    setMarginType(signMargin, TextMargin);
    setMarginType(kernelMargin, SymbolMargin);
    setMarginMarkerMask(kernelMargin,
                        (1 << kernelMarker) | (1 << launchMarker) | (1 << lowestMarker)
                            | (1 << correctedMarker));
    setMarginMarkerMask(signMargin, 0);
    markerDefine(LeftRectangle, kernelMarker);
    markerDefine(SmallRectangle, launchMarker);
    markerDefine(RightTriangle, lowestMarker);
    markerDefine(Circle, correctedMarker);
    setMarginType(islandMargin, SymbolMargin);
    int islandMask = 0;
    for (int kind = 0; kind < islandKinds; ++kind) {
        markerDefine(FullRectangle, firstIslandMarker + kind);
        islandMask |= (1 << (firstIslandMarker + kind)) | (1 << (firstIslandLetter + kind));
    }
    setMarginMarkerMask(islandMargin, islandMask);
    setMarginWidth(islandMargin, 0);
    for (const int margin : {signMargin, kernelMargin, islandMargin})
        setMarginSensitivity(margin, false);
}

void CodeView::applyTheme() {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    if (fontDelta_ != 0 && font.pointSizeF() > 0)
        font.setPointSizeF(std::clamp(font.pointSizeF() + fontDelta_, 5.0, 40.0));
    const QPalette colors = palette();
    lexer_->applyTheme(colors, font);
    setPaper(colors.color(QPalette::Base));
    const SeriesColors series = seriesColors(colors);
    const QColor base = colors.color(QPalette::Base);
    setCaretForegroundColor(colors.color(QPalette::Text));
    setCaretWidth(2);
    setSelectionBackgroundColor(colors.color(QPalette::Highlight));
    SendScintilla(S::SCI_SETSELALPHA, 70UL);
    resetSelectionForegroundColor();
    setMarginsBackgroundColor(base);
    setMarginsForegroundColor(series.mutedText);
    setMarginsFont(font);
    setMarkerBackgroundColor(mixed(colors.color(QPalette::Text), base, 0.35), kernelMarker);
    setMarkerForegroundColor(mixed(colors.color(QPalette::Text), base, 0.35), kernelMarker);
    const QColor launch = kindColor(SensitiveKind::launch_config, colors);
    setMarkerBackgroundColor(launch, launchMarker);
    setMarkerForegroundColor(launch, launchMarker);
    setMarkerBackgroundColor(series.warning, lowestMarker);
    setMarkerForegroundColor(series.warning, lowestMarker);
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const QColor color = kindColor(static_cast<SensitiveKind>(kind), colors);
        SendScintilla(S::SCI_INDICSETFORE, word(firstKindIndicator + kind), color);
        const int style = firstKindStyle + kind;
        SendScintilla(S::SCI_STYLESETFORE, word(style), color);
        SendScintilla(S::SCI_STYLESETBACK, word(style), base);
        SendScintilla(S::SCI_STYLESETBOLD, word(style), 1L);
        SendScintilla(S::SCI_STYLESETFONT, word(style), font.family().toUtf8().constData());
        SendScintilla(S::SCI_STYLESETSIZEFRACTIONAL, word(style),
                      static_cast<long>(font.pointSizeF() * 85));
    }
    setMarkerBackgroundColor(series.accent, correctedMarker);
    setMarkerForegroundColor(series.accent, correctedMarker);
    SendScintilla(S::SCI_INDICSETFORE, word(correctedIndicator), series.accent);
    setUpIslands();
    setUpMessages();
    SendScintilla(S::SCI_INDICSETFORE, word(hoverIndicator), colors.color(QPalette::Text));
    SendScintilla(S::SCI_INDICSETFORE, word(selectedIndicator), series.accent);
    SendScintilla(S::SCI_INDICSETALPHA, word(selectedIndicator), 40L);
    setMarginWidth(numberMargin, QStringLiteral("0%1").arg(std::max(lineCount(), 100)));
    setMarginWidth(signMargin, QStringLiteral("W").repeated(maxSigns));
    setMarginWidth(kernelMargin, QStringLiteral("W"));
    markGutter();
}

// Stripes are paler than text on them; each carries its letter where it begins.
void CodeView::setUpIslands() {
    static constexpr std::array<QRgb, islandKinds> hues{0xff808080, 0xff7f8c99, 0xff8a4fc4,
                                                        0xff1f77c9, 0xff6b5a4a, 0xffb8600b};
    const QColor base = palette().color(QPalette::Base);
    for (int kind = 0; kind < islandKinds; ++kind) {
        const QColor stripe = mixed(QColor(hues[static_cast<std::size_t>(kind)]), base, 0.35);
        setMarkerBackgroundColor(stripe, firstIslandMarker + kind);
        setMarkerForegroundColor(stripe, firstIslandMarker + kind);
        setMarkerBackgroundColor(stripe, firstIslandLetter + kind);
        setMarkerForegroundColor(readableOn(palette().color(QPalette::Text), stripe),
                                 firstIslandLetter + kind);
    }
}

std::vector<QColor> CodeView::textColors() const {
    return CudaLexer::textColors(palette());
}

} // namespace cuset
