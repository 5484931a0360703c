// The stretches of a whole corpus that the model is least sure of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/aggregation.h"

namespace cuset {

struct LowestQuery {
    TextUnit unit = TextUnit::statement;
    Aggregate how = Aggregate::mean;
    std::int32_t least_tokens =
        3; // shorter stretches are left out; those without tokens always are
    std::int32_t window = 256; // tokens, where the unit is a window
    LabelBits labels = 0; // only stretches with one of these bits; 0: all
    std::size_t most = 500;
};

// A line with a single brace says little: 3; and 1 for tokens, windows and regions.
std::int32_t default_least_tokens(TextUnit unit);

struct LowUnit {
    std::int64_t sample = 0;
    std::int32_t line = 0; // of its first byte, from 1
    SpanConfidence unit;
};

// The lowest first; ties in order of sample and place. Works on the analyzer's threads, and
// reads of it only what no setting changes. Throws Cancelled, and Error(limit) as line_spans.
std::vector<LowUnit> lowest_units(const CorpusAnalyzer& analyzer, const LowestQuery& query,
                                  RunControl& control);

// [N]: the lowest stretch of each sample, with 0 tokens where it has none; `query.most` is not
// looked at. Otherwise as lowest_units.
std::vector<SpanConfidence> lowest_of_samples(const CorpusAnalyzer& analyzer,
                                              const LowestQuery& query, RunControl& control);

// Its text in the response, at most `most_bytes`, cut between characters.
std::string_view unit_text(const ScoreSet& scores, const LowUnit& unit, std::size_t most_bytes);

// The bits that stand for a kind: of launch configurations the launch bit too.
LabelBits bits_of(SensitiveKind kind);
// "kernel" and the names of kinds.
std::vector<std::string_view> label_names(LabelBits labels);
std::string joined_label_names(LabelBits labels); // with blanks between them

// Columns id, line, begin, end, tokens, mean_confidence, minimum_confidence, labels, text. RFC 4180
// with a header; a field that a spreadsheet would run as a formula gets an apostrophe in front.
std::string lowest_units_csv(const ScoreSet& scores, std::span<const LowUnit> units);

} // namespace cuset
