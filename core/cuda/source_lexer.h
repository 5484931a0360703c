// Lexer for C++ and CUDA text that may be complete, broken or cut off: tokens with byte offsets,
// comments and blanks left out, preprocessor lines set apart. Linear time; every byte sequence is
// accepted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"
#include "core/cuda/word_class.h"

namespace cuset::cuda_scan {

enum class TokenKind : std::uint8_t { identifier, number, string, character, sign };

struct Token {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t name = -1; // identifiers: index into LexedSource::names
    TokenKind kind = TokenKind::sign;
    Word word = Word::none; // identifiers: what the word is known for
    char sign = 0; // signs: the first character, and the second of a pair like `::` or `->`
    char sign2 = 0;
};

enum class DirectiveKind : std::uint8_t { begin_if, other_branch, end_if, define, other };

struct Directive {
    DirectiveKind kind = DirectiveKind::other;
    bool dead = false; // `#if 0`: its first branch was skipped like a comment
    ByteSpan span;
    std::int32_t code_index = 0; // code tokens before it
    std::int32_t macro_name = -1; // #define: the macro's name, an index into `names`
    std::int32_t body_begin = 0,
                 body_end = 0; // #define: its replacement, a range of `macro_tokens`
};

struct LexedSource {
    std::string_view text;
    std::vector<Token> code; // outside preprocessor lines
    std::vector<Token> macro_tokens; // replacements of the #defines
    std::vector<Directive> directives;
    std::vector<std::string_view> names; // distinct identifiers
    bool unfinished = false; // the text ends inside a comment, a string or a character literal
};

// `text`: any bytes, at most 2^31 - 1 of them (throws Error(limit) beyond). `<` and `>` are always
// tokens of one character; `::`, `->`, `&&`, `||`, `++`, `--` and the operators that end in `=` are
// one token each.
LexedSource lex_source(std::string_view text);

} // namespace cuset::cuda_scan
