#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/error.h"
#include "core/text/jinja_lexer.h"
#include "core/text/jinja_syntax.h"

namespace cuset::jinja {
namespace {

constexpr int max_nesting = 120;
constexpr int max_expression_depth = 500;

class Parser {
public:
    Parser(std::vector<Token> tokens, const std::string& subject)
        : tokens_(std::move(tokens))
        , subject_(subject) { }

    Block run() {
        Block block = statements({});
        return block;
    }

private:
    using Kind = Expression::Kind;

    // Counts how deep the parser has gone; the text is untrusted and the stack is not endless.
    struct Nesting {
        explicit Nesting(Parser& owner)
            : parser(owner) {
            if (++parser.nesting_ > max_nesting)
                throw Error(ErrorCode::limit,
                            "line " + std::to_string(parser.peek().line) + ": nested deeper than "
                                + std::to_string(max_nesting),
                            parser.subject_);
        }
        ~Nesting() { --parser.nesting_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        Parser& parser;
    };

    const Token& peek(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    Token take() {
        Token token = peek();
        if (at_ + 1 < tokens_.size())
            ++at_;
        return token;
    }
    bool is_op(std::string_view op, std::size_t ahead = 0) const {
        return peek(ahead).kind == TokenKind::op && peek(ahead).value == op;
    }
    bool is_name(std::string_view name, std::size_t ahead = 0) const {
        return peek(ahead).kind == TokenKind::name && peek(ahead).value == name;
    }
    bool skip_op(std::string_view op) { return is_op(op) && (take(), true); }
    bool skip_name(std::string_view name) { return is_name(name) && (take(), true); }

    [[noreturn]] void fail(const std::string& message, int line) const {
        throw Error(ErrorCode::bad_format, "line " + std::to_string(line) + ": " + message,
                    subject_);
    }
    [[noreturn]] void fail_here(const std::string& needed) const {
        const Token& token = peek();
        std::string found = "'" + token.value + "'";
        if (token.kind == TokenKind::end)
            found = "the end of the template";
        else if (token.kind == TokenKind::block_end)
            found = "%}";
        else if (token.kind == TokenKind::output_end)
            found = "}}";
        fail("found " + found + ", needs " + needed, token.line);
    }
    void need_op(std::string_view op) {
        if (!skip_op(op))
            fail_here("'" + std::string(op) + "'");
    }
    std::string need_name() {
        if (peek().kind != TokenKind::name)
            fail_here("a name");
        return take().value;
    }
    void need(TokenKind kind, const char* what) {
        if (peek().kind != kind)
            fail_here(what);
        take();
    }
    void end_block() { need(TokenKind::block_end, "%}"); }

    ExpressionPointer make(Kind kind, std::string text = {}) const {
        auto expression = std::make_unique<Expression>();
        expression->kind = kind;
        expression->line = peek().line;
        expression->text = std::move(text);
        return expression;
    }
    template <typename... Operands>
    ExpressionPointer combine(Kind kind, std::string text, Operands... operands) const {
        ExpressionPointer expression = make(kind, std::move(text));
        (expression->operands.push_back(std::move(operands)), ...);
        for (const ExpressionPointer& operand : expression->operands)
            if (operand)
                expression->depth = std::max(expression->depth, operand->depth + 1);
        if (expression->depth > max_expression_depth)
            throw Error(ErrorCode::limit,
                        "line " + std::to_string(peek().line) + ": expression has more than "
                            + std::to_string(max_expression_depth) + " operators in a row",
                        subject_);
        return expression;
    }
    std::unique_ptr<Statement> statement(Statement::Kind kind) const {
        auto made = std::make_unique<Statement>();
        made->kind = kind;
        made->line = peek().line;
        return made;
    }

    // ---- statements

    bool at_end_of(const std::vector<std::string_view>& ends) const {
        if (peek().kind != TokenKind::block_begin)
            return false;
        for (const std::string_view end : ends)
            if (is_name(end, 1))
                return true;
        return false;
    }

    // Statements up to a tag that is one of `ends` (not taken), or to the end of the template if
    // `ends` is empty.
    Block statements(const std::vector<std::string_view>& ends) {
        const Nesting guard(*this);
        Block block;
        while (peek().kind != TokenKind::end) {
            if (at_end_of(ends))
                return block;
            if (peek().kind == TokenKind::text) {
                auto text = statement(Statement::Kind::text);
                text->text = take().value;
                block.push_back(std::move(text));
            } else if (peek().kind == TokenKind::output_begin) {
                auto output = statement(Statement::Kind::output);
                take();
                output->expression = tuple_or_expression();
                need(TokenKind::output_end, "}}");
                block.push_back(std::move(output));
            } else {
                take(); // block_begin
                block.push_back(tag());
            }
        }
        if (!ends.empty())
            fail_here("{% " + std::string(ends.back()) + " %}");
        return block;
    }

    // The body of a tag: `%} ... {% end %}`, with the end tag taken.
    Block body(std::string_view end) {
        end_block();
        Block block = statements({end});
        take(); // block_begin
        take(); // the name
        end_block();
        return block;
    }

    std::unique_ptr<Statement> tag() {
        const int line = peek().line;
        const std::string name = need_name();
        if (name == "if")
            return if_tag();
        if (name == "for")
            return for_tag();
        if (name == "set")
            return set_tag();
        if (name == "macro")
            return macro_tag();
        if (name == "call")
            return call_tag();
        if (name == "filter")
            return filter_tag();
        if (name == "with")
            return with_tag();
        if (name == "generation") {
            auto made = statement(Statement::Kind::generation);
            made->body = body("endgeneration");
            return made;
        }
        if (name == "break" || name == "continue") {
            auto made = statement(name == "break" ? Statement::Kind::break_loop
                                                  : Statement::Kind::continue_loop);
            if (loops_ == 0)
                fail("'" + name + "' outside of a loop", line);
            end_block();
            return made;
        }
        if (name == "include" || name == "import" || name == "from" || name == "extends"
            || name == "block" || name == "autoescape" || name == "do" || name == "trans")
            throw Error(ErrorCode::unsupported,
                        "line " + std::to_string(line) + ": {% " + name
                            + " %} has no place in a chat template and is not supported",
                        subject_);
        fail("unknown tag '" + name + "'", line);
    }

    std::unique_ptr<Statement> if_tag() {
        auto made = statement(Statement::Kind::if_else);
        ExpressionPointer condition = tuple_or_expression();
        for (bool last = false;;) {
            end_block();
            Block block = last ? statements({"endif"}) : statements({"elif", "else", "endif"});
            made->branches.emplace_back(std::move(condition), std::move(block));
            take(); // block_begin
            const std::string name = take().value;
            if (name == "endif") {
                end_block();
                return made;
            }
            if (name == "elif")
                condition = tuple_or_expression();
            else
                last = true;
        }
    }

    std::unique_ptr<Statement> for_tag() {
        auto made = statement(Statement::Kind::for_loop);
        made->target = target(false);
        if (!skip_name("in"))
            fail_here("'in'");
        made->expression = tuple_of([this] { return or_expression(); });
        if (skip_name("if"))
            made->condition = expression();
        made->recursive = skip_name("recursive");
        end_block();
        ++loops_;
        made->body = statements({"else", "endfor"});
        --loops_;
        take();
        if (take().value == "else")
            made->else_body = body("endfor");
        else
            end_block();
        return made;
    }

    std::unique_ptr<Statement> set_tag() {
        auto made = statement(Statement::Kind::set);
        made->target = target(true);
        if (skip_op("=")) {
            made->expression = tuple_or_expression();
            end_block();
            return made;
        }
        made->kind = Statement::Kind::set_block;
        if (is_op("|"))
            made->expression = filters(nullptr);
        made->body = body("endset");
        return made;
    }

    std::vector<Parameter> parameters() {
        std::vector<Parameter> list;
        need_op("(");
        while (!skip_op(")")) {
            if (!list.empty())
                need_op(",");
            if (skip_op(")"))
                break;
            Parameter parameter{need_name(), nullptr};
            if (skip_op("="))
                parameter.default_value = expression();
            else if (!list.empty() && list.back().default_value)
                fail_here("a default value, as the parameter before has one");
            list.push_back(std::move(parameter));
        }
        return list;
    }

    std::unique_ptr<Statement> macro_tag() {
        auto made = statement(Statement::Kind::macro);
        made->text = need_name();
        made->parameters = parameters();
        const int loops = std::exchange(loops_, 0);
        made->body = body("endmacro");
        loops_ = loops;
        return made;
    }

    std::unique_ptr<Statement> call_tag() {
        auto made = statement(Statement::Kind::call_block);
        if (is_op("("))
            made->parameters = parameters();
        made->expression = expression();
        if (made->expression->kind != Kind::call)
            fail("{% call %} needs a call", made->line);
        const int loops = std::exchange(loops_, 0);
        made->body = body("endcall");
        loops_ = loops;
        return made;
    }

    std::unique_ptr<Statement> filter_tag() {
        auto made = statement(Statement::Kind::filter_block);
        made->expression = filters(nullptr, true);
        made->body = body("endfilter");
        return made;
    }

    std::unique_ptr<Statement> with_tag() {
        auto made = statement(Statement::Kind::with_block);
        while (peek().kind != TokenKind::block_end) {
            if (!made->assignments.empty())
                need_op(",");
            ExpressionPointer name = target(false);
            need_op("=");
            made->assignments.emplace_back(std::move(name), expression());
        }
        made->body = body("endwith");
        return made;
    }

    // A name, a tuple of names, or (in `set`) an attribute of a namespace.
    ExpressionPointer target(bool with_attribute) {
        if (with_attribute && peek().kind == TokenKind::name && is_op(".", 1)) {
            ExpressionPointer object = make(Kind::name, take().value);
            take();
            return combine(Kind::attribute, need_name(), std::move(object));
        }
        const auto one = [&]() -> ExpressionPointer {
            const Nesting guard(*this);
            if (skip_op("(")) {
                ExpressionPointer inner = target(false);
                need_op(")");
                return inner;
            }
            const Token token = peek();
            static constexpr std::string_view constants[]{"true", "false", "none",
                                                          "True", "False", "None"};
            for (const std::string_view constant : constants)
                if (is_name(constant))
                    fail("cannot assign to " + token.value, token.line);
            return make(Kind::name, need_name());
        };
        ExpressionPointer first = one();
        if (!is_op(","))
            return first;
        ExpressionPointer tuple = make(Kind::tuple);
        tuple->operands.push_back(std::move(first));
        while (skip_op(",") && (peek().kind == TokenKind::name || is_op("(")) && !is_name("in"))
            tuple->operands.push_back(one());
        return tuple;
    }

    // ---- expressions, loosest first

    template <typename One> ExpressionPointer tuple_of(One one) {
        ExpressionPointer first = one();
        if (!is_op(","))
            return first;
        ExpressionPointer tuple = make(Kind::tuple);
        tuple->operands.push_back(std::move(first));
        while (skip_op(",")) {
            const TokenKind kind = peek().kind;
            if (kind == TokenKind::block_end || kind == TokenKind::output_end || is_op(")"))
                break;
            tuple->operands.push_back(one());
        }
        return tuple;
    }

    ExpressionPointer tuple_or_expression() {
        return tuple_of([this] { return expression(); });
    }

    ExpressionPointer expression() {
        const Nesting guard(*this);
        ExpressionPointer value = or_expression();
        while (skip_name("if")) {
            ExpressionPointer condition = or_expression();
            ExpressionPointer otherwise = skip_name("else") ? expression() : nullptr;
            value = combine(Kind::conditional, {}, std::move(value), std::move(condition),
                            std::move(otherwise));
        }
        return value;
    }

    template <typename One>
    ExpressionPointer left_to_right(std::initializer_list<std::string_view> operators, One one) {
        ExpressionPointer left = one();
        for (;;) {
            bool found = false;
            for (const std::string_view op : operators) {
                if (!is_op(op) && !((op == "and" || op == "or") && is_name(op)))
                    continue;
                take();
                left = combine(Kind::binary, std::string(op), std::move(left), one());
                found = true;
                break;
            }
            if (!found)
                return left;
        }
    }

    ExpressionPointer or_expression() {
        return left_to_right({"or"}, [this] { return and_expression(); });
    }
    ExpressionPointer and_expression() {
        return left_to_right({"and"}, [this] { return not_expression(); });
    }
    ExpressionPointer not_expression() {
        const Nesting guard(*this);
        if (skip_name("not"))
            return combine(Kind::negation, {}, not_expression());
        return comparison();
    }

    ExpressionPointer comparison() {
        ExpressionPointer first = sum();
        ExpressionPointer chain;
        for (;;) {
            std::string op;
            for (const std::string_view candidate : {"==", "!=", "<", "<=", ">", ">="})
                if (is_op(candidate))
                    op = candidate;
            if (is_name("in"))
                op = "in";
            else if (is_name("not") && is_name("in", 1)) {
                take();
                op = "not in";
            }
            if (op.empty())
                return chain ? std::move(chain) : std::move(first);
            take();
            if (!chain) {
                chain = make(Kind::comparison);
                chain->operands.push_back(std::move(first));
            }
            chain->operators.push_back(op);
            chain->operands.push_back(sum());
        }
    }

    ExpressionPointer sum() {
        return left_to_right({"+", "-"}, [this] { return concatenation(); });
    }
    ExpressionPointer concatenation() {
        return left_to_right({"~"}, [this] { return product(); });
    }
    ExpressionPointer product() {
        return left_to_right({"*", "//", "/", "%"}, [this] { return power(); });
    }
    ExpressionPointer power() {
        return left_to_right({"**"}, [this] { return unary(true); });
    }

    ExpressionPointer unary(bool with_filters) {
        const Nesting guard(*this);
        ExpressionPointer value;
        if (is_op("-") || is_op("+")) {
            const std::string op = take().value;
            value = combine(Kind::unary, op, unary(false));
        } else {
            value = primary();
        }
        value = postfix(std::move(value));
        return with_filters ? filters(std::move(value)) : std::move(value);
    }

    ExpressionPointer constant(Value value) const {
        ExpressionPointer made = make(Kind::constant);
        made->value = std::move(value);
        return made;
    }

    ExpressionPointer number(const Token& token) const {
        const char* end = token.value.data() + token.value.size();
        std::int64_t integer = 0;
        if (token.kind == TokenKind::integer) {
            if (std::from_chars(token.value.data(), end, integer).ec != std::errc())
                fail("integer " + token.value + " is too large", token.line);
            return constant(Value(integer));
        }
        double real = 0;
        if (std::from_chars(token.value.data(), end, real).ec != std::errc())
            fail("number " + token.value + " cannot be represented", token.line);
        return constant(Value(real));
    }

    ExpressionPointer primary() {
        const Token token = peek();
        switch (token.kind) {
        case TokenKind::name:
            take();
            if (token.value == "true" || token.value == "True")
                return constant(Value(true));
            if (token.value == "false" || token.value == "False")
                return constant(Value(false));
            if (token.value == "none" || token.value == "None")
                return constant(Value(None{}));
            return make(Kind::name, token.value);
        case TokenKind::string: {
            std::string text;
            while (peek().kind == TokenKind::string)
                text += take().value;
            return constant(Value(std::move(text)));
        }
        case TokenKind::integer:
        case TokenKind::real:
            take();
            return number(token);
        case TokenKind::op:
            if (token.value == "(")
                return parenthesis();
            if (token.value == "[")
                return list();
            if (token.value == "{")
                return dict();
            break;
        default:
            break;
        }
        fail_here("an expression");
    }

    ExpressionPointer parenthesis() {
        take();
        if (skip_op(")"))
            return make(Kind::tuple);
        ExpressionPointer inner = tuple_or_expression();
        need_op(")");
        return inner;
    }

    ExpressionPointer list() {
        take();
        ExpressionPointer made = make(Kind::list);
        while (!skip_op("]")) {
            if (!made->operands.empty())
                need_op(",");
            if (skip_op("]"))
                break;
            made->operands.push_back(expression());
        }
        return made;
    }

    ExpressionPointer dict() {
        take();
        ExpressionPointer made = make(Kind::dict);
        while (!skip_op("}")) {
            if (!made->operands.empty())
                need_op(",");
            if (skip_op("}"))
                break;
            made->operands.push_back(expression());
            need_op(":");
            made->operands.push_back(expression());
        }
        return made;
    }

    ExpressionPointer postfix(ExpressionPointer value) {
        for (;;) {
            if (skip_op(".")) {
                if (peek().kind == TokenKind::integer)
                    value = combine(Kind::item, {}, std::move(value), number(take()));
                else
                    value = combine(Kind::attribute, need_name(), std::move(value));
            } else if (is_op("[")) {
                take();
                value = combine(Kind::item, {}, std::move(value), subscript());
            } else if (is_op("(")) {
                value = combine(Kind::call, {}, std::move(value));
                call_arguments(*value);
            } else {
                return value;
            }
        }
    }

    ExpressionPointer subscript() {
        ExpressionPointer made;
        ExpressionPointer begin = is_op(":") ? nullptr : expression();
        if (is_op(":")) {
            ExpressionPointer end, step;
            take();
            if (!is_op(":") && !is_op("]"))
                end = expression();
            if (skip_op(":") && !is_op("]"))
                step = expression();
            made = combine(Kind::slice, {}, std::move(begin), std::move(end), std::move(step));
        } else {
            made = std::move(begin);
        }
        need_op("]");
        return made;
    }

    void call_arguments(Expression& call) {
        need_op("(");
        for (bool first = true; !skip_op(")"); first = false) {
            if (!first)
                need_op(",");
            if (skip_op(")"))
                break;
            if (skip_op("**"))
                call.double_star = expression();
            else if (skip_op("*"))
                call.star = expression();
            else if (peek().kind == TokenKind::name && is_op("=", 1)) {
                std::string name = take().value;
                take();
                call.named_arguments.emplace_back(std::move(name), expression());
            } else if (!call.named_arguments.empty()) {
                fail_here("a named argument, as the one before is named");
            } else {
                call.arguments.push_back(expression());
            }
        }
    }

    // Filters, tests and calls behind a value. `at_name`: the first filter stands without its bar.
    ExpressionPointer filters(ExpressionPointer value, bool at_name = false) {
        for (;;) {
            if (at_name || skip_op("|")) {
                at_name = false;
                value = combine(Kind::filter, need_name(), std::move(value));
                if (is_op("("))
                    call_arguments(*value);
            } else if (is_name("is")) {
                take();
                value = test(std::move(value));
            } else if (is_op("(")) {
                value = combine(Kind::call, {}, std::move(value));
                call_arguments(*value);
            } else {
                return value;
            }
        }
    }

    ExpressionPointer test(ExpressionPointer value) {
        const bool negated = skip_name("not");
        ExpressionPointer made = combine(Kind::test, need_name(), std::move(value));
        const TokenKind next = peek().kind;
        const bool has_argument =
            (next == TokenKind::name && !is_name("else") && !is_name("or") && !is_name("and")
             && !is_name("if") && !is_name("is") && !is_name("in") && !is_name("not"))
            || next == TokenKind::string || next == TokenKind::integer || next == TokenKind::real
            || is_op("[") || is_op("{");
        if (is_op("("))
            call_arguments(*made);
        else if (has_argument)
            made->arguments.push_back(postfix(primary()));
        return negated ? combine(Kind::negation, {}, std::move(made)) : std::move(made);
    }

    std::vector<Token> tokens_;
    const std::string& subject_;
    std::size_t at_ = 0;
    int nesting_ = 0;
    int loops_ = 0;
};

} // namespace

Block parse(std::string_view source, const std::string& subject) {
    return Parser(tokenize(source, subject), subject).run();
}

} // namespace cuset::jinja
