#include "core/cuda/source_lexer.h"

#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/cuda/name_table.h"

namespace cuset::cuda_scan {

namespace {

enum CharClass : std::uint8_t { other_char = 0, blank = 1, word_char = 2, digit = 4, line_end = 8 };

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    for (int c = 0; c < 256; ++c) {
        if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == 0)
            classes[c] = blank;
        else if (c == '\n')
            classes[c] = line_end;
        else if (c >= '0' && c <= '9')
            classes[c] = digit;
        else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'
                 || c >= 0x80)
            classes[c] = word_char;
    }
    return classes;
}
constexpr std::array<std::uint8_t, 256> classes = make_classes();

// Longest character literal, quotes included, that is taken for one: '\U0010FFFF' has 12 bytes.
// Beyond it an apostrophe is that of prose.
constexpr std::int32_t longest_character = 16;
constexpr std::int32_t longest_raw_delimiter = 16;

class Lexer {
public:
    explicit Lexer(std::string_view text)
        : text_(text)
        , size_(static_cast<std::int32_t>(text.size())) {
        out_.text = text;
        out_.code.reserve(text.size() / 4 + 16);
    }

    LexedSource run() {
        bool line_start = true;
        while (at_ < size_) {
            const std::uint8_t kind = class_at(at_);
            if (kind == line_end) {
                line_start = true;
                ++at_;
            } else if (kind == blank) {
                ++at_;
            } else if (text_[at_] == '#' && line_start) {
                lex_directive();
            } else if (skip_comment()) {
                continue;
            } else {
                line_start = false;
                lex_token(out_.code);
            }
        }
        out_.names = names_.take();
        return std::move(out_);
    }

private:
    std::uint8_t class_at(std::int32_t at) const {
        return classes[static_cast<unsigned char>(text_[at])];
    }
    char peek(std::int32_t offset = 0) const {
        return at_ + offset < size_ ? text_[at_ + offset] : '\0';
    }

    // The length of a backslash and line end at `at`, or 0.
    std::int32_t splice_at(std::int32_t at) const {
        if (at + 1 >= size_ || text_[at] != '\\')
            return 0;
        if (text_[at + 1] == '\n')
            return 2;
        return text_[at + 1] == '\r' && at + 2 < size_ && text_[at + 2] == '\n' ? 3 : 0;
    }

    void skip_line_comment() {
        while (true) {
            const std::size_t found = text_.find('\n', at_);
            if (found == std::string_view::npos) {
                // A comment needs no line end after it, but a splice promises another line.
                at_ = size_;
                out_.unfinished = out_.unfinished || text_.back() == '\\';
                return;
            }
            at_ = static_cast<std::int32_t>(found);
            std::int32_t last = at_ - 1;
            if (last >= 0 && text_[last] == '\r')
                --last;
            if (last < 0 || text_[last] != '\\')
                return;
            ++at_;
        }
    }

    void skip_block_comment() {
        const std::size_t found = text_.find("*/", at_ + 2);
        if (found == std::string_view::npos) {
            at_ = size_;
            out_.unfinished = true;
        } else {
            at_ = static_cast<std::int32_t>(found) + 2;
        }
    }

    bool skip_comment() {
        if (text_[at_] != '/')
            return false;
        if (peek(1) == '/')
            skip_line_comment();
        else if (peek(1) == '*')
            skip_block_comment();
        else
            return false;
        return true;
    }

    void push(std::vector<Token>& tokens, std::int32_t begin, TokenKind kind) {
        Token token;
        token.begin = begin;
        token.end = at_;
        token.kind = kind;
        tokens.push_back(token);
    }

    void lex_token(std::vector<Token>& tokens) {
        const std::uint8_t kind = class_at(at_);
        const char c = text_[at_];
        if (kind == word_char)
            lex_word(tokens);
        else if (kind == digit || (c == '.' && at_ + 1 < size_ && class_at(at_ + 1) == digit))
            lex_number(tokens);
        else if (c == '"')
            lex_string(tokens, at_);
        else if (c == '\'')
            lex_character(tokens);
        else if (c == '\\')
            ++at_;
        else
            lex_sign(tokens);
    }

    void lex_word(std::vector<Token>& tokens) {
        const std::int32_t begin = at_;
        while (at_ < size_ && (class_at(at_) & (word_char | digit)))
            ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (peek() == '"'
            && (word == "R" || word == "u8R" || word == "LR" || word == "uR" || word == "UR")
            && lex_raw_string(tokens, begin))
            return;
        if (peek() == '"' && (word == "L" || word == "u8" || word == "u" || word == "U")) {
            lex_string(tokens, begin);
            return;
        }
        push(tokens, begin, TokenKind::identifier);
        const NameTable::Entry entry = names_.intern(word);
        tokens.back().name = entry.index;
        tokens.back().word = entry.word;
    }

    void lex_number(std::vector<Token>& tokens) {
        const std::int32_t begin = at_;
        while (at_ < size_) {
            const char c = text_[at_];
            const bool more = at_ + 1 < size_ && (class_at(at_ + 1) & (word_char | digit));
            if ((class_at(at_) & (word_char | digit)) || c == '.' || (c == '\'' && more))
                ++at_;
            else if ((c == '+' || c == '-') && is_exponent(begin))
                ++at_;
            else
                break;
        }
        push(tokens, begin, TokenKind::number);
    }

    bool is_exponent(std::int32_t begin) const {
        const char last = text_[at_ - 1];
        const bool hex = at_ - begin > 1 && text_[begin] == '0' && (text_[begin + 1] | 0x20) == 'x';
        return hex ? (last | 0x20) == 'p' : (last | 0x20) == 'e';
    }

    // at_ is at the opening quote. An unclosed literal ends with its line.
    void lex_string(std::vector<Token>& tokens, std::int32_t begin) {
        ++at_;
        while (at_ < size_) {
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                push(tokens, begin, TokenKind::string);
                return;
            }
            if (c == '\n')
                break;
            const std::int32_t splice = splice_at(at_);
            at_ += splice > 0 ? splice : (c == '\\' ? 2 : 1);
        }
        if (at_ >= size_) {
            at_ = size_;
            out_.unfinished = true;
        }
        push(tokens, begin, TokenKind::string);
    }

    bool lex_raw_string(std::vector<Token>& tokens, std::int32_t begin) {
        const std::int32_t quote = at_;
        std::int32_t open = quote + 1;
        while (open < size_ && open - quote <= longest_raw_delimiter + 1 && text_[open] != '(') {
            const char c = text_[open];
            if (c == ')' || c == '\\' || c == '"' || (class_at(open) & (blank | line_end)))
                return false;
            ++open;
        }
        if (open < size_ && text_[open] != '(')
            return false;
        std::size_t close = std::string_view::npos;
        if (open < size_) {
            // ) delimiter " with the delimiter's length fixed: found without building a string.
            const std::string_view delimiter = text_.substr(quote + 1, open - quote - 1);
            close = text_.find(')', open);
            while (close != std::string_view::npos) {
                const std::size_t end = close + 1 + delimiter.size();
                if (end < text_.size() && text_[end] == '"'
                    && text_.substr(close + 1, delimiter.size()) == delimiter)
                    break;
                close = text_.find(')', close + 1);
            }
            if (close != std::string_view::npos)
                at_ = static_cast<std::int32_t>(close + 2 + delimiter.size());
        }
        if (close == std::string_view::npos) {
            at_ = size_;
            out_.unfinished = true;
        }
        push(tokens, begin, TokenKind::string);
        return true;
    }

    void lex_character(std::vector<Token>& tokens) {
        const std::int32_t begin = at_;
        for (std::int32_t end = at_ + 1; end < size_ && end - begin < longest_character; ++end) {
            if (text_[end] == '\n')
                break;
            if (text_[end] == '\\') {
                ++end;
            } else if (text_[end] == '\'' && end > begin + 1) {
                at_ = end + 1;
                push(tokens, begin, TokenKind::character);
                return;
            }
        }
        ++at_;
    }

    void lex_sign(std::vector<Token>& tokens) {
        const std::int32_t begin = at_;
        const char c = text_[at_];
        const char next = peek(1);
        const bool pair = (c == ':' && next == ':') || (c == '-' && next == '>')
            || (next == c && (c == '&' || c == '|' || c == '+' || c == '-'))
            || (next == '=' && std::string_view("=!<>+-*/%&|^").find(c) != std::string_view::npos);
        at_ += pair ? 2 : 1;
        push(tokens, begin, TokenKind::sign);
        tokens.back().sign = c;
        tokens.back().sign2 = pair ? next : '\0';
    }

    void skip_blanks_in_directive() {
        while (at_ < size_) {
            if (class_at(at_) == blank)
                ++at_;
            else if (const std::int32_t splice = splice_at(at_))
                at_ += splice;
            else if (text_[at_] == '/' && peek(1) == '*')
                skip_block_comment();
            else
                break;
        }
    }

    std::string_view directive_word() {
        skip_blanks_in_directive();
        const std::int32_t begin = at_;
        while (at_ < size_ && (class_at(at_) & (word_char | digit)))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    // To the end of the logical line, its text unread: an apostrophe in an #error opens no literal.
    void skip_directive_line() {
        while (at_ < size_ && text_[at_] != '\n') {
            if (const std::int32_t splice = splice_at(at_))
                at_ += splice;
            else if (text_[at_] == '/' && peek(1) == '/')
                skip_line_comment();
            else if (text_[at_] == '/' && peek(1) == '*')
                skip_block_comment();
            else
                ++at_;
        }
    }

    void lex_directive() {
        Directive directive;
        directive.span.begin = at_;
        directive.code_index = static_cast<std::int32_t>(out_.code.size());
        ++at_;
        const std::string_view word = directive_word();
        if (word == "define") {
            directive.kind = DirectiveKind::define;
            lex_define(directive);
        } else if (word == "if" || word == "ifdef" || word == "ifndef") {
            directive.kind = DirectiveKind::begin_if;
            if (word == "if") {
                const std::string_view condition = directive_word();
                skip_blanks_in_directive();
                directive.dead = (condition == "0" || condition == "false")
                    && (at_ >= size_ || peek() == '\n' || peek() == '/');
            }
        } else if (word == "else" || word.starts_with("elif")) {
            directive.kind = DirectiveKind::other_branch;
        } else if (word == "endif") {
            directive.kind = DirectiveKind::end_if;
        }
        skip_directive_line();
        if (directive.dead)
            skip_dead_branch();
        directive.span.end = at_;
        out_.directives.push_back(directive);
    }

    // The text after an `#if 0`, up to the line of its #else, #elif or #endif.
    void skip_dead_branch() {
        std::int32_t depth = 0;
        while (at_ < size_) {
            const std::size_t found = text_.find('\n', at_);
            if (found == std::string_view::npos) {
                at_ = size_;
                return;
            }
            const std::int32_t line = static_cast<std::int32_t>(found) + 1;
            at_ = line;
            while (at_ < size_ && class_at(at_) == blank)
                ++at_;
            if (peek() != '#')
                continue;
            ++at_;
            while (at_ < size_ && class_at(at_) == blank)
                ++at_;
            const std::string_view rest = text_.substr(at_, 5);
            if (rest.starts_with("if"))
                ++depth;
            else if (depth == 0
                     && (rest.starts_with("else") || rest.starts_with("elif") || rest == "endif")) {
                at_ = line;
                return;
            } else if (rest == "endif")
                --depth;
        }
    }

    void lex_define(Directive& directive) {
        const std::string_view name = directive_word();
        if (!name.empty())
            directive.macro_name = names_.intern(name).index;
        directive.body_begin = static_cast<std::int32_t>(out_.macro_tokens.size());
        if (peek() == '(') { // parameters: their names are like any other
            while (at_ < size_ && text_[at_] != ')' && text_[at_] != '\n')
                at_ += std::max(splice_at(at_), 1);
            if (peek() == ')')
                ++at_;
        }
        while (at_ < size_ && text_[at_] != '\n') {
            if (class_at(at_) == blank)
                ++at_;
            else if (const std::int32_t splice = splice_at(at_))
                at_ += splice;
            else if (!skip_comment())
                lex_token(out_.macro_tokens);
        }
        directive.body_end = static_cast<std::int32_t>(out_.macro_tokens.size());
    }

    std::string_view text_;
    std::int32_t size_;
    std::int32_t at_ = 0;
    NameTable names_;
    LexedSource out_;
};

} // namespace

LexedSource lex_source(std::string_view text) {
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - 16)
        throw Error(ErrorCode::limit,
                    "source of " + std::to_string(text.size())
                        + " bytes, at most 2147483631 can be labelled; split it");
    return Lexer(text).run();
}

} // namespace cuset::cuda_scan
