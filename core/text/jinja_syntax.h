// The syntax tree of a Jinja template and its parser: jinja2 3.1's grammar with loop controls and
// generation blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/jinja_value.h"

namespace cuset::jinja {

struct Expression {
    enum class Kind {
        constant, // value
        name, // text
        list, // operands
        tuple, // operands
        dict, // operands: key, value, key, value, ...
        attribute, // operands[0], text
        item, // operands[0][operands[1]]
        slice, // operands: begin, end, step; null where left out
        call, // operands[0](...)
        filter, // operands[0] | text(...)
        test, // operands[0] is text(...)
        negation, // not operands[0]
        unary, // text operands[0]
        binary, // operands[0] text operands[1]
        comparison, // operands[0] operators[0] operands[1] ...
        conditional, // operands[0] if operands[1] else operands[2] (null: undefined)
    };

    Kind kind = Kind::constant;
    int line = 1;
    int depth =
        1; // of the tree of operands; bounded by the parser, since trees are walked by recursion
    std::string text = {};
    Value value = {};
    std::vector<std::unique_ptr<Expression>> operands = {};
    // Of call, filter and test.
    std::vector<std::unique_ptr<Expression>> arguments = {};
    std::vector<std::pair<std::string, std::unique_ptr<Expression>>> named_arguments = {};
    std::unique_ptr<Expression> star = {}, double_star = {}; // *args, **kwargs
    std::vector<std::string> operators = {};
};
using ExpressionPointer = std::unique_ptr<Expression>;

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Parameter {
    std::string name;
    ExpressionPointer default_value; // null: none
};

struct Statement {
    enum class Kind {
        text, // text
        output, // expression
        if_else, // branches: condition (null: else) and block
        for_loop, // target in expression [if condition]; body, else_body
        set, // target = expression
        set_block, // target = body | filters (a chain on a null operand in `expression`)
        macro, // text(parameters): body
        call_block, // expression is the call; parameters; body
        filter_block, // expression is the filter chain; body
        with_block, // assignments; body
        generation, // body
        break_loop,
        continue_loop,
    };

    Kind kind = Kind::text;
    int line = 1;
    std::string text = {};
    ExpressionPointer target = {}; // name, attribute of a namespace, or tuple of names
    ExpressionPointer expression = {};
    ExpressionPointer condition = {};
    bool recursive = false;
    std::vector<Parameter> parameters = {};
    std::vector<std::pair<ExpressionPointer, Block>> branches = {};
    std::vector<std::pair<ExpressionPointer, ExpressionPointer>> assignments = {};
    Block body = {};
    Block else_body = {};
};

// Throws Error: bad_format with line and construct, unsupported (include, import, extends, block),
// limit (nesting).
Block parse(std::string_view source, const std::string& subject);

} // namespace cuset::jinja
