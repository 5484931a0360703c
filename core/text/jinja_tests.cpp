// Tests (`x is defined`) of the Jinja engine, as jinja2 3.1 defines them.
#include <algorithm>

#include "core/base/error.h"
#include "core/text/jinja_builtins.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorCode::bad_value, message);
}

using Test = bool (*)(Interpreter&, const Value&, const Arguments&);
struct NamedTest {
    std::string_view name;
    Test run;
};

const Value& other(const Arguments& arguments) {
    if (arguments.positional.empty())
        fail("the test needs a value to compare with");
    return arguments.positional[0];
}

std::int64_t integer_of(const Value& value) {
    if (!value.is_integer())
        fail("the test needs an integer, not " + value.type_name());
    return value.integer();
}

constexpr Test is_equal = [](Interpreter&, const Value& v, const Arguments& a) {
    return equal(v, other(a));
};
constexpr Test is_different = [](Interpreter&, const Value& v, const Arguments& a) {
    return !equal(v, other(a));
};
constexpr Test is_less = [](Interpreter&, const Value& v, const Arguments& a) {
    return compare(v, other(a)) < 0;
};
constexpr Test is_at_most = [](Interpreter&, const Value& v, const Arguments& a) {
    return compare(v, other(a)) <= 0;
};
constexpr Test is_greater = [](Interpreter&, const Value& v, const Arguments& a) {
    return compare(v, other(a)) > 0;
};
constexpr Test is_at_least = [](Interpreter&, const Value& v, const Arguments& a) {
    return compare(v, other(a)) >= 0;
};

constexpr NamedTest tests[]{
    {"!=", is_different},
    {"<", is_less},
    {"<=", is_at_most},
    {"==", is_equal},
    {">", is_greater},
    {">=", is_at_least},
    {"boolean",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.kind() == Value::Kind::boolean;
     }},
    {"callable",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.kind() == Value::Kind::function || v.is_undefined(); // Undefined has a __call__
     }},
    {"defined", [](Interpreter&, const Value& v, const Arguments&) { return !v.is_undefined(); }},
    {"divisibleby",
     [](Interpreter&, const Value& v, const Arguments& a) {
         if (integer_of(other(a)) == 0)
             fail("division by zero");
         return integer_of(other(a)) == -1 || integer_of(v) % integer_of(other(a)) == 0;
     }},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"escaped", [](Interpreter&, const Value&, const Arguments&) { return false; }},
    {"even", [](Interpreter&, const Value& v, const Arguments&) { return integer_of(v) % 2 == 0; }},
    {"false",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.kind() == Value::Kind::boolean && !v.boolean();
     }},
    {"float",
     [](Interpreter&, const Value& v, const Arguments&) { return v.kind() == Value::Kind::real; }},
    {"ge", is_at_least},
    {"greaterthan", is_greater},
    {"gt", is_greater},
    {"in",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         const Value& container = other(a);
         if (container.is_string())
             return v.is_string() && container.string().find(v.string()) != std::string::npos;
         const List items = i.iterate(container);
         return std::any_of(items.begin(), items.end(),
                            [&](const Value& item) { return equal(item, v); });
     }},
    {"integer",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.kind() == Value::Kind::integer;
     }},
    {"iterable",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.is_string() || v.is_sequence() || v.is_dict() || v.is_undefined()
             || v.kind() == Value::Kind::generator;
     }},
    {"le", is_at_most},
    {"lessthan", is_less},
    {"lower",
     [](Interpreter&, const Value& v, const Arguments&) {
         return to_text(v) == lower(to_text(v)) && to_text(v) != upper(to_text(v));
     }},
    {"lt", is_less},
    {"mapping", [](Interpreter&, const Value& v, const Arguments&) { return v.is_dict(); }},
    {"ne", is_different},
    {"none", [](Interpreter&, const Value& v, const Arguments&) { return v.is_none(); }},
    {"number", [](Interpreter&, const Value& v, const Arguments&) { return v.is_number(); }},
    {"odd", [](Interpreter&, const Value& v, const Arguments&) { return integer_of(v) % 2 != 0; }},
    {"sameas",
     [](Interpreter&, const Value& v, const Arguments& a) {
         return v.kind() == other(a).kind() && equal(v, other(a));
     }},
    {"sequence",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.is_string() || v.is_sequence() || v.is_dict() || v.is_undefined();
     }},
    {"string", [](Interpreter&, const Value& v, const Arguments&) { return v.is_string(); }},
    {"true",
     [](Interpreter&, const Value& v, const Arguments&) {
         return v.kind() == Value::Kind::boolean && v.boolean();
     }},
    {"undefined", [](Interpreter&, const Value& v, const Arguments&) { return v.is_undefined(); }},
    {"upper",
     [](Interpreter&, const Value& v, const Arguments&) {
         return to_text(v) == upper(to_text(v)) && to_text(v) != lower(to_text(v));
     }},
};

} // namespace

bool apply_test(Interpreter& interpreter, const std::string& name, const Value& value,
                const Arguments& arguments) {
    const auto is_test = [](std::string_view wanted) {
        return std::any_of(std::begin(tests), std::end(tests),
                           [&](const NamedTest& test) { return test.name == wanted; });
    };
    if (name == "filter")
        return is_filter(to_text(value));
    if (name == "test")
        return is_test(to_text(value));
    for (const NamedTest& test : tests)
        if (test.name == name)
            return test.run(interpreter, value, arguments);
    fail("no test named '" + name + "'");
}

} // namespace cuset::jinja
