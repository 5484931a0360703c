// Tokens of a Jinja template: text between tags, and what stands inside tags. Follows jinja2 3.1
// with trim_blocks and lstrip_blocks on, as transformers sets it up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuset::jinja {

enum class TokenKind {
    text, // template data, white space control already applied
    block_begin, // {%
    block_end, // %}
    output_begin, // {{
    output_end, // }}
    name,
    integer,
    real,
    string, // value: unescaped
    op, // operator or bracket
    end,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::string value;
    int line = 1;
};

// Throws Error(bad_format) with the line; the last token is `end`.
std::vector<Token> tokenize(std::string_view source, const std::string& subject);

} // namespace cuset::jinja
