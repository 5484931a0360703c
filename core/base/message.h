// Text made safe and pleasant for people: file-derived text without control characters, sizes,
// counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuset {

// `text` with C0 and C1 controls, ESC, bidi controls and invalid UTF-8 replaced by visible escapes
// (\n, \t, \x1b, \u202e), so that a terminal or log shows what is there and obeys none of it.
// At most `max_bytes` bytes, cut between characters and ended with "..." when cut.
std::string printable(std::string_view text, std::size_t max_bytes = 200);

// "1.3 GiB", "512 B".
std::string format_bytes(std::uint64_t bytes);

// "1,234,567".
std::string format_count(std::int64_t count);

// The member of `names` with the smallest edit distance to `word`, or "" if none is near.
std::string nearest_name(std::string_view word, const std::string* names, std::size_t count);

} // namespace cuset
