// Built-in filters, tests, methods and global functions of the Jinja engine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/text/jinja_interpreter.h"

namespace cuset::jinja {

// Arguments of a built-in by position or name. Throws Error(bad_value) for one that is missing or
// of the wrong type.
class ArgumentReader {
public:
    ArgumentReader(std::string function, const Arguments& arguments)
        : function_(std::move(function))
        , arguments_(arguments) { }

    const Value* find(std::size_t position, std::string_view name) const;
    const Value& require(std::size_t position, std::string_view name) const;
    std::string text(std::size_t position, std::string_view name, std::string_view fallback) const;
    std::string require_text(std::size_t position, std::string_view name) const;
    std::int64_t integer(std::size_t position, std::string_view name, std::int64_t fallback) const;
    bool boolean(std::size_t position, std::string_view name, bool fallback) const;

private:
    std::string function_;
    const Arguments& arguments_;
};

Value apply_filter(Interpreter& interpreter, const std::string& name, const Value& value,
                   const Arguments& arguments);
bool is_filter(std::string_view name);
bool apply_test(Interpreter& interpreter, const std::string& name, const Value& value,
                const Arguments& arguments);
// A method of a string, list or dict, bound to it; nothing if there is none of that name.
std::optional<Value> find_method(const Value& object, const std::string& name);
// range, dict, namespace, joiner, cycler, raise_exception, strftime_now(now).
Dict global_functions(const std::string& now);

Value make_function(std::string name, std::function<Value(Interpreter&, const Arguments&)> call);

} // namespace cuset::jinja
