// Hand-written scanners for the split patterns of well-known tokenizers: the same pieces as the
// pattern, much faster.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cuset::text {

// Half-open range of bytes.
struct Piece {
    std::uint32_t begin, end;
};

enum class KnownPattern {
    none,
    gpt2, // GPT-2, the ByteLevel step's own
    llama3, // Llama 3 and GPT-4 (cl100k): numbers in groups of up to three
    qwen2, // Qwen 2 and 3: numbers digit by digit
};

// The pattern's text, "" for none.
std::string_view pattern_text(KnownPattern known);
// Which known pattern this text is, compared as a whole.
KnownPattern find_known_pattern(std::string_view pattern);

// Appends the pattern's matches in bytes [begin, end) of `text` (valid UTF-8), which they cover
// without gaps.
void scan(KnownPattern known, std::string_view text, Piece range, std::vector<Piece>& out);
// Appends the digits (N) of the range and the stretches between them; each digit alone, or runs of
// them.
void scan_digits(std::string_view text, Piece range, bool individual, std::vector<Piece>& out);

} // namespace cuset::text
