// Values of the Jinja engine: Python's, as far as chat templates use them. Immutable except for
// namespaces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cuset::jinja {

class Value;
class Interpreter;

struct Undefined {
    std::string what; // e.g. "'x' is undefined", for the message when it is used
};
struct None { };

using List = std::vector<Value>;
// Insertion order is kept, as in Python.
using Dict = std::vector<std::pair<Value, Value>>;

struct Arguments;

struct Function {
    std::string name;
    std::function<Value(Interpreter&, const Arguments&)> call;
};

// The one thing that can change: namespace(...) and the loop variable's attributes.
struct Namespace {
    std::map<std::string, Value, std::less<>> attributes;
};

class Value {
public:
    enum class Kind {
        undefined,
        none,
        boolean,
        integer,
        real,
        string,
        list,
        tuple,
        dict,
        function,
        name_space,
        generator // what map, select and their kin give: only good for going through
    };

    Value() = default; // undefined
    explicit Value(Undefined undefined);
    explicit Value(None);
    explicit Value(bool value);
    explicit Value(std::int64_t value);
    explicit Value(double value);
    explicit Value(std::string value);
    explicit Value(std::string_view value);
    explicit Value(const char* value);
    // Throw Error(limit) when nested deeper than max_depth, so that no destructor ever recurses
    // far.
    static Value list(List items);
    static Value tuple(List items);
    // Text that `safe` or `escape` made: joining it with other text escapes the other.
    static Value markup(std::string text);
    static Value generator(List items);
    static Value dict(Dict items);
    explicit Value(std::shared_ptr<const Function> function);
    explicit Value(std::shared_ptr<Namespace> name_space);

    static constexpr int max_depth = 100;

    Kind kind() const { return kind_; }
    bool is_undefined() const { return kind_ == Kind::undefined; }
    bool is_none() const { return kind_ == Kind::none; }
    bool is_string() const { return kind_ == Kind::string; }
    bool is_markup() const { return markup_; }
    bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
    bool is_dict() const { return kind_ == Kind::dict; }
    bool is_integer() const {
        return kind_ == Kind::integer || kind_ == Kind::boolean;
    } // as in Python
    bool is_number() const { return is_integer() || kind_ == Kind::real; }

    // Each asserts the kind.
    bool boolean() const { return std::get<bool>(data_); }
    std::int64_t integer() const; // booleans too
    double number() const; // integers and booleans too
    const std::string& string() const { return *std::get<StringPointer>(data_); }
    const List& items() const { return std::get<ListPointer>(data_)->items; }
    const Dict& entries() const { return std::get<DictPointer>(data_)->entries; }
    const Function& function() const { return *std::get<std::shared_ptr<const Function>>(data_); }
    const std::shared_ptr<Namespace>& name_space() const {
        return std::get<std::shared_ptr<Namespace>>(data_);
    }
    const std::string& undefined_reason() const;

    bool truthy() const; // bool(x)
    std::string type_name() const; // type(x).__name__
    const Value* find(std::string_view key) const; // of a dict; null if not there

private:
    struct ListData {
        List items;
        int depth;
    };
    struct DictData {
        Dict entries;
        int depth;
    };
    using StringPointer = std::shared_ptr<const std::string>;
    using ListPointer = std::shared_ptr<const ListData>;
    using DictPointer = std::shared_ptr<const DictData>;

    static Value make_list(List items, Kind kind);
    int depth() const;

    Kind kind_ = Kind::undefined;
    bool markup_ = false;
    std::variant<std::monostate, bool, std::int64_t, double, StringPointer, ListPointer,
                 DictPointer, std::shared_ptr<const Function>, std::shared_ptr<Namespace>>
        data_;
};

// Arguments of a call.
struct Arguments {
    List positional;
    std::vector<std::pair<std::string, Value>> named = {};
};

// x == y by Python's rules (1 == 1.0 == True; other kinds are different).
bool equal(const Value& x, const Value& y);
// -1, 0, 1; throws Error(bad_value) for kinds that Python cannot order.
int compare(const Value& x, const Value& y);
// str(x) and repr(x).
std::string to_text(const Value& value);
// str(x) made safe for HTML; markup is safe as it stands.
std::string to_escaped(const Value& value);
std::string to_repr(const Value& value);
// json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=..., sort_keys=sort_keys).
// indent < 0: None.
struct JsonStyle {
    int indent = -1;
    bool ensure_ascii = false;
    bool sort_keys = false;
    std::string item_separator; // "": Python's default
    std::string key_separator = ": ";
};
std::string to_json_text(const Value& value, const JsonStyle& style);
// From JSON text; throws Error(bad_format) with `subject`.
Value from_json_text(std::string_view json, const std::string& subject);

} // namespace cuset::jinja
