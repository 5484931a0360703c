// The half of the interpreter that evaluates expressions.
#include "core/text/jinja_interpreter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/text/jinja_builtins.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorCode::bad_value, message);
}

[[noreturn]] void fail_undefined(const Value& value) {
    fail(value.undefined_reason());
}

[[noreturn]] void fail_operands(const std::string& op, const Value& x, const Value& y) {
    if (x.is_undefined() || y.is_undefined())
        fail_undefined(x.is_undefined() ? x : y);
    fail("cannot use '" + op + "' between " + x.type_name() + " and " + y.type_name());
}

// Python's integers have no limit; ours do, and say so.
void require_no(bool overflow) {
    if (overflow)
        fail("integer result is too large");
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    if (b == 0)
        fail("division by zero");
    require_no(a == INT64_MIN && b == -1);
    const std::int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
    std::int64_t result = 1;
    while (exponent > 0) {
        if (exponent & 1)
            require_no(__builtin_mul_overflow(result, base, &result));
        exponent >>= 1;
        if (exponent > 0)
            require_no(__builtin_mul_overflow(base, base, &base));
    }
    return result;
}

Value integer_arithmetic(char op, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (op == '+')
        require_no(__builtin_add_overflow(a, b, &result));
    else if (op == '-')
        require_no(__builtin_sub_overflow(a, b, &result));
    else if (op == '*')
        require_no(__builtin_mul_overflow(a, b, &result));
    else // '%'
        result = a - floor_divide(a, b) * b;
    return Value(result);
}

Value real_arithmetic(const std::string& op, double a, double b) {
    if (op == "+")
        return Value(a + b);
    if (op == "-")
        return Value(a - b);
    if (op == "*")
        return Value(a * b);
    if (op == "**")
        return Value(std::pow(a, b));
    if (b == 0)
        fail("division by zero");
    if (op == "/")
        return Value(a / b);
    if (op == "//")
        return Value(std::floor(a / b));
    return Value(a - std::floor(a / b) * b);
}

} // namespace

Value Interpreter::evaluate(const Expression& expression) {
    static constexpr int max_expression_depth = 2000; // about 2 MiB of stack
    struct Level {
        int& depth;
        ~Level() { --depth; }
    } const level{++expression_depth_};
    if (expression_depth_ > max_expression_depth)
        throw Error(ErrorCode::limit,
                    "expressions are nested deeper than " + std::to_string(max_expression_depth));
    charge(1);
    line_ = expression.line;
    using Kind = Expression::Kind;
    const auto operand = [&](std::size_t i) { return evaluate(*expression.operands[i]); };
    switch (expression.kind) {
    case Kind::constant:
        return expression.value;
    case Kind::name:
        return evaluate_name(expression.text);
    case Kind::list:
    case Kind::tuple: {
        List items;
        for (const auto& item : expression.operands)
            items.push_back(evaluate(*item));
        return expression.kind == Kind::list ? Value::list(std::move(items))
                                             : Value::tuple(std::move(items));
    }
    case Kind::dict: {
        Dict entries;
        for (std::size_t i = 0; i + 1 < expression.operands.size(); i += 2) {
            const Value key = operand(i);
            const auto known = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
                return equal(entry.first, key);
            });
            charge(entries.size() / 8);
            if (known != entries.end())
                known->second = operand(i + 1);
            else
                entries.emplace_back(key, operand(i + 1));
        }
        return Value::dict(std::move(entries));
    }
    case Kind::attribute:
        return attribute(operand(0), expression.text);
    case Kind::item:
        if (expression.operands[1]->kind == Kind::slice)
            return evaluate_slice(operand(0), *expression.operands[1]);
        return item(operand(0), operand(1));
    case Kind::call: {
        const Value callee = operand(0);
        return call(callee, evaluate_arguments(expression));
    }
    case Kind::filter: {
        // A chain on a block's text starts without an operand: the text is in the innermost scope,
        // without a name.
        const Value value = expression.operands[0] ? operand(0) : evaluate_name({});
        return filter(expression.text, value, evaluate_arguments(expression));
    }
    case Kind::test: {
        const Value value = operand(0);
        return Value(test(expression.text, value, evaluate_arguments(expression)));
    }
    case Kind::negation:
        return Value(!operand(0).truthy());
    case Kind::unary:
        return evaluate_unary(expression);
    case Kind::binary:
        return evaluate_binary(expression);
    case Kind::comparison:
        return evaluate_comparison(expression);
    case Kind::conditional:
        if (operand(1).truthy())
            return operand(0);
        return expression.operands[2]
            ? operand(2)
            : Value(Undefined{
                "the inline if-expression evaluated to false and no else section was given"});
    case Kind::slice:
        break;
    }
    fail("a slice stands where a value is needed");
}

Value Interpreter::evaluate_name(const std::string& name) {
    for (const Scope* scope = scope_.get(); scope; scope = scope->parent.get())
        for (const auto& [known, value] : scope->variables)
            if (known == name)
                return value;
    return Value(Undefined{"'" + name + "' is undefined"});
}

Arguments Interpreter::evaluate_arguments(const Expression& expression) {
    Arguments arguments;
    for (const auto& argument : expression.arguments)
        arguments.positional.push_back(evaluate(*argument));
    for (const auto& [name, argument] : expression.named_arguments)
        arguments.named.emplace_back(name, evaluate(*argument));
    if (expression.star)
        for (Value& value : iterate(evaluate(*expression.star)))
            arguments.positional.push_back(std::move(value));
    if (expression.double_star) {
        const Value named = evaluate(*expression.double_star);
        if (!named.is_dict())
            fail("argument after ** must be a mapping, not " + named.type_name());
        for (const auto& [name, value] : named.entries())
            arguments.named.emplace_back(to_text(name), value);
    }
    return arguments;
}

Value Interpreter::evaluate_unary(const Expression& expression) {
    const Value value = evaluate(*expression.operands[0]);
    if (!value.is_number()) {
        if (value.is_undefined())
            fail_undefined(value);
        fail("bad operand type for unary " + expression.text + ": " + value.type_name());
    }
    const bool minus = expression.text == "-";
    if (value.kind() == Value::Kind::real)
        return Value(minus ? -value.number() : value.number());
    return minus ? integer_arithmetic('-', 0, value.integer()) : Value(value.integer());
}

Value Interpreter::evaluate_binary(const Expression& expression) {
    const std::string& op = expression.text;
    const Value x = evaluate(*expression.operands[0]);
    if (op == "and")
        return x.truthy() ? evaluate(*expression.operands[1]) : x;
    if (op == "or")
        return x.truthy() ? x : evaluate(*expression.operands[1]);
    const Value y = evaluate(*expression.operands[1]);
    if (op == "~") {
        std::string text = to_text(x) + to_text(y); // markup or not: automatic escaping is off
        charge_bytes(text.size());
        return Value(std::move(text));
    }
    if (x.is_number() && y.is_number()) {
        const bool integers = x.is_integer() && y.is_integer();
        if (integers && op == "//")
            return Value(floor_divide(x.integer(), y.integer()));
        if (integers && op == "**" && y.integer() >= 0)
            return Value(integer_power(x.integer(), y.integer()));
        if (integers && op != "/" && op != "**")
            return integer_arithmetic(op[0], x.integer(), y.integer());
        return real_arithmetic(op, x.number(), y.number());
    }
    if (op == "+" && x.is_string() && y.is_string())
        return joined_text(x, y);
    if (op == "+" && x.is_sequence() && x.kind() == y.kind()) {
        charge_bytes((x.items().size() + y.items().size()) * sizeof(Value));
        List items = x.items();
        items.insert(items.end(), y.items().begin(), y.items().end());
        return x.kind() == Value::Kind::list ? Value::list(std::move(items))
                                             : Value::tuple(std::move(items));
    }
    if (op == "*" && (x.is_integer() || y.is_integer())) {
        const Value& unit = x.is_integer() ? y : x;
        const auto count =
            static_cast<std::size_t>(std::max<std::int64_t>(0, (x.is_integer() ? x : y).integer()));
        if (unit.is_string() && !unit.string().empty()) {
            charge_bytes(std::min(count, SIZE_MAX / unit.string().size()) * unit.string().size());
            std::string text;
            for (std::size_t i = 0; i < count; ++i)
                text += unit.string();
            return Value(std::move(text));
        }
        if (unit.is_string())
            return unit;
        if (unit.is_sequence()) {
            const std::size_t size = std::max<std::size_t>(1, unit.items().size()) * sizeof(Value);
            charge_bytes(std::min(count, SIZE_MAX / size) * size);
            List items;
            for (std::size_t i = 0; i < count; ++i)
                items.insert(items.end(), unit.items().begin(), unit.items().end());
            return unit.kind() == Value::Kind::list ? Value::list(std::move(items))
                                                    : Value::tuple(std::move(items));
        }
    }
    if (op == "%" && x.is_string())
        return filter("format", x, {y.kind() == Value::Kind::tuple ? y.items() : List{y}});
    fail_operands(op, x, y);
}

Value Interpreter::joined_text(const Value& x, const Value& y) {
    const bool markup = x.is_markup() || y.is_markup();
    std::string text = markup ? to_escaped(x) + to_escaped(y) : to_text(x) + to_text(y);
    charge_bytes(text.size());
    return markup ? Value::markup(std::move(text)) : Value(std::move(text));
}

Value Interpreter::evaluate_comparison(const Expression& expression) {
    Value left = evaluate(*expression.operands[0]);
    for (std::size_t i = 0; i < expression.operators.size(); ++i) {
        const Value right = evaluate(*expression.operands[i + 1]);
        const std::string& op = expression.operators[i];
        bool holds = false;
        if (op == "==" || op == "!=") {
            holds = equal(left, right) == (op == "==");
        } else if (op == "in" || op == "not in") {
            holds = contains(right, left) == (op == "in");
        } else {
            if (left.is_undefined() || right.is_undefined())
                fail_operands(op, left, right);
            const int order = compare(left, right);
            holds = op == "<" ? order < 0
                : op == "<="  ? order <= 0
                : op == ">"   ? order > 0
                              : order >= 0;
        }
        if (!holds)
            return Value(false);
        left = right;
    }
    return Value(true);
}

bool Interpreter::contains(const Value& container, const Value& value) {
    if (container.is_string()) {
        if (!value.is_string())
            fail("'in <string>' requires string as left operand, not " + value.type_name());
        charge(container.string().size() / 64);
        return container.string().find(value.string()) != std::string::npos;
    }
    if (container.is_dict()) {
        charge(container.entries().size() / 8);
        return std::any_of(container.entries().begin(), container.entries().end(),
                           [&](const auto& entry) { return equal(entry.first, value); });
    }
    const List items = iterate(container);
    charge(items.size() / 8);
    return std::any_of(items.begin(), items.end(),
                       [&](const Value& item) { return equal(item, value); });
}

List Interpreter::iterate(const Value& value) {
    switch (value.kind()) {
    case Value::Kind::undefined:
        return {};
    case Value::Kind::list:
    case Value::Kind::tuple:
    case Value::Kind::generator:
        charge(value.items().size() / 8);
        return value.items();
    case Value::Kind::dict: {
        charge(value.entries().size() / 8);
        List keys;
        for (const auto& entry : value.entries())
            keys.push_back(entry.first);
        return keys;
    }
    case Value::Kind::string: {
        charge(value.string().size() / 8);
        List items;
        for (std::string& character : characters(value.string()))
            items.emplace_back(std::move(character));
        return items;
    }
    default:
        fail("'" + value.type_name() + "' object is not iterable");
    }
}

Value Interpreter::attribute(const Value& object, const std::string& name) {
    if (object.is_undefined())
        fail_undefined(object);
    if (object.kind() == Value::Kind::name_space) {
        const auto found = object.name_space()->attributes.find(name);
        return found == object.name_space()->attributes.end()
            ? Value(Undefined{"namespace has no attribute '" + name + "'"})
            : found->second;
    }
    if (std::optional<Value> method = find_method(object, name))
        return *method;
    if (object.is_dict())
        if (const Value* found = object.find(name))
            return *found;
    return Value(Undefined{"'" + object.type_name() + " object' has no attribute '" + name + "'"});
}

Value Interpreter::item(const Value& object, const Value& key) {
    if (object.is_undefined())
        fail_undefined(object);
    if (object.is_dict()) {
        charge(object.entries().size() / 8);
        for (const auto& [name, value] : object.entries())
            if (equal(name, key))
                return value;
    } else if ((object.is_sequence() || object.is_string()) && key.is_integer()) {
        const List characters_of = object.is_string() ? iterate(object) : List{};
        const List& items = object.is_string() ? characters_of : object.items();
        const auto count = static_cast<std::int64_t>(items.size());
        const std::int64_t index = key.integer() < 0 ? key.integer() + count : key.integer();
        if (index >= 0 && index < count)
            return items[static_cast<std::size_t>(index)];
        return Value(Undefined{object.type_name() + " object has no element "
                               + std::to_string(key.integer())});
    }
    if (key.is_string())
        return attribute(object, key.string());
    return Value(Undefined{object.type_name() + " object has no element " + to_repr(key)});
}

Value Interpreter::evaluate_slice(const Value& object, const Expression& slice) {
    if (object.is_undefined())
        fail_undefined(object);
    if (!object.is_sequence() && !object.is_string())
        fail("'" + object.type_name() + "' object cannot be sliced");
    const List items = iterate(object);
    const auto count = static_cast<std::int64_t>(items.size());
    const auto bound = [&](std::size_t i) -> std::optional<std::int64_t> {
        if (!slice.operands[i])
            return std::nullopt;
        const Value value = evaluate(*slice.operands[i]);
        if (value.is_none())
            return std::nullopt;
        if (!value.is_integer())
            fail("slice indices must be integers or None, not " + value.type_name());
        return value.integer();
    };
    const std::optional<std::int64_t> begin_given = bound(0), end_given = bound(1);
    const std::int64_t step = bound(2).value_or(1);
    if (step == 0)
        fail("slice step cannot be zero");
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
    const auto clamped = [&](std::optional<std::int64_t> given, std::int64_t fallback) {
        if (!given)
            return fallback;
        return std::clamp(*given < 0 ? std::max(*given, -count - 1) + count : *given, low, high);
    };
    const std::int64_t begin = clamped(begin_given, step > 0 ? low : high);
    const std::int64_t end = clamped(end_given, step > 0 ? high : low);
    List taken;
    for (std::int64_t i = begin; step > 0 ? i < end : i > end;) {
        taken.push_back(items[static_cast<std::size_t>(i)]);
        if (step > 0 ? step > end - i : step < end - i)
            break;
        i += step;
    }
    if (object.kind() == Value::Kind::list)
        return Value::list(std::move(taken));
    if (object.kind() == Value::Kind::tuple)
        return Value::tuple(std::move(taken));
    std::string text;
    for (const Value& character : taken)
        text += character.string();
    return Value(std::move(text));
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
    charge(1);
    if (callee.kind() == Value::Kind::function)
        return callee.function().call(*this, arguments);
    if (callee.kind() == Value::Kind::name_space) {
        const auto& attributes = callee.name_space()->attributes;
        const auto found = attributes.find("__call__");
        if (found != attributes.end())
            return found->second.function().call(*this, arguments);
    }
    if (callee.is_undefined())
        fail_undefined(callee);
    fail("'" + callee.type_name() + "' object is not callable");
}

Value Interpreter::filter(const std::string& name, const Value& value, const Arguments& arguments) {
    return apply_filter(*this, name, value, arguments);
}

bool Interpreter::test(const std::string& name, const Value& value, const Arguments& arguments) {
    return apply_test(*this, name, value, arguments);
}

} // namespace cuset::jinja
