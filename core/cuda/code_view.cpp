#include "core/cuda/code_view.h"

namespace cuset::cuda_scan {

namespace {

// Bounds on looking ahead and back, so that hostile text stays linear.
constexpr std::int32_t longest_template_list = 256; // tokens
constexpr std::int32_t longest_expression = 256; // tokens
constexpr int deepest_alias = 64; // brackets opened in one branch of a conditional

// The open brackets as a linked list, so that a conditional can go back to where it began at no
// cost.
struct OpenBracket {
    std::int32_t token;
    std::int32_t parent; // the list below it, -1: none
    std::int32_t brace; // the nearest entry that is a `{`, itself included, -1: none
    std::int32_t same_as; // the entry of the first branch that it stands for, -1: none
};

struct Conditional {
    std::int32_t before; // top of the list at the #if
    std::int32_t after_first = -1; // and at the end of its first live branch
    bool first_done = false;
    bool dead_first = false;
};

char closing(char open) {
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

} // namespace

CodeView::CodeView(const LexedSource& source, std::span<const Token> tokens,
                   std::span<const Directive> directives, std::int32_t text_end, bool in_macro)
    : source_(&source)
    , tokens_(tokens)
    , directives_(directives)
    , text_end_(text_end)
    , in_macro_(in_macro) {
    match_brackets();
}

void CodeView::match_brackets() {
    match_.assign(tokens_.size(), -1);
    std::vector<OpenBracket> nodes;
    std::vector<Conditional> conditionals;
    std::int32_t top = -1;
    std::size_t next_directive = 0;

    // Both branches opened brackets: those of the other branch close where those of the first do.
    const auto join = [&](std::int32_t first, std::int32_t other) {
        for (int depth = 0; depth < deepest_alias && first >= 0 && other >= 0 && first != other;
             ++depth) {
            if (nodes[other].same_as < 0 && other > first)
                nodes[other].same_as = first;
            first = nodes[first].parent;
            other = nodes[other].parent;
        }
    };
    const auto apply = [&](const Directive& directive) {
        if (directive.kind == DirectiveKind::begin_if) {
            conditionals.push_back({top, -1, false, directive.dead});
        } else if (!conditionals.empty() && directive.kind != DirectiveKind::define
                   && directive.kind != DirectiveKind::other) {
            Conditional& open = conditionals.back();
            if (open.dead_first) {
                open.dead_first = false;
            } else if (!open.first_done) {
                open.first_done = true;
                open.after_first = top;
            } else {
                join(open.after_first, top);
            }
            if (directive.kind == DirectiveKind::end_if) {
                top = open.first_done ? open.after_first : top;
                conditionals.pop_back();
            } else {
                top = open.before;
            }
        }
    };

    for (std::int32_t i = 0; i < size(); ++i) {
        while (next_directive < directives_.size() && directives_[next_directive].code_index <= i)
            apply(directives_[next_directive++]);
        const Token& token = tokens_[i];
        if (token.kind != TokenKind::sign)
            continue;
        const char c = token.sign;
        if (c == '(' || c == '[' || c == '{') {
            match_[i] = size();
            const auto node = static_cast<std::int32_t>(nodes.size());
            nodes.push_back({i, top, c == '{' ? node : (top < 0 ? -1 : nodes[top].brace), -1});
            top = node;
        } else if (c == ')' || c == ']' || c == '}') {
            std::int32_t open = top;
            if (c == '}' && open >= 0)
                open = nodes[open].brace; // brackets left open inside the braces end with them
            if (open < 0 || closing(tokens_[nodes[open].token].sign) != c)
                continue;
            match_[i] = nodes[open].token;
            if (match_[nodes[open].token] == size())
                match_[nodes[open].token] = i;
            top = nodes[open].parent;
        }
    }
    const bool ended = size() == 0 || tokens_.back().kind != TokenKind::sign
        || tokens_.back().sign == ';' || tokens_.back().sign == '}' || tokens_.back().sign == ')';
    ends_open_ = top >= 0 || !ended;
    for (const OpenBracket& node : nodes)
        if (node.same_as >= 0 && match_[node.token] == size())
            match_[node.token] = match_[nodes[node.same_as].token];
}

std::int32_t CodeView::run_length(std::int32_t index, char sign) const {
    std::int32_t length = 0;
    while (is_sign(index + length, sign)
           && (length == 0 || tokens_[index + length].begin == tokens_[index + length - 1].end))
        ++length;
    return length;
}

std::int32_t CodeView::after_template_arguments(std::int32_t open) const {
    std::int32_t depth = 0;
    const std::int32_t limit = std::min(size(), open + longest_template_list);
    for (std::int32_t i = open; i < limit; ++i) {
        const Token& token = tokens_[i];
        if (token.kind != TokenKind::sign) {
            if (token.kind == TokenKind::string)
                return -1;
            continue;
        }
        if (token.sign == '<' && token.sign2 == '\0') {
            if (i > open && run_length(i, '<') >= 2)
                return -1;
            ++depth;
        } else if (token.sign == '>' && token.sign2 == '\0') {
            if (--depth > 0)
                continue;
            // What is left of a run of `>`: none, or a chevron, or an operator that is no part of
            // one.
            const bool joined = is_sign(i + 1, '>') && tokens_[i + 1].begin == token.end;
            const std::int32_t rest = joined ? run_length(i + 1, '>') : 0;
            if (rest == 1 || rest == 2) {
                std::int32_t first = i;
                while (first > open && is_sign(first - 1, '>')
                       && tokens_[first - 1].end == tokens_[first].begin)
                    --first;
                if (i + rest - first + 1 == 3 && is_sign(i + rest + 1, '('))
                    return -1;
            }
            return i + 1;
        } else if (token.sign == '(' || token.sign == '[' || token.sign == '{') {
            if (match_[i] >= size() || match_[i] < i)
                return -1;
            i = match_[i];
        } else if (token.sign == ')' || token.sign == ']' || token.sign == '}' || token.sign == ';'
                   || token.sign == '?' || (token.sign == '|' && token.sign2 == '|')
                   || (token.sign2 == '=' && token.sign != '=' && token.sign != '!')
                   || (token.sign == '&' && token.sign2 == '&' && !is_sign(i + 1, '>')
                       && !is_sign(i + 1, ','))) {
            return -1;
        }
    }
    return -1;
}

std::int32_t CodeView::template_open(std::int32_t close) const {
    std::int32_t depth = 0;
    const std::int32_t limit = std::max(0, close - longest_template_list);
    for (std::int32_t i = close; i >= limit; --i) {
        const Token& token = tokens_[i];
        if (token.kind != TokenKind::sign)
            continue;
        if (token.sign == '>' && token.sign2 == '\0') {
            ++depth;
        } else if (token.sign == '<' && token.sign2 == '\0') {
            if (--depth == 0)
                return i;
        } else if (token.sign == ')' || token.sign == ']' || token.sign == '}') {
            if (match_[i] < 0)
                return -1;
            i = match_[i];
        } else if (token.sign == '(' || token.sign == '[' || token.sign == '{'
                   || token.sign == ';') {
            return -1;
        }
    }
    return -1;
}

std::int32_t CodeView::expression_begin(std::int32_t last) const {
    const std::int32_t limit = std::max(0, last - longest_expression);
    std::int32_t at = last;
    while (at >= limit) {
        // One link of the chain: a name, with template arguments, calls and subscripts after it.
        std::int32_t link = at;
        while (link >= limit && (is_sign(link, ')') || is_sign(link, ']')) && match_[link] >= 0) {
            const std::int32_t open = match_[link];
            const bool condition = is_sign(open - 1, ')') && match_[open - 1] >= 0
                && word(match_[open - 1] - 1) == Word::control;
            const bool after_name =
                (is_identifier(open - 1) || is_sign(open - 1, ']') || is_sign(open - 1, '>')
                 || (is_sign(open - 1, ')') && !condition))
                && word(open - 1) != Word::flow && word(open - 1) != Word::control;
            if (!after_name)
                return open;
            link = open - 1;
        }
        if (is_sign(link, '>')) {
            const std::int32_t open = template_open(link);
            if (open <= 0 || !is_identifier(open - 1))
                return std::min(link + 1, last);
            link = open - 1;
        }
        if (!is_identifier(link))
            return std::min(link + 1, last);
        at = link;
        if (is_identifier(at - 1) && word(at - 1) == Word::template_word)
            --at;
        if (is_sign(at - 1, ':', ':')) {
            --at;
            if (!is_identifier(at - 1) && !is_sign(at - 1, '>'))
                return at;
        } else if (is_sign(at - 1, '.') || is_sign(at - 1, '-', '>')) {
            --at;
        } else {
            return at;
        }
        --at;
    }
    return std::max(at, 0);
}

std::int32_t CodeView::call_open(std::int32_t index) const {
    std::int32_t next = index + 1;
    if (is_sign(next, '<')) {
        if (run_length(next, '<') >= 2)
            return -1;
        next = after_template_arguments(next);
    }
    return next > 0 && is_sign(next, '(') ? next : -1;
}

bool CodeView::is_declared(std::int32_t index) const {
    std::int32_t before = index - 1;
    while (is_sign(before, ':', ':'))
        before -= is_identifier(before - 1) && word(before - 1) != Word::flow ? 2 : 1;
    if (before < 0)
        return false;
    if (is_identifier(before))
        return word(before) != Word::flow && word(before) != Word::control;
    return false;
}

} // namespace cuset::cuda_scan
