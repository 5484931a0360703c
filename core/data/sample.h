// Sample: one prompt and response, as read from a data file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"

namespace cuset {

// One turn of a conversation.
struct ChatMessage {
    std::string role; // "system", "user", "assistant", "tool", ...
    std::string content; // UTF-8
    std::string extra =
        {}; // the record's other fields as a JSON object's text (tool calls, ...), or ""
    bool trained = true; // false: the data says that this turn is not to be learnt
};

// Token ids that a data file gives as they stand; no template and no end token is added to them.
struct PreparedIds {
    std::vector<std::int32_t> ids; // [S], prompt and response
    std::int32_t prompt_tokens = 0;
    // [S - prompt_tokens] in {0, 1}: the CUDA flag of each response token; empty: found in the text
    std::vector<std::uint8_t> cuda;
    // Offsets from prompt_tokens of the response tokens that are scored; empty: all of them.
    std::vector<std::int32_t> rows = {};
};

struct Sample {
    std::string id;
    std::string prompt; // UTF-8, line ends kept; for a conversation, the turns before the response
    std::string response; // UTF-8, line ends kept
    std::vector<ChatMessage> messages =
        {}; // the turns before the response; empty: `prompt` is one user turn
    std::string tools = {}; // JSON array of the tools offered, or ""
    std::string origin = {}; // "file:line", for messages
    PreparedIds prepared = {}; // ids empty unless the data file gives token ids
    bool rendered = false; // `prompt` is what the model sees: no template, no end token
    bool repaired = false; // invalid UTF-8 or lone surrogates became U+FFFD when it was read
};

// Which part of a response is scored and trained.
enum class ResponseChoice : std::uint8_t {
    whole,
    code, // the CUDA, C and C++ source in it; the rest is context
    answer, // all but its reasoning (<think>), which is context
};
inline constexpr std::array<std::string_view, 3> response_choice_names{"whole", "code", "answer"};
constexpr std::string_view response_choice_name(ResponseChoice choice) {
    return response_choice_names[static_cast<std::size_t>(choice)];
}
// Nothing if no choice has that name.
constexpr std::optional<ResponseChoice> find_response_choice(std::string_view name) {
    for (std::size_t i = 0; i < response_choice_names.size(); ++i)
        if (response_choice_names[i] == name)
            return static_cast<ResponseChoice>(i);
    return std::nullopt;
}

// Prompt and response as token ids. T counts the response tokens that are scored.
struct Encoding {
    std::vector<std::int32_t> ids; // [S], prompt and response, up to the last scored token
    std::vector<ByteSpan> spans; // [T], into the response; empty span: the end-of-turn token
    std::int32_t response_begin = 0; // index of the first scored token
    std::int64_t cut_tokens = 0; // scored tokens dropped because of the maximum length
    std::int64_t dropped_bytes = 0; // bytes of the response that the vocabulary has no token for
    // Words of the sample that look like control tokens and were encoded as text.
    std::int64_t plain_controls = 0;
    // [T] offsets of the scored tokens from response_begin, rising; empty: one after another, so
    // that response_begin = S - T.
    std::vector<std::int32_t> rows = {};

    std::int32_t response_tokens() const { return static_cast<std::int32_t>(spans.size()); }
    std::int32_t row(std::size_t t) const {
        return rows.empty() ? static_cast<std::int32_t>(t) : rows[t];
    }
    // Index into ids of scored token t.
    std::size_t position(std::size_t t) const {
        return static_cast<std::size_t>(response_begin + row(t));
    }
    std::int32_t target(std::size_t t) const { return ids[position(t)]; }
};

// What a reader made of a data file: samples, and the records it could not use.
struct BadRecord {
    std::string file;
    std::int64_t line = 0; // from 1; 0 when the file has no lines
    std::string reason;
};

struct Dataset {
    std::vector<Sample> samples;
    std::vector<BadRecord> bad_records = {};
    std::vector<std::string> warnings = {}; // e.g. that the records are a benchmark's test set
    std::int64_t filtered_records = 0; // left out by ReadOptions::filters
    bool benchmark_test_set = false; // holds a benchmark's test set: not to be trained on
};

} // namespace cuset
