// Confidence by line, statement, window, region or any other stretch of a response: mean and
// minimum over its tokens. T tokens of one sample.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/corpus_summary.h"
#include "core/base/byte_span.h"

namespace cuset {

// The lines of a text, each without its line end ("\n", "\r\n"); covers an empty last line only if
// the text is empty. Texts of at most 2^31 - 1 bytes, as Error(limit) says otherwise.
std::vector<ByteSpan> line_spans(std::string_view text);

// Statements of C-like text: each ends with ";", or with a "{" or "}" that opens or closes a block,
// outside comments, string and character literals, parentheses and brackets; a preprocessor line is
// one of its own. Blanks and comments before one are left out. An approximation without grammar:
// any bytes are accepted, what is cut off ends with the text. Linear time.
std::vector<ByteSpan> statement_spans(std::string_view text);

enum class Aggregate : std::uint8_t { mean, minimum };
inline constexpr std::array<std::string_view, 2> aggregate_names{"mean", "minimum"};

// What a stretch of a response is. A window is `window` consecutive tokens (a shorter sample is
// one); of those that overlap only the lowest is meant, the first of equal ones. A region is a
// longest run of tokens that share a kernel body, a launch configuration or a kind of sensitive
// span.
enum class TextUnit : std::uint8_t { token, line, statement, window, region };
inline constexpr std::array<std::string_view, 5> text_unit_names{"token", "line", "statement",
                                                                 "window", "region"};

struct SpanConfidence {
    ByteSpan span;
    float mean = 0, minimum = 0; // of its tokens' confidence; 0 without tokens
    std::int32_t tokens = 0; // that share at least one byte with the span
    std::int32_t first_token = -1;
    LabelBits labels = 0; // the bits of any of its tokens; of a region those that make it one

    float confidence(Aggregate how) const { return how == Aggregate::mean ? mean : minimum; }
};

// The tokens of one sample, [T] each, in order of their begin.
struct TokenColumns {
    std::span<const ByteSpan> spans;
    std::span<const float> confidence;
    std::span<const LabelBits> labels;
};

// One entry for each of `spans`, which are in order and do not overlap. A token that lies in
// several spans counts in each, one with an empty span in none.
std::vector<SpanConfidence> aggregate(std::span<const ByteSpan> spans, const TokenColumns& tokens);

// The units of one response, in order of their begin. `window` >= 1 is used for windows only.
// Linear time. Throws Error(limit) as line_spans.
std::vector<SpanConfidence> unit_confidences(std::string_view text, const TokenColumns& tokens,
                                             TextUnit unit, std::int32_t window);
// The same for sample n of a corpus.
std::vector<SpanConfidence> unit_confidences(const CorpusAnalyzer& analyzer, std::int64_t n,
                                             TextUnit unit, std::int32_t window);

// For each line of the text the lowest of the units that share a byte with it, tokens 0 where there
// is none: what a gutter shows. Of windows those around the line's own tokens count (Eq. 5, 6).
std::vector<SpanConfidence> line_confidences(std::string_view text, const TokenColumns& tokens,
                                             TextUnit unit, Aggregate how,
                                             const MaskSettings& settings);

} // namespace cuset
