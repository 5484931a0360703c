// Corrections of labels made by hand: `NAME.labels.json` beside the data. They are keyed by sample
// id and byte span of the response, so they survive a new scoring and another tokenizer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"
#include "core/data/token_labels.h"

namespace cuset {

struct LabelCorrection {
    std::string sample_id;
    ByteSpan span; // bytes of the response
    std::optional<SensitiveKind> kind; // nothing: neutral

    friend bool operator==(const LabelCorrection&, const LabelCorrection&) = default;
};

// Applies the corrections of sample `id` to its labels, in their order, so that a later one wins. A
// token is meant if its span shares a byte with the correction's. A kind replaces the token's kinds
// and launch bit (launch_config sets the launch bit); neutral clears them. The kernel bit is
// structure and stays. `labels` and `spans`: [T], as label_tokens made them.
void apply_corrections(std::span<const LabelCorrection> corrections, std::string_view id,
                       std::span<const ByteSpan> spans, std::span<LabelBits> labels);

// The file's text: {"format": "cuset-labels", "format_version": 1, "corrections": [{"id", "begin",
// "end", "kind"}]}, `kind` a kind's name or "neutral". One correction a line.
std::string write_corrections(std::span<const LabelCorrection> corrections);

// Throws Error(bad_format) if `json` is no such text, Error(bad_value) for an unknown kind or an
// impossible span, Error(unsupported) for a newer version. `subject` names the file in messages.
std::vector<LabelCorrection> read_corrections(std::string_view json, const std::string& subject);

} // namespace cuset
