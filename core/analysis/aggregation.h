// Confidence by line, statement or any other stretch of a response: the mean or the minimum over
// its tokens.
#pragma once

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

struct SpanConfidence {
    ByteSpan span;
    float confidence = 0; // mean or minimum over its tokens; 0 without tokens
    std::int32_t tokens = 0; // tokens that share at least one byte with the span
    std::int32_t first_token = -1;
    LabelBits labels = 0; // the bits of any of its tokens
};
// One entry for each of `spans`, which are in order and do not overlap. Tokens [T] are in order of
// their begin; one that lies in several spans counts in each, one with an empty span in none.
std::vector<SpanConfidence> aggregate(std::span<const ByteSpan> spans,
                                      std::span<const ByteSpan> token_spans,
                                      std::span<const float> confidence,
                                      std::span<const LabelBits> labels, Aggregate how);

enum class TextUnit : std::uint8_t { line, statement };
// The same for sample n of a corpus.
std::vector<SpanConfidence> aggregate_sample(const CorpusAnalyzer& analyzer, std::int64_t n,
                                             TextUnit unit, Aggregate how);

struct LowRegion {
    std::int64_t sample = 0;
    SpanConfidence region;
};
// The `most` stretches with the lowest confidence over the whole corpus, lowest first, of those
// with at least `least_tokens` tokens; ties in order of sample and place. Throws Cancelled.
std::vector<LowRegion> lowest_regions(const CorpusAnalyzer& analyzer, TextUnit unit, Aggregate how,
                                      std::int32_t least_tokens, std::size_t most,
                                      RunControl& control);

} // namespace cuset
