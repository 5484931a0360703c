#include "core/cuda/function_finder.h"

#include <algorithm>

namespace cuset::cuda_scan {

namespace {

class FunctionFinder {
public:
    FunctionFinder(const CodeView& code, const MacroSet& kernel_macros)
        : code_(code)
        , kernel_macros_(kernel_macros) { }

    std::vector<DeviceFunction> run() {
        std::size_t directive = 0;
        for (std::int32_t i = 0; i < code_.size(); ++i) {
            while (directive < code_.directives().size()
                   && code_.directives()[directive].code_index <= i) {
                statement_ = std::max(statement_, i);
                ++directive;
            }
            const Token& token = code_[i];
            if (token.kind == TokenKind::sign) {
                if (token.sign == ';' || token.sign == '{' || token.sign == '}'
                    || (token.sign == ':' && token.sign2 == '\0'
                        && code_.word(i - 1) == Word::access))
                    statement_ = i + 1;
            } else if (opens_head(i)) {
                i = read_head(i);
            }
        }
        return std::move(found_);
    }

private:
    bool is_kernel_word(std::int32_t i) const {
        return code_.word(i) == Word::global_space || kernel_macros_.holds(code_[i]);
    }
    bool opens_head(std::int32_t i) const {
        return code_[i].kind == TokenKind::identifier
            && (is_kernel_word(i) || code_[i].word == Word::device_space);
    }

    // Reads a function's head from the word that marks it. Returns the index before which to go on:
    // the head is not read twice.
    std::int32_t read_head(std::int32_t mark) {
        DeviceFunction function;
        function.kernel = is_kernel_word(mark);
        function.first = std::min(statement_, mark);
        bool initializers = false; // of a constructor
        std::int32_t i = mark;
        if (function.kernel && code_.word(mark) != Word::global_space
            && code_.is_sign(mark + 1, '(')) {
            function.parameters = mark + 1;
            function.name = code_.is_identifier(mark + 2) ? mark + 2 : -1;
            i = skip_group(mark + 1);
        }
        for (++i; i < code_.size(); ++i) {
            const Token& token = code_[i];
            if (token.kind == TokenKind::identifier) {
                if (is_kernel_word(i))
                    function.kernel = true;
                continue;
            }
            if (token.kind != TokenKind::sign)
                continue;
            if (token.sign == '(') {
                if (!initializers)
                    note_parameters(i, function);
                i = skip_group(i);
            } else if (token.sign == ':' && token.sign2 == '\0') {
                initializers = function.parameters >= 0;
            } else if (token.sign == '['
                       || (initializers && token.sign == '{' && is_member(i - 1))) {
                i = skip_group(i);
            } else if (token.sign == '{') {
                if (function.parameters >= 0 || is_lambda(mark))
                    add(function, i);
                return i - 1;
            } else if (token.sign == ';' || token.sign == '}' || token.sign == ')'
                       || (token.sign == '=' && token.sign2 == '\0'
                           && code_.word(i - 1) != Word::operator_word)) {
                return i - 1;
            }
        }
        return i;
    }

    // Last token of a bracketed group, or the last of all if it is open.
    std::int32_t skip_group(std::int32_t open) const {
        return std::min(code_.match(open), code_.size());
    }

    bool is_lambda(std::int32_t mark) const {
        for (std::int32_t before = mark - 1; before >= 0 && before >= mark - 2; --before)
            if (code_.is_sign(before, ']'))
                return true;
        return false;
    }

    // The `{` after a member's name opens its value, that after `)` or `}` the body.
    bool is_member(std::int32_t before) const {
        return code_.is_identifier(before) || code_.is_sign(before, '>');
    }

    // The last group after a name is that of the parameters: `ATTRIBUTES(256) name(int* x)`.
    void note_parameters(std::int32_t open, DeviceFunction& function) const {
        const std::int32_t before = open - 1;
        const Word word = code_.word(before);
        if (word == Word::attribute || word == Word::launch_bounds)
            return;
        if (word == Word::device_space || word == Word::qualifier || code_.is_sign(before, ']')) {
            function.parameters = open; // a lambda's
            return;
        }
        std::int32_t name = before;
        if (code_.is_sign(before, '>')) {
            const std::int32_t template_open = code_.template_open(before);
            name = template_open > 0 ? template_open - 1 : before;
        }
        if (code_.is_identifier(name)) {
            function.name = name;
            function.parameters = open;
        } else if (function.parameters >= 0 ? code_.is_sign(before, ')')
                                            : code_.word(before - 1) == Word::operator_word
                           || code_.word(before - 2) == Word::operator_word) {
            function.parameters =
                open; // `NAME(add)(int* x)`, whose name a macro pastes; operator()
        }
    }

    void add(DeviceFunction& function, std::int32_t body) {
        function.body = body;
        function.complete = code_.match(body) < code_.size();
        function.body_end = code_.end_of_group(body);
        if (function.kernel && function.parameters < 0)
            return;
        if (!found_.empty() && function.kernel)
            close_open_kernel(function);
        found_.push_back(function);
    }

    // The kernel before lacks a closing brace: it would swallow this one.
    void close_open_kernel(const DeviceFunction& next) {
        for (auto open = found_.rbegin(); open != found_.rend(); ++open) {
            if (!open->kernel)
                continue;
            const std::int32_t begin = code_[next.first].begin;
            const std::int32_t close = code_.match(open->body);
            if (open->body_end > begin && next.first > open->body
                && !in_other_branch(open->body, next.first, close)) {
                open->body_end = code_[next.first - 1].end;
                open->complete = false;
            }
            return;
        }
    }

    // Between two heads in two branches of one conditional lies a directive; they share what
    // follows.
    bool in_other_branch(std::int32_t body, std::int32_t next, std::int32_t) const {
        const auto directives = code_.directives();
        auto at = std::upper_bound(
            directives.begin(), directives.end(), body,
            [](std::int32_t index, const Directive& d) { return index < d.code_index; });
        std::int32_t depth = 0;
        for (; at != directives.end() && at->code_index <= next; ++at) {
            if (at->kind == DirectiveKind::begin_if)
                ++depth;
            else if (at->kind == DirectiveKind::end_if)
                --depth;
            else if (at->kind == DirectiveKind::other_branch && depth <= 0)
                return true;
        }
        return false;
    }

    const CodeView& code_;
    const MacroSet& kernel_macros_;
    std::int32_t statement_ = 0; // token that the statement at hand begins with
    std::vector<DeviceFunction> found_;
};

} // namespace

std::vector<DeviceFunction> find_device_functions(const CodeView& code,
                                                  const MacroSet& kernel_macros) {
    return FunctionFinder(code, kernel_macros).run();
}

MacroSet find_kernel_macros(const LexedSource& source) {
    MacroSet macros(source.names.size());
    for (const Directive& directive : source.directives) {
        if (directive.kind != DirectiveKind::define || directive.macro_name < 0)
            continue;
        bool global = false;
        bool body = false;
        for (std::int32_t i = directive.body_begin; i < directive.body_end; ++i) {
            const Token& token = source.macro_tokens[i];
            global = global || token.word == Word::global_space || macros.holds(token);
            body =
                body || (token.kind == TokenKind::sign && (token.sign == '{' || token.sign == ';'));
        }
        if (global && !body)
            macros.add(directive.macro_name, directive.span.begin);
    }
    return macros;
}

} // namespace cuset::cuda_scan
