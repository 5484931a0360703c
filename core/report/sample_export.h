// A chosen part of the data with its weights, in forms that training programs read. JSON Lines, one
// sample a line.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/analysis/corpus_summary.h"
#include "core/base/run_control.h"
#include "core/data/sample_note.h"

namespace cuset {

enum class ExportFormat : std::uint8_t {
    // {"id", "messages": [{"role", "content"}..], "weight": w, "difficulty": C, "token_ids": [T],
    // "token_spans": [[begin, end]..], "token_weights": [T]}: spans are byte offsets into the
    // response's UTF-8, a token's weight is w M (Eq. 4, 8).
    messages,
    // {"id", "segments": [{"label", "text"}..], "weight": w}, as axolotl's segments: the prompt
    // with label false, then the response cut where training begins or ends to see tokens (M > 0).
    // A
    // character cut between two tokens belongs to the first.
    segments,
    // {"id", "prompt", "response"}: the data alone, as `cuset score` and `cuset train` read it. A
    // conversation's earlier turns stand in the prompt as text.
    data,
    // {"id", "input_ids": [T], "labels": [T], "loss_weights": [T]}: the response's tokens, with
    // label -100 where the weight w M is 0, as trainers on token ids take them.
    tokens,
};
inline constexpr int export_format_count = 4;
inline constexpr std::array<std::string_view, export_format_count> export_format_names{
    "messages", "segments", "data", "tokens"};
std::optional<ExportFormat> find_export_format(std::string_view name);

// Gives each of `samples` (indices of the analyzer's set) as one line with its "\n" to `write`, at
// the analyzer's settings. Tags and note of a sample are written with it if there are any. What is
// no UTF-8 becomes U+FFFD. Throws Cancelled and what `write` throws.
void export_samples(const CorpusAnalyzer& analyzer, std::span<const std::int64_t> samples,
                    ExportFormat format, const SampleNotes& notes,
                    const std::function<void(std::string_view)>& write, RunControl& control);

} // namespace cuset
