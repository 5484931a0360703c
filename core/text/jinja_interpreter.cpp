#include "core/text/jinja_interpreter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/text/jinja_builtins.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorCode::bad_value, message);
}

} // namespace

// One level of nesting; what may nest is bounded, so that the stack is.
struct Interpreter::Depth {
    explicit Depth(Interpreter& owner)
        : interpreter(owner) {
        if (++interpreter.depth_ > interpreter.limits_.depth) {
            --interpreter.depth_;
            throw Error(ErrorCode::limit,
                        "calls and loops are nested deeper than "
                            + std::to_string(interpreter.limits_.depth));
        }
    }
    ~Depth() { --interpreter.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Interpreter& interpreter;
};

struct Interpreter::LoopState {
    const Statement& statement;
    const List& items;
    std::size_t index = 0;
    int level = 0;
    std::shared_ptr<Value> last_changed;
};

Interpreter::Interpreter(const Limits& limits)
    : limits_(limits)
    , deadline_(std::chrono::steady_clock::now() + std::chrono::milliseconds(limits.milliseconds))
    , scope_(std::make_shared<Scope>()) { }

Interpreter::~Interpreter() {
    for (const auto& name_space : namespaces_)
        name_space->attributes.clear();
    for (const auto& scope : captured_scopes_)
        scope->variables.clear();
}

void Interpreter::charge(std::size_t steps) {
    static constexpr long steps_between_clock_reads = 1024;
    const long before = steps_;
    steps_ += static_cast<long>(
        std::min<std::size_t>(steps, static_cast<std::size_t>(limits_.steps) + 1));
    if (steps_ > limits_.steps)
        throw Error(ErrorCode::limit,
                    "takes more than " + std::to_string(limits_.steps) + " steps");
    if (before / steps_between_clock_reads != steps_ / steps_between_clock_reads
        && std::chrono::steady_clock::now() > deadline_)
        throw Error(ErrorCode::limit,
                    "takes longer than " + std::to_string(limits_.milliseconds) + " ms");
}

void Interpreter::charge_bytes(std::size_t bytes) {
    static constexpr std::size_t bytes_for_a_step = 64;
    if (bytes > static_cast<std::size_t>(limits_.output_bytes))
        throw Error(ErrorCode::limit,
                    "makes a value of more than " + std::to_string(limits_.output_bytes)
                        + " bytes");
    charge(bytes / bytes_for_a_step);
}

std::shared_ptr<Namespace> Interpreter::make_namespace() {
    namespaces_.push_back(std::make_shared<Namespace>());
    return namespaces_.back();
}

std::string Interpreter::render(const Block& block, const Dict& variables,
                                const std::string& subject) {
    std::string out;
    output_ = &out;
    try {
        for (const auto& [name, value] : variables)
            scope_->variables.emplace_back(name.string(), value);
        push_scope();
        run(block);
    } catch (const Error& error) {
        throw Error(error.code(), "line " + std::to_string(line_) + ": " + error.message(),
                    subject);
    }
    return out;
}

void Interpreter::push_scope() {
    scope_ = std::make_shared<Scope>(Scope{scope_, {}});
}

void Interpreter::pop_scope() {
    scope_ = scope_->parent;
}

void Interpreter::set(const std::string& name, Value value) {
    for (auto& [known, old] : scope_->variables)
        if (known == name) {
            old = std::move(value);
            return;
        }
    scope_->variables.emplace_back(name, std::move(value));
}

void Interpreter::emit(std::string_view text) {
    produced_bytes_ += static_cast<long>(text.size());
    if (produced_bytes_ > limits_.output_bytes)
        throw Error(ErrorCode::limit,
                    "writes more than " + std::to_string(limits_.output_bytes) + " bytes");
    charge(text.size() / 64);
    *output_ += text;
}

std::string Interpreter::captured(const Block& block) {
    std::string text;
    std::string* const outer = std::exchange(output_, &text);
    const std::shared_ptr<Scope> scope = scope_;
    push_scope();
    try {
        run(block);
    } catch (...) {
        output_ = outer;
        scope_ = scope;
        throw;
    }
    output_ = outer;
    scope_ = scope;
    return text;
}

// ---- statements

Interpreter::Flow Interpreter::run(const Block& block) {
    for (const auto& statement : block) {
        const Flow flow = run(*statement);
        if (flow != Flow::normal)
            return flow;
    }
    return Flow::normal;
}

Interpreter::Flow Interpreter::run(const Statement& statement) {
    charge(1);
    line_ = statement.line;
    switch (statement.kind) {
    case Statement::Kind::text:
        emit(statement.text);
        break;
    case Statement::Kind::output:
        emit(to_text(evaluate(*statement.expression)));
        break;
    case Statement::Kind::if_else:
        return run_if(statement);
    case Statement::Kind::for_loop:
        run_for(statement, evaluate(*statement.expression), 0);
        break;
    case Statement::Kind::set:
        assign(*statement.target, evaluate(*statement.expression));
        break;
    case Statement::Kind::set_block: {
        Value value(captured(statement.body));
        if (statement.expression) {
            push_scope();
            set({}, value);
            value = evaluate(*statement.expression);
            pop_scope();
        }
        assign(*statement.target, value);
        break;
    }
    case Statement::Kind::macro:
        set(statement.text, make_macro(statement, statement.text));
        break;
    case Statement::Kind::call_block:
        run_call(statement);
        break;
    case Statement::Kind::filter_block: {
        push_scope();
        set({}, Value(captured(statement.body)));
        const Value value = evaluate(*statement.expression);
        pop_scope();
        emit(to_text(value));
        break;
    }
    case Statement::Kind::with_block: {
        push_scope();
        std::vector<Value> values;
        for (const auto& assignment : statement.assignments)
            values.push_back(evaluate(*assignment.second));
        for (std::size_t i = 0; i < values.size(); ++i)
            assign(*statement.assignments[i].first, values[i]);
        const Flow flow = run(statement.body);
        pop_scope();
        return flow;
    }
    case Statement::Kind::generation:
        emit(captured(statement.body));
        break;
    case Statement::Kind::break_loop:
        return Flow::broken;
    case Statement::Kind::continue_loop:
        return Flow::continued;
    }
    return Flow::normal;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement) {
    for (const auto& [condition, block] : statement.branches)
        if (!condition || evaluate(*condition).truthy())
            return run(block);
    return Flow::normal;
}

Value Interpreter::loop_object(const LoopState& state) {
    auto loop = make_namespace();
    const auto count = static_cast<std::int64_t>(state.items.size());
    const auto index = static_cast<std::int64_t>(state.index);
    auto& attributes = loop->attributes;
    attributes["index"] = Value(index + 1);
    attributes["index0"] = Value(index);
    attributes["revindex"] = Value(count - index);
    attributes["revindex0"] = Value(count - index - 1);
    attributes["first"] = Value(index == 0);
    attributes["last"] = Value(index + 1 == count);
    attributes["length"] = Value(count);
    attributes["depth"] = Value(static_cast<std::int64_t>(state.level + 1));
    attributes["depth0"] = Value(static_cast<std::int64_t>(state.level));
    attributes["previtem"] =
        index > 0 ? state.items[state.index - 1] : Value(Undefined{"there is no previous item"});
    attributes["nextitem"] = index + 1 < count ? state.items[state.index + 1]
                                               : Value(Undefined{"there is no next item"});
    attributes["cycle"] = make_function("cycle", [index](Interpreter&, const Arguments& arguments) {
        if (arguments.positional.empty())
            fail("loop.cycle needs at least one value");
        return arguments.positional[static_cast<std::size_t>(index) % arguments.positional.size()];
    });
    attributes["changed"] = make_function(
        "changed", [last = state.last_changed](Interpreter&, const Arguments& arguments) {
            const Value now = Value::tuple(arguments.positional);
            const bool changed = !equal(*last, now);
            *last = now;
            return Value(changed);
        });
    if (state.statement.recursive)
        attributes["__call__"] =
            make_function("loop",
                          [&statement = state.statement,
                           level = state.level](Interpreter& self, const Arguments& arguments) {
                              const ArgumentReader reader("loop", arguments);
                              std::string text;
                              std::string* const outer = std::exchange(self.output_, &text);
                              self.run_for(statement, reader.require(0, "iterable"), level + 1);
                              self.output_ = outer;
                              self.produced_bytes_ -= static_cast<long>(text.size());
                              return Value(std::move(text));
                          });
    return Value(loop);
}

void Interpreter::run_for(const Statement& statement, const Value& sequence, int level) {
    const Depth guard(*this);
    List items = iterate(sequence);
    const std::shared_ptr<Scope> scope = scope_;
    if (statement.condition) {
        List kept;
        for (const Value& item : items) {
            charge(1);
            push_scope();
            assign(*statement.target, item);
            if (evaluate(*statement.condition).truthy())
                kept.push_back(item);
            scope_ = scope;
        }
        items = std::move(kept);
    }
    LoopState state{statement, items, 0, level, std::make_shared<Value>()};
    for (; state.index < items.size(); ++state.index) {
        charge(1);
        push_scope();
        set("loop", loop_object(state));
        assign(*statement.target, items[state.index]);
        const Flow flow = run(statement.body);
        scope_ = scope;
        if (namespaces_.size() > 64)
            std::erase_if(namespaces_,
                          [](const auto& name_space) { return name_space.use_count() == 1; });
        if (flow == Flow::broken)
            break;
    }
    if (items.empty()) {
        push_scope();
        run(statement.else_body);
        scope_ = scope;
    }
}

Value Interpreter::make_macro(const Statement& statement, std::string name) {
    captured_scopes_.push_back(scope_);
    return make_function(std::move(name),
                         [&statement, scope = std::weak_ptr<Scope>(scope_)](
                             Interpreter& self, const Arguments& arguments) {
                             return self.call_macro(statement, scope.lock(), arguments);
                         });
}

Value Interpreter::call_macro(const Statement& statement, const std::shared_ptr<Scope>& closure,
                              const Arguments& arguments) {
    const Depth guard(*this);
    const std::shared_ptr<Scope> caller_scope = std::exchange(scope_, closure);
    const int line = line_;
    std::string text;
    std::string* const outer = std::exchange(output_, &text);
    push_scope();
    std::vector<std::pair<std::string, Value>> named = arguments.named;
    for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
        const Parameter& parameter = statement.parameters[i];
        const auto given = std::find_if(named.begin(), named.end(), [&](const auto& entry) {
            return entry.first == parameter.name;
        });
        if (i < arguments.positional.size())
            set(parameter.name, arguments.positional[i]);
        else if (given != named.end())
            set(parameter.name, given->second);
        else if (parameter.default_value)
            set(parameter.name, evaluate(*parameter.default_value));
        else
            set(parameter.name,
                Value(Undefined{"parameter '" + parameter.name + "' was not provided"}));
        if (given != named.end())
            named.erase(given);
    }
    List rest;
    for (std::size_t i = statement.parameters.size(); i < arguments.positional.size(); ++i)
        rest.push_back(arguments.positional[i]);
    Dict rest_named;
    for (const auto& [name, value] : named) {
        if (name == "caller")
            set(name, value);
        else
            rest_named.emplace_back(Value(name), value);
    }
    set("varargs", Value::tuple(std::move(rest)));
    set("kwargs", Value::dict(std::move(rest_named)));
    run(statement.body);
    output_ = outer;
    scope_ = caller_scope;
    line_ = line;
    produced_bytes_ -= static_cast<long>(text.size()); // counted where it is written in the end
    return Value(std::move(text));
}

void Interpreter::run_call(const Statement& statement) {
    Arguments arguments = evaluate_arguments(*statement.expression);
    arguments.named.emplace_back("caller", make_macro(statement, "caller"));
    emit(to_text(call(evaluate(*statement.expression->operands[0]), arguments)));
}

void Interpreter::assign(const Expression& target, const Value& value) {
    if (target.kind == Expression::Kind::name) {
        set(target.text, value);
    } else if (target.kind == Expression::Kind::attribute) {
        const Value object = evaluate(*target.operands[0]);
        if (object.kind() != Value::Kind::name_space)
            fail("cannot set attribute '" + target.text + "' of " + object.type_name()
                 + ", needs a namespace");
        object.name_space()->attributes[target.text] = value;
    } else {
        const List values = iterate(value);
        if (values.size() != target.operands.size())
            fail("cannot unpack " + std::to_string(values.size()) + " values into "
                 + std::to_string(target.operands.size()) + " names");
        for (std::size_t i = 0; i < values.size(); ++i)
            assign(*target.operands[i], values[i]);
    }
}

} // namespace cuset::jinja
