#include "ui/editor/code_view.h"

#include <algorithm>
#include <array>

#include <QContextMenuEvent>
#include <QEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "ui/editor/code_view_numbers.h"
#include "ui/editor/color_scale.h"
#include "ui/editor/cuda_lexer.h"

namespace cuset {

using namespace code_view;

namespace {

using S = QsciScintillaBase;

} // namespace

CodeView::CodeView(QWidget* parent)
    : QsciScintilla(parent)
    , lexer_(new CudaLexer(this))
    , painter_(this, colorIndicator) {
    setUtf8(true);
    setLexer(lexer_);
    setFolding(NoFoldStyle);
    setTabWidth(4);
    setFrameShape(QFrame::NoFrame);
    setReadOnly(true);
    setAccessibleName(tr("Code of the selected sample"));
    setWhatsThis(
        tr("The response of the selected sample. Each token is coloured by what \"Colour by\" "
           "says; the "
           "gutter shows kernel bodies and a letter for each kind of CUDA-sensitive span. Move the "
           "caret or the pointer to see a token's figures."));
    SendScintilla(S::SCI_SETUNDOCOLLECTION, 0UL);
    SendScintilla(S::SCI_SETSCROLLWIDTHTRACKING, 1UL);
    SendScintilla(S::SCI_SETSCROLLWIDTH, 1UL);
    SendScintilla(S::SCI_SETLAYOUTCACHE, word(S::SC_CACHE_PAGE));
    SendScintilla(S::SCI_SETIDLESTYLING, 1UL); // what is visible first
    SendScintilla(S::SCI_SETEXTRAASCENT, 1UL);
    SendScintilla(S::SCI_SETEXTRADESCENT, 2UL);
    // Keys that belong to the window: undo and redo of thresholds, and moving the focus.
    for (const char key : {'Z', 'Y', 'D', 'L', 'T', 'U'})
        SendScintilla(S::SCI_CLEARCMDKEY, word(key + (S::SCMOD_CTRL << 16)));
    for (const auto& [character, shown] : bidiRepresentations())
        SendScintilla(S::SCI_SETREPRESENTATION, character, shown);
    viewport()->setMouseTracking(true);
    setMouseTracking(true);
    // Files that are dropped here are the window's.
    setAcceptDrops(false);
    viewport()->setAcceptDrops(false);
    setUpIndicators();
    setUpMargins();
    applyTheme();
    connect(this, &QsciScintillaBase::SCN_UPDATEUI, this, [this](int what) {
        if (what & (S::SC_UPDATE_V_SCROLL | S::SC_UPDATE_H_SCROLL))
            emit viewportChanged();
        if (what & S::SC_UPDATE_H_SCROLL)
            followColumns();
        if ((what & S::SC_UPDATE_SELECTION) && !quiet_)
            emit byteSelected(static_cast<int>(SendScintilla(S::SCI_GETCURRENTPOS)));
    });
}

CodeView::~CodeView() = default;

void CodeView::setCodeFontDelta(int points) {
    fontDelta_ = points;
    applyTheme();
}

void CodeView::setResponse(std::string_view utf8) {
    quiet_ = true;
    text_.assign(utf8);
    mapping_ = TextMapping(text_);
    longLines_ = LongLines(text_);
    tokens_.clear();
    colors_.clear();
    regions_.clear();
    picked_.clear();
    corrected_.clear();
    islands_.clear();
    lowestWindow_ = {};
    SendScintilla(S::SCI_SETREADONLY, 0UL);
    SendScintilla(S::SCI_CLEARALL);
    SendScintilla(S::SCI_ANNOTATIONCLEARALL);
    SendScintilla(S::SCI_ADDTEXT, word(static_cast<int>(text_.size())), text_.data());
    SendScintilla(S::SCI_SETREADONLY, 1UL);
    SendScintilla(S::SCI_SETSCROLLWIDTH, 1UL);
    SendScintilla(S::SCI_GOTOPOS, 0UL);
    setMarginWidth(numberMargin, QStringLiteral("0%1").arg(std::max(lineCount(), 100)));
    painter_.reset();
    markGutter();
    quiet_ = false;
    emit viewportChanged();
}

void CodeView::appendResponse(std::string_view utf8) {
    if (utf8.empty())
        return;
    quiet_ = true;
    text_.append(utf8);
    mapping_ = TextMapping(text_);
    longLines_ = LongLines(text_);
    SendScintilla(S::SCI_SETREADONLY, 0UL);
    SendScintilla(S::SCI_APPENDTEXT, word(static_cast<int>(utf8.size())),
                  std::string(utf8).c_str());
    SendScintilla(S::SCI_SETREADONLY, 1UL);
    quiet_ = false;
}

void CodeView::paintTokens(std::span<const ByteSpan> spans, const std::vector<QColor>& colors) {
    tokens_.resize(spans.size());
    std::transform(spans.begin(), spans.end(), tokens_.begin(),
                   [this](ByteSpan span) { return mapping_.paintSpan(span); });
    colors_ = colors;
    colorTokens();
}

void CodeView::colorTokens() {
    if (!longLines_.any()) {
        painter_.paint(tokens_, colors_);
        return;
    }
    std::vector<QColor> shown(colors_.size());
    for (std::size_t t = 0; t < shown.size(); ++t)
        if (longLines_.marks(tokens_[t]))
            shown[t] = colors_[t];
    painter_.paint(tokens_, shown);
}

// The code's font is of one width.
void CodeView::followColumns() {
    const long blank = SendScintilla(S::SCI_TEXTWIDTH, word(S::STYLE_DEFAULT), "x");
    const long offset = SendScintilla(S::SCI_GETXOFFSET);
    if (!longLines_.moveTo(static_cast<int>(offset / std::max(1L, blank))))
        return;
    colorTokens();
    underline();
    drawPicked();
}

void CodeView::setRegions(const std::vector<RegionMark>& regions) {
    regions_ = regions;
    underline();
    markGutter();
}

void CodeView::setShownKinds(LabelBits kinds) {
    shownKinds_ = kinds;
    underline();
    markGutter();
}

void CodeView::underline() {
    const auto length = static_cast<long>(text_.size());
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const LabelBits bit = kind_bit(static_cast<SensitiveKind>(kind));
        SendScintilla(S::SCI_SETINDICATORCURRENT, word(firstKindIndicator + kind));
        SendScintilla(S::SCI_INDICATORCLEARRANGE, 0UL, length);
        if (!(shownKinds_ & bit))
            continue;
        for (const RegionMark& mark : regions_)
            if ((mark.labels & bit) && longLines_.marks(mark.span))
                fillIndicator(firstKindIndicator + kind, mapping_.paintSpan(mark.span));
    }
}

void CodeView::markGutter() {
    markerDeleteAll();
    SendScintilla(S::SCI_MARGINTEXTCLEARALL);
    std::vector<LabelBits> lines(static_cast<std::size_t>(lineCount()), 0);
    for (const RegionMark& mark : regions_) {
        if (mark.span.empty())
            continue;
        const int last = lineOfByte(mark.span.end - 1);
        for (int line = lineOfByte(mark.span.begin); line <= last; ++line)
            lines[static_cast<std::size_t>(line)] |= mark.labels;
    }
    for (int line = 0; line < static_cast<int>(lines.size()); ++line) {
        const LabelBits bits = lines[static_cast<std::size_t>(line)];
        if (bits & kernel_bit)
            markerAdd(line, kernelMarker);
        if (bits & launch_bit)
            markerAdd(line, launchMarker);
        QByteArray signs;
        QByteArray styles;
        for (int kind = 0; kind < sensitive_kind_count && signs.size() < maxSigns; ++kind) {
            if (!(bits & shownKinds_ & kind_bit(static_cast<SensitiveKind>(kind))))
                continue;
            signs += kindSign(static_cast<SensitiveKind>(kind)).toLatin1();
            styles += static_cast<char>(firstKindStyle + kind);
        }
        if (signs.isEmpty())
            continue;
        SendScintilla(S::SCI_MARGINSETTEXT, word(line), signs.constData());
        SendScintilla(S::SCI_MARGINSETSTYLES, word(line), styles.constData());
    }
    if (!lowestWindow_.empty())
        markerAdd(lineOfByte(lowestWindow_.begin), lowestMarker);
    for (const ByteSpan& span : corrected_)
        markLines(span, correctedMarker);
    for (const IslandMark& island : islands_) {
        markLines(island.span, firstIslandMarker + island.kind);
        markerAdd(lineOfByte(island.span.begin), firstIslandLetter + island.kind);
    }
}

void CodeView::markLines(ByteSpan span, int marker) {
    if (span.empty())
        return;
    const int last = lineOfByte(span.end - 1);
    for (int line = lineOfByte(span.begin); line <= last; ++line)
        markerAdd(line, marker);
}

void CodeView::setPickedSpans(const std::vector<ByteSpan>& spans, const QColor& color) {
    if (spans == picked_ && color == pickedColor_)
        return;
    picked_ = spans;
    pickedColor_ = color;
    SendScintilla(S::SCI_INDICSETFORE, word(pickedIndicator), color);
    drawPicked();
}

void CodeView::drawPicked() {
    replaceIndicator(pickedIndicator, {});
    for (const ByteSpan& span : picked_)
        if (longLines_.marks(span))
            fillIndicator(pickedIndicator, mapping_.paintSpan(span));
}

void CodeView::setCorrectedSpans(const std::vector<ByteSpan>& spans) {
    if (spans == corrected_)
        return;
    corrected_ = spans;
    replaceIndicator(correctedIndicator, {});
    for (const ByteSpan& span : corrected_)
        fillIndicator(correctedIndicator, mapping_.paintSpan(span));
    markGutter();
}

void CodeView::setIslands(const std::vector<IslandMark>& islands) {
    islands_ = islands;
    for (const IslandMark& island : islands_)
        markerDefine(island.letter, firstIslandLetter + island.kind);
    setUpIslands();
    if (islands_.empty())
        setMarginWidth(islandMargin, 0);
    else
        setMarginWidth(islandMargin, QStringLiteral("WW"));
    markGutter();
}

ByteSpan CodeView::selectedBytes() const {
    return {static_cast<int>(SendScintilla(S::SCI_GETSELECTIONSTART)),
            static_cast<int>(SendScintilla(S::SCI_GETSELECTIONEND))};
}

void CodeView::selectBytes(ByteSpan span) {
    revealByte(span.begin);
    SendScintilla(S::SCI_SETSEL, word(mapping_.characterBegin(span.end)),
                  static_cast<long>(mapping_.characterBegin(span.begin)));
}

int CodeView::caretByte() const {
    return static_cast<int>(SendScintilla(S::SCI_GETCURRENTPOS));
}

void CodeView::goToByte(int byte) {
    SendScintilla(S::SCI_SETEMPTYSELECTION, word(mapping_.characterBegin(byte)));
    revealByte(byte);
}

void CodeView::contextMenuEvent(QContextMenuEvent* event) {
    event->accept();
    emit menuRequested(event->globalPos());
}

void CodeView::setLowestWindow(ByteSpan span) {
    // One line's mark at a time: deleting all of a kind paints the whole view again.
    const auto line = [this](ByteSpan of) { return of.empty() ? -1 : lineOfByte(of.begin); };
    const int from = line(lowestWindow_);
    const int to = line(span);
    lowestWindow_ = span;
    if (from == to)
        return;
    if (from >= 0)
        markerDelete(from, lowestMarker);
    if (to >= 0)
        markerAdd(to, lowestMarker);
}

void CodeView::fillIndicator(int indicator, ByteSpan span) {
    SendScintilla(S::SCI_SETINDICATORCURRENT, word(indicator));
    SendScintilla(S::SCI_SETINDICATORVALUE, 1UL);
    SendScintilla(S::SCI_INDICATORFILLRANGE, word(span.begin), static_cast<long>(span.size()));
}

void CodeView::replaceIndicator(int indicator, ByteSpan span) {
    SendScintilla(S::SCI_SETINDICATORCURRENT, word(indicator));
    SendScintilla(S::SCI_INDICATORCLEARRANGE, 0UL, static_cast<long>(text_.size()));
    if (!span.empty())
        fillIndicator(indicator, mapping_.paintSpan(span));
}

void CodeView::setSelectedSpan(ByteSpan span) {
    replaceIndicator(selectedIndicator, span);
    if (span.empty())
        return;
    // The caret follows, so that the keyboard goes on from here; no answer to our own move.
    const auto caret = static_cast<int>(SendScintilla(S::SCI_GETCURRENTPOS));
    if (!span.contains(caret)) {
        quiet_ = true;
        SendScintilla(S::SCI_SETEMPTYSELECTION, word(mapping_.characterBegin(span.begin)));
        quiet_ = false;
    }
}

void CodeView::setHoveredSpan(ByteSpan span) {
    replaceIndicator(hoverIndicator, span);
}

int CodeView::lineCount() const {
    return static_cast<int>(SendScintilla(S::SCI_GETLINECOUNT));
}

int CodeView::lineOfByte(int byte) const {
    return static_cast<int>(SendScintilla(S::SCI_LINEFROMPOSITION, word(std::max(byte, 0))));
}

int CodeView::firstVisibleLine() const {
    return static_cast<int>(SendScintilla(S::SCI_GETFIRSTVISIBLELINE));
}

int CodeView::visibleLines() const {
    return static_cast<int>(SendScintilla(S::SCI_LINESONSCREEN));
}

void CodeView::scrollToLine(int line) {
    SendScintilla(S::SCI_SETFIRSTVISIBLELINE, word(std::max(0, line - visibleLines() / 2)));
}

void CodeView::revealByte(int byte) {
    const int line = lineOfByte(byte);
    if (line < firstVisibleLine() || line >= firstVisibleLine() + visibleLines())
        scrollToLine(line);
    if (longLines_.any()) // a place far to the right
        SendScintilla(S::SCI_SCROLLRANGE, word(mapping_.characterBegin(byte)),
                      static_cast<long>(mapping_.characterBegin(byte)));
}

int CodeView::byteUnder(const QPoint& position) const {
    return static_cast<int>(SendScintilla(S::SCI_CHARPOSITIONFROMPOINTCLOSE, word(position.x()),
                                          static_cast<long>(position.y())));
}

void CodeView::mouseMoveEvent(QMouseEvent* event) {
    QsciScintilla::mouseMoveEvent(event);
    const int byte = byteUnder(event->position().toPoint());
    if (byte != hoveredByte_) {
        hoveredByte_ = byte;
        emit byteHovered(byte);
    }
}

void CodeView::leaveEvent(QEvent* event) {
    QsciScintilla::leaveEvent(event);
    hoveredByte_ = -1;
    emit byteHovered(-1);
}

bool CodeView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && hoveredByte_ >= 0) {
        hoveredByte_ = -1;
        emit byteHovered(-1);
    }
    if (event->type() == QEvent::ToolTip && toolTipSource_) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int byte = byteUnder(help->pos());
        const QString text = byte < 0 ? QString() : toolTipSource_(byte);
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), plainToolTip(text), viewport());
        return true;
    }
    if (event->type() == QEvent::Resize)
        emit viewportChanged();
    return QsciScintilla::viewportEvent(event);
}

void CodeView::changeEvent(QEvent* event) {
    QsciScintilla::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        applyTheme();
}

} // namespace cuset
