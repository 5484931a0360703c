#include "core/text/jinja_lexer.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/error.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

bool is_name_begin(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

bool is_ascii_digit(char c) {
    return c >= '0' && c <= '9';
}

// Line ends become \n, and one at the very end is dropped (keep_trailing_newline is off).
std::string normalized(std::string_view source) {
    std::string text;
    text.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r') {
            text += '\n';
            if (i + 1 < source.size() && source[i + 1] == '\n')
                ++i;
        } else {
            text += source[i];
        }
    }
    if (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
        return;
    }
    const int extra = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static constexpr std::array<int, 4> lead{0, 0xc0, 0xe0, 0xf0};
    out += static_cast<char>(lead[static_cast<std::size_t>(extra)]
                             | static_cast<int>(c >> (6 * extra)));
    for (int i = extra - 1; i >= 0; --i)
        out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
}

class Lexer {
public:
    Lexer(std::string text, const std::string& subject)
        : text_(std::move(text))
        , subject_(subject) { }

    std::vector<Token> run() {
        while (at_ < text_.size())
            data();
        add(TokenKind::end, {});
        return std::move(tokens_);
    }

private:
    [[noreturn]] void fail(const std::string& message) const {
        throw Error(ErrorCode::bad_format, "line " + std::to_string(line_) + ": " + message,
                    subject_);
    }

    bool looking_at(std::string_view what) const {
        return std::string_view(text_).substr(at_, what.size()) == what;
    }

    void add(TokenKind kind, std::string value) {
        tokens_.push_back({kind, std::move(value), line_});
    }

    void advance(std::size_t count) {
        line_ += static_cast<int>(
            std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                       text_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
        at_ += count;
        line_starts_ = count > 0 ? text_[at_ - 1] == '\n' : line_starts_;
    }

    void skip_space() {
        std::size_t end = at_;
        while (end < text_.size() && is_space(code_point(text_, end)))
            end += character_length(text_, end);
        advance(end - at_);
    }

    std::size_t next_tag() const {
        for (std::size_t i = text_.find('{', at_); i != std::string::npos;
             i = text_.find('{', i + 1))
            if (i + 1 < text_.size()
                && (text_[i + 1] == '%' || text_[i + 1] == '{' || text_[i + 1] == '#'))
                return i;
        return text_.size();
    }

    // Template data up to the next tag, then the tag.
    void data() {
        const std::size_t tag = next_tag();
        std::string_view piece = std::string_view(text_).substr(at_, tag - at_);
        if (tag < text_.size()) {
            const char kind = text_[tag + 1];
            const char sign = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
            piece = stripped(piece, kind, sign);
        }
        if (!piece.empty())
            add(TokenKind::text, std::string(piece));
        advance(tag - at_);
        if (tag == text_.size())
            return;
        const char kind = text_[at_ + 1];
        advance(2);
        if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+'))
            advance(1);
        if (kind == '#')
            comment();
        else if (kind == '%' && raw())
            return;
        else
            inside(kind == '{');
    }

    std::string_view stripped(std::string_view piece, char kind, char sign) const {
        if (sign == '-')
            return strip_right(piece, {});
        if (sign == '+' || kind == '{')
            return piece;
        const std::size_t newline = piece.rfind('\n');
        const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
        const bool from_line_start = newline != std::string_view::npos || line_starts_;
        return from_line_start && strip_left(piece.substr(line), {}).empty() ? piece.substr(0, line)
                                                                             : piece;
    }

    // After a tag's end: what follows on the same line.
    void after_block(char sign) {
        if (sign == '-')
            skip_space();
        else if (sign != '+' && looking_at("\n"))
            advance(1);
    }

    void comment() {
        const std::size_t end = text_.find("#}", at_);
        if (end == std::string::npos)
            fail("comment is not closed, needs #}");
        const char sign = end > at_ ? text_[end - 1] : '\0';
        advance(end + 2 - at_);
        after_block(sign);
    }

    // {% raw %} ... {% endraw %}; the lexer stands behind "{%".
    bool raw() {
        std::size_t i = at_;
        const auto blanks = [&] {
            while (i < text_.size() && is_space(code_point(text_, i)))
                i += character_length(text_, i);
        };
        const auto ends_tag = [&](char& sign) {
            blanks();
            sign = i < text_.size() && (text_[i] == '-' || text_[i] == '+') ? text_[i++] : '\0';
            if (text_.compare(i, 2, "%}") != 0)
                return false;
            i += 2;
            return true;
        };
        blanks();
        char sign = '\0';
        if (text_.compare(i, 3, "raw") != 0)
            return false;
        i += 3;
        if (!ends_tag(sign))
            return false;
        advance(i - at_);
        after_block(sign == '-' ? '-' : '+');
        for (std::size_t tag = text_.find("{%", at_); tag != std::string::npos;
             tag = text_.find("{%", tag + 2)) {
            i = tag + 2;
            const char begin_sign =
                i < text_.size() && (text_[i] == '-' || text_[i] == '+') ? text_[i++] : '\0';
            blanks();
            if (text_.compare(i, 6, "endraw") != 0)
                continue;
            i += 6;
            if (!ends_tag(sign))
                continue;
            const std::string_view piece =
                stripped(std::string_view(text_).substr(at_, tag - at_), '%', begin_sign);
            if (!piece.empty())
                add(TokenKind::text, std::string(piece));
            advance(i - at_);
            after_block(sign);
            return true;
        }
        fail("raw block is not closed, needs {% endraw %}");
    }

    void inside(bool output) {
        add(output ? TokenKind::output_begin : TokenKind::block_begin, {});
        std::string open;
        for (;;) {
            skip_space();
            if (at_ == text_.size())
                fail(output ? "tag is not closed, needs }}" : "tag is not closed, needs %}");
            if (open.empty() && ends_tag(output))
                return;
            if (is_ascii_digit(text_[at_]))
                number();
            else if (is_name_begin(text_[at_]))
                name();
            else if (text_[at_] == '\'' || text_[at_] == '"')
                string();
            else
                operation(open);
        }
    }

    bool ends_tag(bool output) {
        const std::string_view close = output ? "}}" : "%}";
        const char sign = looking_at("-") || (!output && looking_at("+")) ? text_[at_] : '\0';
        const std::size_t skip = sign ? 1 : 0;
        if (std::string_view(text_).substr(at_ + skip, 2) != close)
            return false;
        add(output ? TokenKind::output_end : TokenKind::block_end, {});
        advance(skip + 2);
        if (!output)
            after_block(sign);
        else if (sign == '-')
            skip_space();
        return true;
    }

    void number() {
        std::size_t end = at_;
        const auto digits = [&] {
            while (end < text_.size()
                   && (is_ascii_digit(text_[end])
                       || (text_[end] == '_' && end + 1 < text_.size()
                           && is_ascii_digit(text_[end + 1]))))
                ++end;
        };
        digits();
        bool is_real = false;
        if (end + 1 < text_.size() && text_[end] == '.' && is_ascii_digit(text_[end + 1])) {
            is_real = true;
            ++end;
            digits();
        }
        if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            std::size_t exponent = end + 1;
            if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-'))
                ++exponent;
            if (exponent < text_.size() && is_ascii_digit(text_[exponent])) {
                is_real = true;
                end = exponent;
                digits();
            }
        }
        std::string value = text_.substr(at_, end - at_);
        value.erase(std::remove(value.begin(), value.end(), '_'), value.end());
        add(is_real ? TokenKind::real : TokenKind::integer, std::move(value));
        advance(end - at_);
    }

    void name() {
        std::size_t end = at_;
        while (end < text_.size() && (is_name_begin(text_[end]) || is_ascii_digit(text_[end])))
            ++end;
        add(TokenKind::name, text_.substr(at_, end - at_));
        advance(end - at_);
    }

    void string() {
        const char quote = text_[at_];
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote)
            end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size())
            fail("string is not closed");
        add(TokenKind::string, unescaped(std::string_view(text_).substr(at_ + 1, end - at_ - 1)));
        advance(end + 1 - at_);
    }

    std::string unescaped(std::string_view text) const {
        static constexpr std::string_view letters = "ntrbfav0\\'\"",
                                          meanings("\n\t\r\b\f\a\v\0\\'\"", 11);
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\' || i + 1 == text.size()) {
                out += text[i];
                continue;
            }
            const char c = text[++i];
            const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
            if (digits > 0) {
                append_utf8(out, hexadecimal(text.substr(i + 1, digits), digits));
                i += digits;
            } else if (c >= '0' && c <= '7') {
                std::uint32_t value = 0;
                std::size_t length = 0;
                for (; length < 3 && i + length < text.size() && text[i + length] >= '0'
                     && text[i + length] <= '7';
                     ++length)
                    value = value * 8 + static_cast<std::uint32_t>(text[i + length] - '0');
                append_utf8(out, value);
                i += length - 1;
            } else if (const std::size_t found = letters.find(c); found != std::string_view::npos) {
                out += meanings[found];
            } else if (c != '\n') {
                out += '\\';
                out += c;
            }
        }
        return out;
    }

    std::uint32_t hexadecimal(std::string_view digits, std::size_t needed) const {
        std::uint32_t value = 0;
        for (const char c : digits) {
            const int digit = is_ascii_digit(c) ? c - '0'
                : c >= 'a' && c <= 'f'          ? c - 'a' + 10
                : c >= 'A' && c <= 'F'          ? c - 'A' + 10
                                                : -1;
            if (digit < 0)
                fail("string holds a broken \\x, \\u or \\U escape");
            value = value * 16 + static_cast<std::uint32_t>(digit);
        }
        if (digits.size() < needed || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
            fail("string holds a broken \\x, \\u or \\U escape");
        return value;
    }

    void operation(std::string& open) {
        static constexpr std::array<std::string_view, 25> operators{
            "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
            "]",  "(",  ")",  "{",  "}",  "=",  ">", "<", ".", ":", "|", ","};
        const auto found = std::find_if(operators.begin(), operators.end(),
                                        [&](std::string_view op) { return looking_at(op); });
        if (found == operators.end())
            fail("unexpected character '" + text_.substr(at_, character_length(text_, at_)) + "'");
        const char c = (*found)[0];
        if (c == '(' || c == '[' || c == '{')
            open += c == '(' ? ')' : c == '[' ? ']' : '}';
        if (c == ')' || c == ']' || c == '}') {
            if (open.empty() || open.back() != c)
                fail(std::string("unexpected '") + c + "'");
            open.pop_back();
        }
        add(TokenKind::op, std::string(*found));
        advance(found->size());
    }

    std::string text_;
    const std::string& subject_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int line_ = 1;
    bool line_starts_ = true;
};

} // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& subject) {
    return Lexer(normalized(source), subject).run();
}

} // namespace cuset::jinja
