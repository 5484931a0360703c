// CodeView: one response as read-only source with line numbers, token colours, region marks in the
// gutter and underlines. Its positions are bytes of the response. It knows nothing of models or
// thresholds.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Qsci/qsciscintilla.h>

#include <QColor>

#include "core/base/byte_span.h"
#include "core/data/token_labels.h"
#include "ui/editor/confidence_painter.h"
#include "ui/editor/long_lines.h"
#include "ui/editor/text_mapping.h"

namespace cuset {

class CudaLexer;

// A stretch to mark: kinds as label bits.
struct RegionMark {
    ByteSpan span;
    LabelBits labels = 0;
};

// What somebody says of a line, shown below it.
struct LineMessage {
    int line = 0; // from 0
    QString text; // plain
    bool error = true; // else a warning
};

// A stretch that is not CUDA source: what it is as a number below 6 and as a letter.
struct IslandMark {
    ByteSpan span;
    int kind = 0;
    char letter = ' ';
};

class CodeView : public QsciScintilla {
    Q_OBJECT
public:
    explicit CodeView(QWidget* parent = nullptr);
    ~CodeView() override;

    // Any bytes; NUL and invalid UTF-8 are shown, not obeyed.
    void setResponse(std::string_view utf8);
    const TextMapping& mapping() const { return mapping_; }
    // Some lines are so long that only what is around the visible columns is marked.
    bool hasLongLines() const { return longLines_.any(); }
    // Adds to the end of the response; what is painted and marked stays.
    void appendResponse(std::string_view utf8);
    // Messages below their lines, which are underlined; they go with the next response.
    void setLineMessages(const std::vector<LineMessage>& messages);

    // [T] token spans and their colours; see ConfidencePainter.
    void paintTokens(std::span<const ByteSpan> spans, const std::vector<QColor>& colors);
    void setRegions(const std::vector<RegionMark>& regions);
    // Label bits of the kinds that are underlined and lettered in the gutter.
    void setShownKinds(LabelBits kinds);
    void setSelectedSpan(ByteSpan span); // empty: none
    void setHoveredSpan(ByteSpan span);
    // Tokens that are picked out, framed in `color`.
    void setPickedSpans(const std::vector<ByteSpan>& spans, const QColor& color);
    // What a person corrected: dotted frames, and a mark in the gutter.
    void setCorrectedSpans(const std::vector<ByteSpan>& spans);
    void setIslands(const std::vector<IslandMark>& islands);
    // What is selected with mouse or keys; empty if nothing is.
    ByteSpan selectedBytes() const;
    // Selects and scrolls there, as a person would.
    void selectBytes(ByteSpan span);
    int caretByte() const;
    void goToByte(int byte);
    // The window with the smallest mean, marked in the gutter.
    void setLowestWindow(ByteSpan span);

    int lineCount() const;
    int lineOfByte(int byte) const;
    int firstVisibleLine() const;
    int visibleLines() const;
    void scrollToLine(int line); // into the middle
    void revealByte(int byte); // scrolls only if it is out of sight
    // Text for the tooltip over a byte; empty for none.
    void setToolTipSource(std::function<QString(int)> source) {
        toolTipSource_ = std::move(source);
    }
    void setCodeFontDelta(int points);
    // How strongly colours of `map` may lie over the paper with text still at 4.5:1.
    std::vector<QColor> textColors() const;

signals:
    void byteHovered(int byte); // -1: none
    void byteSelected(int byte);
    void viewportChanged();
    void menuRequested(const QPoint& globalPosition);

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void applyTheme();
    void setUpIndicators();
    void setUpMargins();
    void markGutter();
    void markLines(ByteSpan span, int marker);
    void setUpIslands();
    void setUpMessages();
    void underline();
    void colorTokens();
    void drawPicked();
    void followColumns();
    void fillIndicator(int indicator, ByteSpan span);
    void replaceIndicator(int indicator, ByteSpan span);
    int byteUnder(const QPoint& position) const;

    CudaLexer* lexer_;
    std::string text_;
    TextMapping mapping_;
    LongLines longLines_;
    ConfidencePainter painter_;
    std::vector<ByteSpan> tokens_; // [T], as painted
    std::vector<QColor> colors_; // [T]
    std::vector<RegionMark> regions_;
    std::vector<ByteSpan> picked_;
    QColor pickedColor_;
    std::vector<ByteSpan> corrected_;
    std::vector<IslandMark> islands_;
    LabelBits shownKinds_ = static_cast<LabelBits>(~0u);
    ByteSpan lowestWindow_;
    std::function<QString(int)> toolTipSource_;
    int fontDelta_ = 0;
    int hoveredByte_ = -1;
    bool quiet_ = false;
};

} // namespace cuset
