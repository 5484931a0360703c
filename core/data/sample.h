// Sample: one prompt and response, as read from a data file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/byte_span.h"

namespace cuset {

// One turn of a conversation.
struct ChatMessage {
    std::string role; // "system", "user", "assistant", "tool", ...
    std::string content; // UTF-8
    std::string extra =
        {}; // the record's other fields as a JSON object's text (tool calls, ...), or ""
};

// Token ids that a data file gives as they stand; no template and no end token is added to them.
struct PreparedIds {
    std::vector<std::int32_t> ids; // [S], prompt and response
    std::int32_t prompt_tokens = 0;
    std::vector<std::uint8_t> cuda; // [T] in {0, 1}: the CUDA flag of each response token
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
    bool repaired = false; // invalid UTF-8 or lone surrogates became U+FFFD when it was read
};

// Prompt and response as token ids.
struct Encoding {
    std::vector<std::int32_t> ids; // [S], prompt and response
    std::vector<ByteSpan> spans; // [T], into the response; empty span: the end-of-turn token
    std::int32_t response_begin = 0; // index of the first response token, S - T
    std::int64_t cut_tokens = 0; // response tokens dropped because of the maximum length
    std::int64_t dropped_bytes = 0; // bytes of the response that the vocabulary has no token for

    std::int32_t response_tokens() const { return static_cast<std::int32_t>(spans.size()); }
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
    std::int64_t filtered_records = 0;      // left out by ReadOptions::filters
    bool benchmark_test_set = false;        // holds a benchmark's test set: not to be trained on
};

} // namespace cuset
