// JSON from files that other programs wrote: parsed with a depth limit, and with the faults
// repaired that writers are known to leave (lone surrogates, invalid UTF-8, NaN).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cuset {

inline constexpr int max_json_depth = 128;

struct ParsedJson {
    nlohmann::json value;
    bool repaired = false; // lone surrogates or invalid UTF-8 became U+FFFD
};

// Parses one JSON value (RFC 8259). NaN, Infinity and -Infinity, which Python writes, are read as
// null. Throws Error: bad_format (not JSON; says at which byte, or that it is cut off), limit (too
// deep).
ParsedJson parse_json_text(std::string_view text);

} // namespace cuset
