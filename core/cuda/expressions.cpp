#include "core/cuda/expressions.h"

#include <algorithm>

namespace cuset::cuda_scan {

namespace {

constexpr std::int32_t longest_expression = 512; // tokens looked at
constexpr std::int32_t longest_operand = 64;

} // namespace

bool is_vector_type(std::string_view name) {
    if (name == "__nv_bfloat162" || name == "nv_bfloat162" || name == "bfloat162")
        return true;
    const std::size_t star = name.find_last_not_of("0123456789");
    if (star == std::string_view::npos || star + 2 != name.size())
        return false;
    const char width = name.back();
    if (width != '2' && width != '3' && width != '4' && width != '8')
        return false;
    for (std::string_view base :
         {"float", "double", "int", "uint", "short", "ushort", "char", "uchar", "long", "ulong",
          "longlong", "ulonglong", "half", "__half"})
        if (name.substr(0, star + 1) == base)
            return true;
    return false;
}

bool Expressions::is_member(std::int32_t index) const {
    if (code_.is_sign(index - 1, '-', '>'))
        return code_.word(index - 2) != Word::flow;
    return code_.is_sign(index - 1, '.') || code_.is_sign(index - 1, ':', ':');
}

bool Expressions::calls_function(std::int32_t open) const {
    std::int32_t name = open - 1;
    if (code_.is_sign(name, '>')) {
        const std::int32_t template_open = code_.template_open(name);
        if (template_open <= 0)
            return false;
        name = template_open - 1;
    }
    if (!code_.is_identifier(name))
        return false;
    const Word word = code_.word(name);
    return word != Word::cast && word != Word::integer_math && word != Word::integer_type
        && word != Word::flow && word != Word::control && word != Word::index_method
        && word != Word::index_call && !macros_.thread_index.holds(code_[name]);
}

SymbolKind Expressions::base(std::int32_t begin, std::int32_t end) const {
    end = std::min(end, begin + longest_expression);
    SymbolKind found = SymbolKind::unknown;
    for (std::int32_t i = begin; i < end; ++i) {
        const Token& token = code_[i];
        if (token.kind == TokenKind::sign) {
            if (token.sign == '[')
                i = std::max(i, std::min(code_.match(i), end));
            continue;
        }
        if (token.kind != TokenKind::identifier)
            continue;
        if (code_.is_sign(i + 1, '<') && (token.word == Word::cast || token.word == Word::none)) {
            const std::int32_t after = code_.after_template_arguments(i + 1);
            if (after > 0) {
                i = after - 1;
                continue;
            }
        }
        if (is_member(i))
            continue;
        switch (scopes_.find(token.name)) {
        case SymbolKind::shared:
        case SymbolKind::barrier:
            return SymbolKind::shared;
        case SymbolKind::pointer:
            return SymbolKind::pointer;
        case SymbolKind::local_array:
            return SymbolKind::local_array;
        case SymbolKind::scalar:
        case SymbolKind::parameter:
            // `&x` points at a local value; `x` alone may hold a pointer.
            if (code_.is_sign(i - 1, '&') && !code_.is_identifier(i - 2))
                found = SymbolKind::local_array;
            break;
        default:
            break;
        }
    }
    return found;
}

bool Expressions::is_index_term(std::int32_t index) const {
    const Token& token = code_[index];
    switch (token.word) {
    case Word::index_vector:
        return true;
    case Word::index_value: // a warp's size is the same for all threads
        return code_.text(index) != "warpSize";
    case Word::index_call:
        return code_.call_open(index) > 0;
    case Word::index_method:
        return is_member(index) && code_.call_open(index) > 0;
    default:
        return (!is_member(index) && scopes_.find(token.name) == SymbolKind::index)
            || macros_.thread_index.holds(token);
    }
}

bool Expressions::is_index(std::int32_t begin, std::int32_t end) const {
    end = std::min(end, begin + longest_expression);
    bool found = false;
    bool comparison = false;
    bool choice = false;
    for (std::int32_t i = begin; i < end; ++i) {
        const Token& token = code_[i];
        if (token.kind == TokenKind::identifier) {
            found = found || is_index_term(i);
            if (code_.is_sign(i + 1, '<') && (token.word == Word::cast || token.word == Word::none)
                && code_.run_length(i + 1, '<') == 1)
                if (const std::int32_t after = code_.after_template_arguments(i + 1); after > 0)
                    i = after - 1;
            if (code_.is_sign(i + 1, '(') && calls_function(i + 1))
                i = std::max(i + 1, std::min(code_.match(i + 1), end));
        } else if (token.kind == TokenKind::string) {
            return false;
        } else if (token.kind == TokenKind::sign) {
            const char c = token.sign;
            if (c == '[')
                i = std::max(i, std::min(code_.match(i), end));
            else if (c == '?')
                choice = true;
            else if (c == '{' && i > begin)
                return false;
            else if ((c == '<' || c == '>') && token.sign2 == '\0' && code_.run_length(i, c) > 1)
                ++i;
            else if (c == '<' || c == '>' || (c == '=' && token.sign2 == '=') || c == '!'
                     || (c == '&' && token.sign2 == '&') || (c == '|' && token.sign2 == '|'))
                comparison = true;
        } else if (code_.text(i).find('.') != std::string_view::npos) {
            return false; // a floating-point number
        }
    }
    return found && (choice || !comparison);
}

Expressions::Chain Expressions::chain_after(std::int32_t last) const {
    Chain chain{last + 1, false, false};
    std::int32_t at = last + 1;
    while (at < code_.size()) {
        if (code_.is_sign(at, '[')) {
            chain.subscript = true;
            at = std::min(code_.match(at), code_.size() - 1) + 1;
            chain.end = at;
        } else if ((code_.is_sign(at, '.') || code_.is_sign(at, '-', '>'))
                   && code_.is_identifier(at + 1)) {
            if (code_.is_sign(at + 2, '(') || code_.is_sign(at + 2, '<'))
                break; // a method
            const bool arrow = code_[at].sign == '-';
            chain.arrow = chain.arrow || (arrow && !chain.subscript);
            at += 2;
            if (arrow || chain.subscript)
                chain.end = at;
        } else {
            break;
        }
    }
    return chain;
}

bool Expressions::is_unary(std::int32_t index) const {
    for (int stars = 0; stars < 8 && code_.is_sign(index - 1, '*'); ++stars)
        --index;
    if (index == 0)
        return true;
    const Token& before = code_[index - 1];
    if (before.kind == TokenKind::identifier)
        return before.word == Word::flow && code_.text(index - 1) != "this";
    if (before.kind != TokenKind::sign)
        return false;
    if (before.sign == ')')
        return code_.match(index - 1) > 0
            && code_.word(code_.match(index - 1) - 1) == Word::control;
    if (before.sign == '>' && before.sign2 == '\0')
        return false;
    return before.sign != ']' && !(before.sign == '+' && before.sign2 == '+')
        && !(before.sign == '-' && before.sign2 == '-');
}

std::int32_t Expressions::operand_end(std::int32_t begin) const {
    std::int32_t at = begin;
    for (int step = 0; step < longest_operand && at < code_.size(); ++step) {
        const Token& token = code_[at];
        if (token.kind == TokenKind::sign
            && (token.sign == '*' || token.sign == '&' || token.sign == '~')) {
            ++at;
        } else if (token.kind == TokenKind::sign && (token.sign == '+' || token.sign == '-')
                   && token.sign2 == token.sign) {
            ++at;
        } else if (token.kind == TokenKind::sign && token.sign == '(') {
            at = std::min(code_.match(at), code_.size() - 1) + 1;
            const bool cast =
                code_.is_identifier(at) || code_.is_sign(at, '(') || code_.is_sign(at, '&');
            if (!cast || !code_.is_sign(at - 2, '*'))
                break;
        } else if (token.kind == TokenKind::identifier) {
            ++at;
            while (code_.is_sign(at, ':', ':') && code_.is_identifier(at + 1))
                at += 2;
            if (code_.is_sign(at, '<') && code_.run_length(at, '<') == 1)
                if (const std::int32_t after = code_.after_template_arguments(at);
                    after > 0 && code_.is_sign(after, '('))
                    at = after;
            if (code_.is_sign(at, '('))
                at = std::min(code_.match(at), code_.size() - 1) + 1;
            break;
        } else {
            break;
        }
    }
    const Chain chain = chain_after(at - 1);
    at = chain.end;
    if (code_.is_sign(at, '+', '+') || code_.is_sign(at, '-', '-'))
        ++at;
    return at;
}

bool Expressions::casts_to_vector(std::int32_t begin, std::int32_t end) const {
    end = std::min({end, begin + longest_operand, code_.size()});
    for (std::int32_t i = begin; i + 1 < end; ++i)
        if (code_.is_identifier(i) && is_vector_type(code_.text(i)) && code_.is_sign(i + 1, '*'))
            return true;
    return false;
}

} // namespace cuset::cuda_scan
