// ConfidencePainter: one colour a token in a Scintilla view. A single indicator whose value is its
// colour does it (SC_INDICFLAG_VALUEFORE); only stretches that differ from the last painting are
// filled again.
#pragma once

#include <span>
#include <vector>

#include <QColor>

#include "core/base/byte_span.h"

class QsciScintillaBase;

namespace cuset {

class ConfidencePainter {
public:
    // `indicator` must be used by nobody else.
    ConfidencePainter(QsciScintillaBase* view, int indicator);

    // The view's text is new: nothing is painted.
    void reset();
    // `spans` [T] in order, bytes of the text; `colors` [T], an invalid one leaves the span bare.
    // Returns the number of stretches that were filled or cleared.
    int paint(std::span<const ByteSpan> spans, const std::vector<QColor>& colors);

private:
    struct Run {
        int begin;
        int end;
        int value; // Scintilla's indicator value; 0 for none
        friend bool operator==(const Run&, const Run&) = default;
    };
    void fill(const Run& run);

    QsciScintillaBase* view_;
    int indicator_;
    std::vector<Run> painted_;
};

} // namespace cuset
