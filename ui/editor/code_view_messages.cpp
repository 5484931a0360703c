// CodeView: messages below lines, what a compiler says of them.
#include <map>
#include <utility>

#include <QFontDatabase>

#include "ui/editor/code_view.h"
#include "ui/editor/color_scale.h"

namespace cuset {
namespace {

using S = QsciScintillaBase;

// Above the indicators and styles of code_view_numbers.h.
constexpr int errorIndicator = 24;
constexpr int warningIndicator = 25;
constexpr int errorStyle = 72;
constexpr int warningStyle = 73;

unsigned long word(int value) {
    return static_cast<unsigned long>(value);
}

} // namespace

void CodeView::setUpMessages() {
    const SeriesColors series = seriesColors(palette());
    const QColor base = palette().color(QPalette::Base);
    const QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    const auto style = [&](int number, int indicator, const QColor& color) {
        const QColor paper = mixed(color, base, 0.12);
        SendScintilla(S::SCI_STYLESETFORE, word(number), readableOn(color, paper));
        SendScintilla(S::SCI_STYLESETBACK, word(number), paper);
        SendScintilla(S::SCI_STYLESETFONT, word(number), font.family().toUtf8().constData());
        SendScintilla(S::SCI_STYLESETSIZEFRACTIONAL, word(number),
                      static_cast<long>(font.pointSizeF() * 90));
        SendScintilla(S::SCI_INDICSETSTYLE, word(indicator), static_cast<long>(S::INDIC_SQUIGGLE));
        SendScintilla(S::SCI_INDICSETFORE, word(indicator), color);
    };
    style(errorStyle, errorIndicator, series.warning);
    style(warningStyle, warningIndicator, series.sensitive);
    SendScintilla(S::SCI_ANNOTATIONSETVISIBLE, word(S::ANNOTATION_INDENTED));
}

void CodeView::setLineMessages(const std::vector<LineMessage>& messages) {
    replaceIndicator(errorIndicator, {});
    replaceIndicator(warningIndicator, {});
    SendScintilla(S::SCI_ANNOTATIONCLEARALL);
    std::map<int, std::pair<QByteArray, bool>> lines;
    for (const LineMessage& message : messages) {
        if (message.line < 0 || message.line >= lineCount())
            continue;
        auto& [text, error] = lines[message.line];
        text += (text.isEmpty() ? "" : "\n") + message.text.toUtf8();
        error = error || message.error;
    }
    for (const auto& [line, what] : lines) {
        const auto& [text, error] = what;
        SendScintilla(S::SCI_ANNOTATIONSETTEXT, word(line), text.constData());
        SendScintilla(S::SCI_ANNOTATIONSETSTYLE, word(line),
                      static_cast<long>(error ? errorStyle : warningStyle));
        const auto begin =
            static_cast<int>(SendScintilla(S::SCI_GETLINEINDENTPOSITION, word(line)));
        const auto end = static_cast<int>(SendScintilla(S::SCI_GETLINEENDPOSITION, word(line)));
        if (end > begin)
            fillIndicator(error ? errorIndicator : warningIndicator, {begin, end});
    }
}

} // namespace cuset
