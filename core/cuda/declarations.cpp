#include "core/cuda/declarations.h"

#include <algorithm>

namespace cuset::cuda_scan {

namespace {

constexpr std::int32_t longest_statement = 4096; // tokens
constexpr std::int32_t longest_type = 64; // tokens

std::int32_t skip_group(const CodeView& code, std::int32_t open) {
    return std::max(open, std::min(code.match(open), code.size() - 1));
}

bool can_name_type(Word word) {
    return word != Word::flow && word != Word::control && word != Word::cast
        && word != Word::operator_word && word != Word::template_word && word != Word::asm_word
        && word != Word::access && word != Word::index_vector && word != Word::index_value
        && word != Word::global_space;
}

class DeclarationReader {
public:
    DeclarationReader(const CodeView& code, std::int32_t first, Declaration& out)
        : code_(code)
        , at_(first)
        , out_(out) { }

    bool read() {
        if (!read_type())
            return false;
        while (true) {
            if (!read_declarator())
                return false;
            if (!code_.is_sign(at_, ','))
                break;
            ++at_;
        }
        out_.end = at_;
        return true;
    }

private:
    bool read_type() {
        bool typed = false;
        const std::int32_t limit = at_ + longest_type;
        for (; at_ < limit; ++at_) {
            const Word word = code_.word(at_);
            if (word == Word::qualifier) {
                continue;
            } else if (word == Word::shared_space) {
                out_.shared = true;
            } else if (word == Word::constant_space || word == Word::device_space) {
                out_.device_variable = true;
            } else if (word == Word::attribute) {
                if (code_.is_sign(at_ + 1, '('))
                    at_ = skip_group(code_, at_ + 1);
            } else if (word == Word::integer_type) {
                typed = out_.integer = true;
                out_.is_auto = out_.is_auto || code_.text(at_) == "auto";
            } else if (word == Word::other_type) {
                typed = out_.other = true;
            } else if (!typed && (code_.is_identifier(at_) || code_.is_sign(at_, ':', ':'))
                       && can_name_type(word)) {
                typed = true;
                if (!read_type_name())
                    return false;
            } else {
                return typed;
            }
        }
        return false;
    }

    // `ns::name<arguments>::member`; leaves at_ on its last token.
    bool read_type_name() {
        if (code_.is_sign(at_, ':', ':'))
            ++at_;
        while (code_.is_identifier(at_)) {
            if (code_.word(at_) != Word::none)
                out_.type_word = code_.word(at_);
            std::int32_t next = at_ + 1;
            if (code_.is_sign(next, '<')) {
                next = code_.after_template_arguments(next);
                if (next < 0)
                    return false;
            }
            at_ = next;
            if (!code_.is_sign(at_, ':', ':'))
                break;
            at_ += code_.word(at_ + 1) == Word::template_word ? 2 : 1;
        }
        --at_;
        return true;
    }

    bool read_declarator() {
        Declarator declarator;
        for (int i = 0; i < longest_type; ++i, ++at_) {
            if (code_.is_sign(at_, '*'))
                ++declarator.pointers;
            else if (code_.is_sign(at_, '&') || code_.is_sign(at_, '&', '&'))
                declarator.reference = true;
            else if (code_.word(at_) != Word::qualifier)
                break;
        }
        if (code_.is_sign(at_, '(') && (code_.is_sign(at_ + 1, '*') || code_.is_sign(at_ + 1, '&'))
            && code_.is_identifier(at_ + 2) && code_.is_sign(at_ + 3, ')')) {
            if (code_.is_sign(at_ + 1, '*'))
                ++declarator.pointers;
            else
                declarator.reference = true;
            declarator.name = at_ + 2;
            at_ += 4;
            while (code_.is_sign(at_, '['))
                at_ = skip_group(code_, at_) + 1;
            return read_initializer(declarator);
        }
        if (!code_.is_identifier(at_) || !can_name_type(code_.word(at_))
            || code_.word(at_) == Word::integer_type)
            return false;
        declarator.name = at_++;
        for (; code_.is_sign(at_, '['); at_ = skip_group(code_, at_) + 1)
            declarator.array = true;
        return read_initializer(declarator);
    }

    bool read_initializer(Declarator& declarator) {
        declarator.init_begin = declarator.init_end = at_;
        if (code_.is_sign(at_, '=')) {
            declarator.value_init = true;
            declarator.init_begin = at_ + 1;
            at_ = expression_end(code_, at_ + 1);
            declarator.init_end = at_;
        } else if (code_.is_sign(at_, '(') || code_.is_sign(at_, '{')) {
            declarator.value_init = true;
            declarator.init_begin = at_ + 1;
            declarator.init_end = std::min(code_.match(at_), code_.size());
            at_ = std::min(declarator.init_end + 1, code_.size());
        }
        out_.declarators.push_back(declarator);
        return at_ >= code_.size() || code_.is_sign(at_, ',') || code_.is_sign(at_, ';')
            || code_.is_sign(at_, ':') || code_.is_sign(at_, ')');
    }

    const CodeView& code_;
    std::int32_t at_;
    Declaration& out_;
};

} // namespace

std::int32_t expression_end(const CodeView& code, std::int32_t at) {
    const std::int32_t limit = std::min(code.size(), at + longest_statement);
    for (; at < limit; ++at) {
        const Token& token = code[at];
        if (token.kind == TokenKind::identifier && code.is_sign(at + 1, '<')
            && code.run_length(at + 1, '<') == 1) {
            if (const std::int32_t after = code.after_template_arguments(at + 1); after > 0)
                at = after - 1;
            continue;
        }
        if (token.kind != TokenKind::sign)
            continue;
        if (token.sign == '(' || token.sign == '[' || token.sign == '{')
            at = code.match(at) >= code.size() ? code.size() - 1 : skip_group(code, at);
        else if (token.sign == ',' || token.sign == ';' || token.sign == ')' || token.sign == ']'
                 || token.sign == '}')
            return at;
    }
    return std::min(at, code.size());
}

bool read_declaration(const CodeView& code, std::int32_t first, Declaration& out) {
    out = Declaration{};
    return DeclarationReader(code, first, out).read();
}

std::vector<Declarator> read_parameters(const CodeView& code, std::int32_t open) {
    std::vector<Declarator> parameters;
    const std::int32_t close = std::min(code.match(open), code.size());
    Declarator current;
    bool typed = false; // a name after it is the parameter's
    bool in_default = false;
    const auto finish = [&] {
        if (current.name >= 0)
            parameters.push_back(current);
        current = Declarator{};
        typed = in_default = false;
    };
    for (std::int32_t i = open + 1; i < close; ++i) {
        const Token& token = code[i];
        if (token.kind == TokenKind::identifier) {
            if (in_default)
                continue;
            if (token.word != Word::qualifier && typed)
                current.name = i;
            typed = typed || token.word != Word::qualifier;
            if (code.is_sign(i + 1, '<'))
                if (const std::int32_t after = code.after_template_arguments(i + 1); after > 0)
                    i = after - 1;
        } else if (token.kind == TokenKind::sign) {
            if (token.sign == ',')
                finish();
            else if (token.sign == '=')
                in_default = true;
            else if (token.sign == '*' && !in_default)
                ++current.pointers;
            else if (token.sign == '&' && !in_default)
                current.reference = true;
            else if (token.sign == '[' && !in_default)
                current.array = true;
            if (token.sign == '(' && code.is_sign(i + 1, '*')
                && code.is_identifier(i + 2)) { // float (*tile)[32]
                current.name = i + 2;
                ++current.pointers;
            } else if (token.sign == '(' && code.is_sign(i + 1, '&') && code.is_identifier(i + 2)) {
                current.name = i + 2;
                current.reference = true;
            }
            if (token.sign == '(' || token.sign == '[' || token.sign == '{')
                i = std::max(i, std::min(code.match(i), close));
        }
    }
    finish();
    return parameters;
}

std::int32_t statement_end(const CodeView& code, std::int32_t first) {
    const std::int32_t limit = std::min(code.size(), first + longest_statement);
    for (std::int32_t i = first; i < limit; ++i) {
        const Token& token = code[i];
        if (token.kind != TokenKind::sign)
            continue;
        if (token.sign == ';')
            return i;
        if (token.sign == '}' || token.sign == ')' || token.sign == ']')
            return -1;
        if (token.sign == '(' || token.sign == '[' || token.sign == '{') {
            if (code.match(i) >= code.size())
                return code.size();
            i = skip_group(code, i);
        }
    }
    return limit == code.size() ? code.size() : -1;
}

} // namespace cuset::cuda_scan
