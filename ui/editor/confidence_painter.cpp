#include "ui/editor/confidence_painter.h"

#include <algorithm>
#include <utility>

#include <Qsci/qsciscintillabase.h>

namespace cuset {
namespace {

constexpr int valueIsColor = 0x1000000; // SC_INDICVALUEBIT

int indicatorValue(const QColor& color) {
    if (!color.isValid())
        return 0;
    return valueIsColor | (color.blue() << 16) | (color.green() << 8) | color.red();
}

} // namespace

ConfidencePainter::ConfidencePainter(QsciScintillaBase* view, int indicator)
    : view_(view)
    , indicator_(indicator) {
    using S = QsciScintillaBase;
    const auto number = static_cast<unsigned long>(indicator);
    view_->SendScintilla(S::SCI_INDICSETSTYLE, number, static_cast<long>(S::INDIC_FULLBOX));
    view_->SendScintilla(S::SCI_INDICSETFLAGS, number,
                         static_cast<long>(S::SC_INDICFLAG_VALUEBEFORE));
    view_->SendScintilla(S::SCI_INDICSETUNDER, number, 1L);
    view_->SendScintilla(S::SCI_INDICSETALPHA, number, 255L);
    view_->SendScintilla(S::SCI_INDICSETOUTLINEALPHA, number, 255L);
}

void ConfidencePainter::reset() {
    painted_.clear();
}

void ConfidencePainter::fill(const Run& run) {
    using S = QsciScintillaBase;
    if (run.value != 0) {
        view_->SendScintilla(S::SCI_SETINDICATORVALUE, static_cast<unsigned long>(run.value));
        view_->SendScintilla(S::SCI_INDICATORFILLRANGE, static_cast<unsigned long>(run.begin),
                             static_cast<long>(run.end - run.begin));
    } else {
        view_->SendScintilla(S::SCI_INDICATORCLEARRANGE, static_cast<unsigned long>(run.begin),
                             static_cast<long>(run.end - run.begin));
    }
}

int ConfidencePainter::paint(std::span<const ByteSpan> spans, const std::vector<QColor>& colors) {
    std::vector<Run> runs;
    runs.reserve(spans.size());
    for (std::size_t t = 0; t < spans.size(); ++t) {
        if (spans[t].empty())
            continue;
        const int value = indicatorValue(colors[t]);
        if (!runs.empty() && runs.back().value == value && runs.back().end == spans[t].begin)
            runs.back().end = spans[t].end;
        else
            runs.push_back({spans[t].begin, spans[t].end, value});
    }
    view_->SendScintilla(QsciScintillaBase::SCI_SETINDICATORCURRENT,
                         static_cast<unsigned long>(indicator_));
    int filled = 0;
    auto old = painted_.begin();
    for (const Run& run : runs) {
        while (old != painted_.end() && old->begin < run.begin)
            ++old;
        if (old != painted_.end() && *old == run)
            continue;
        fill(run);
        ++filled;
    }
    painted_ = std::move(runs);
    return filled;
}

} // namespace cuset
