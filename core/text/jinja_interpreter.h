// Runs a parsed Jinja template under budgets. Templates are untrusted: there is no access to
// anything but the values given, and steps, output, depth and time are bounded.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/jinja_syntax.h"
#include "core/text/jinja_value.h"

namespace cuset::jinja {

struct Limits {
    long steps = 0;
    long output_bytes = 0;
    int depth = 0;
    int milliseconds = 0;
};

class Interpreter {
public:
    explicit Interpreter(const Limits& limits);
    ~Interpreter();
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;

    // Throws Error: bad_value ("line N: ..."), limit.
    std::string render(const Block& block, const Dict& variables, const std::string& subject);

    // For built-in functions, filters and tests.
    void charge(std::size_t steps); // throws Error(limit) when the budget is used up
    // Before a value of that many bytes (or list of that many items) is made.
    void charge_bytes(std::size_t bytes);
    Value call(const Value& callee, const Arguments& arguments);
    Value filter(const std::string& name, const Value& value, const Arguments& arguments);
    bool test(const std::string& name, const Value& value, const Arguments& arguments);
    Value attribute(const Value& object, const std::string& name); // object.name
    Value item(const Value& object, const Value& key); // object[key]
    // What `for` would go through. Throws Error(bad_value) if it cannot.
    List iterate(const Value& value);
    std::shared_ptr<Namespace> make_namespace();

private:
    struct Scope {
        std::shared_ptr<Scope> parent;
        std::vector<std::pair<std::string, Value>> variables;
    };
    enum class Flow { normal, broken, continued };
    struct Depth;
    struct LoopState;

    Flow run(const Block& block);
    Flow run(const Statement& statement);
    Flow run_if(const Statement& statement);
    void run_for(const Statement& statement, const Value& sequence, int level);
    Value loop_object(const LoopState& state);
    void run_macro(const Statement& statement);
    void run_call(const Statement& statement);
    Value make_macro(const Statement& statement, std::string name);
    Value call_macro(const Statement& statement, const std::shared_ptr<Scope>& closure,
                     const Arguments& arguments);
    std::string captured(const Block& block); // its output, in a scope of its own
    void assign(const Expression& target, const Value& value);
    void emit(std::string_view text);

    Value evaluate(const Expression& expression);
    Value evaluate_name(const std::string& name);
    Value evaluate_slice(const Value& object, const Expression& slice);
    Value evaluate_unary(const Expression& expression);
    Value evaluate_binary(const Expression& expression);
    Value joined_text(const Value& x, const Value& y);
    Value evaluate_comparison(const Expression& expression);
    bool contains(const Value& container, const Value& value);
    Arguments evaluate_arguments(const Expression& expression);

    void push_scope();
    void pop_scope();
    void set(const std::string& name, Value value);

    Limits limits_;
    long steps_ = 0;
    long produced_bytes_ = 0;
    int depth_ = 0; // of calls and loops
    int expression_depth_ = 0; // of evaluate() within itself
    int line_ = 0;
    std::chrono::steady_clock::time_point deadline_;
    std::shared_ptr<Scope> scope_;
    std::string* output_ = nullptr;
    // Cycles through namespaces and macros' closures are broken when the run ends.
    std::vector<std::shared_ptr<Namespace>> namespaces_;
    std::vector<std::shared_ptr<Scope>> captured_scopes_;
};

} // namespace cuset::jinja
