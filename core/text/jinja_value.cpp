#include "core/text/jinja_value.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {

Value::Value(Undefined undefined)
    : data_(std::make_shared<const std::string>(std::move(undefined.what))) { }
Value::Value(None)
    : kind_(Kind::none) { }
Value::Value(bool value)
    : kind_(Kind::boolean)
    , data_(value) { }
Value::Value(std::int64_t value)
    : kind_(Kind::integer)
    , data_(value) { }
Value::Value(double value)
    : kind_(Kind::real)
    , data_(value) { }
Value::Value(std::string value)
    : kind_(Kind::string)
    , data_(std::make_shared<const std::string>(std::move(value))) { }
Value::Value(std::string_view value)
    : Value(std::string(value)) { }
Value::Value(const char* value)
    : Value(std::string(value)) { }
Value::Value(std::shared_ptr<const Function> function)
    : kind_(Kind::function)
    , data_(std::move(function)) { }
Value::Value(std::shared_ptr<Namespace> name_space)
    : kind_(Kind::name_space)
    , data_(std::move(name_space)) { }

int Value::depth() const {
    if (is_sequence() || kind_ == Kind::generator)
        return std::get<ListPointer>(data_)->depth;
    if (is_dict())
        return std::get<DictPointer>(data_)->depth;
    return 0;
}

namespace {

int checked_depth(int depth) {
    if (depth > Value::max_depth)
        throw Error(ErrorCode::limit,
                    "values are nested deeper than " + std::to_string(Value::max_depth));
    return depth;
}

} // namespace

Value Value::make_list(List items, Kind kind) {
    int depth = 0;
    for (const Value& item : items)
        depth = std::max(depth, item.depth());
    Value value;
    value.kind_ = kind;
    value.data_ =
        std::make_shared<const ListData>(ListData{std::move(items), checked_depth(depth + 1)});
    return value;
}

Value Value::list(List items) {
    return make_list(std::move(items), Kind::list);
}

Value Value::tuple(List items) {
    return make_list(std::move(items), Kind::tuple);
}

Value Value::markup(std::string text) {
    Value value(std::move(text));
    value.markup_ = true;
    return value;
}

Value Value::generator(List items) {
    return make_list(std::move(items), Kind::generator);
}

Value Value::dict(Dict items) {
    int depth = 0;
    for (const auto& [key, item] : items)
        depth = std::max({depth, key.depth(), item.depth()});
    Value value;
    value.kind_ = Kind::dict;
    value.data_ =
        std::make_shared<const DictData>(DictData{std::move(items), checked_depth(depth + 1)});
    return value;
}

std::int64_t Value::integer() const {
    assert(is_integer());
    return kind_ == Kind::boolean ? std::get<bool>(data_) : std::get<std::int64_t>(data_);
}

double Value::number() const {
    assert(is_number());
    return kind_ == Kind::real ? std::get<double>(data_) : static_cast<double>(integer());
}

const std::string& Value::undefined_reason() const {
    static const std::string unknown = "value is undefined";
    const auto* reason = std::get_if<StringPointer>(&data_);
    return reason ? **reason : unknown;
}

bool Value::truthy() const {
    switch (kind_) {
    case Kind::undefined:
    case Kind::none:
        return false;
    case Kind::boolean:
    case Kind::integer:
        return integer() != 0;
    case Kind::real:
        return number() != 0;
    case Kind::string:
        return !string().empty();
    case Kind::list:
    case Kind::tuple:
        return !items().empty();
    case Kind::dict:
        return !entries().empty();
    case Kind::function:
    case Kind::name_space:
    case Kind::generator:
        break;
    }
    return true;
}

std::string Value::type_name() const {
    static constexpr std::array<const char*, 12> names{
        "Undefined", "NoneType", "bool", "int",      "float",     "str",
        "list",      "tuple",    "dict", "function", "Namespace", "generator"};
    return names[static_cast<std::size_t>(kind_)];
}

const Value* Value::find(std::string_view key) const {
    for (const auto& [name, value] : entries())
        if (name.is_string() && name.string() == key)
            return &value;
    return nullptr;
}

bool equal(const Value& x, const Value& y) {
    if (x.is_number() && y.is_number())
        return x.is_integer() && y.is_integer() ? x.integer() == y.integer()
                                                : x.number() == y.number();
    if (x.kind() != y.kind())
        return false;
    switch (x.kind()) {
    case Value::Kind::string:
        return x.string() == y.string();
    case Value::Kind::list:
    case Value::Kind::tuple:
        return std::equal(x.items().begin(), x.items().end(), y.items().begin(), y.items().end(),
                          equal);
    case Value::Kind::dict:
        if (x.entries().size() != y.entries().size())
            return false;
        return std::all_of(x.entries().begin(), x.entries().end(), [&](const auto& entry) {
            return std::any_of(y.entries().begin(), y.entries().end(), [&](const auto& other) {
                return equal(entry.first, other.first) && equal(entry.second, other.second);
            });
        });
    case Value::Kind::generator:
        return &x.items() == &y.items();
    case Value::Kind::function:
        return &x.function() == &y.function();
    case Value::Kind::name_space:
        return x.name_space() == y.name_space();
    default:
        return true; // undefined, none
    }
}

int compare(const Value& x, const Value& y) {
    const auto sign = [](auto a, auto b) { return a < b ? -1 : b < a ? 1 : 0; };
    if (x.is_integer() && y.is_integer())
        return sign(x.integer(), y.integer());
    if (x.is_number() && y.is_number())
        return sign(x.number(), y.number());
    if (x.is_string() && y.is_string())
        return sign(x.string(), y.string()); // UTF-8 keeps the order of code points
    if (x.is_sequence() && x.kind() == y.kind()) {
        for (std::size_t i = 0; i < std::min(x.items().size(), y.items().size()); ++i)
            if (!equal(x.items()[i], y.items()[i]))
                return compare(x.items()[i], y.items()[i]);
        return sign(x.items().size(), y.items().size());
    }
    throw Error(ErrorCode::bad_value, "cannot order " + x.type_name() + " and " + y.type_name());
}

namespace {

// repr(float): the shortest text that reads back as the same number.
std::string real_text(double value) {
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    std::array<char, 64> buffer{};
    const double size = std::fabs(value);
    const bool exponent = value != 0 && (size < 1e-4 || size >= 1e16);
    const auto result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                      exponent ? std::chars_format::scientific : std::chars_format::fixed);
    std::string text(buffer.data(), result.ptr);
    if (!exponent && text.find('.') == std::string::npos)
        text += ".0";
    return text;
}

std::string string_repr(const std::string& text) {
    const char quote =
        text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
    std::string out(1, quote);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character_length(text, at);
        const char32_t c = code_point(text, at);
        std::array<char, 16> escape{};
        if (c == static_cast<unsigned char>(quote) || c == '\\')
            out += std::string("\\") + static_cast<char>(c);
        else if (c == '\n')
            out += "\\n";
        else if (c == '\r')
            out += "\\r";
        else if (c == '\t')
            out += "\\t";
        else if (!is_printable(c)) {
            std::snprintf(escape.data(), escape.size(),
                          c < 0x100         ? "\\x%02x"
                              : c < 0x10000 ? "\\u%04x"
                                            : "\\U%08x",
                          static_cast<unsigned>(c));
            out += escape.data();
        } else
            out.append(text, at, length);
        at += length;
    }
    return out + quote;
}

template <typename Items, typename Print> std::string joined(const Items& items, Print print) {
    std::string out;
    for (const auto& item : items)
        out += (out.empty() ? "" : ", ") + print(item);
    return out;
}

} // namespace

std::string to_repr(const Value& value) {
    switch (value.kind()) {
    case Value::Kind::undefined:
        return "Undefined";
    case Value::Kind::none:
        return "None";
    case Value::Kind::boolean:
        return value.boolean() ? "True" : "False";
    case Value::Kind::integer:
        return std::to_string(value.integer());
    case Value::Kind::real:
        return real_text(value.number());
    case Value::Kind::string:
        return string_repr(value.string());
    case Value::Kind::list:
        return "[" + joined(value.items(), to_repr) + "]";
    case Value::Kind::tuple:
        return "(" + joined(value.items(), to_repr) + (value.items().size() == 1 ? ",)" : ")");
    case Value::Kind::dict:
        return "{"
            + joined(value.entries(),
                     [](const auto& entry) {
                         return to_repr(entry.first) + ": " + to_repr(entry.second);
                     })
            + "}";
    case Value::Kind::function:
        return "<function " + value.function().name + ">";
    case Value::Kind::generator:
        return "<generator>";
    case Value::Kind::name_space:
        break;
    }
    return "<Namespace>";
}

std::string to_text(const Value& value) {
    if (value.is_string())
        return value.string();
    if (value.is_undefined())
        return {};
    return to_repr(value);
}

std::string to_escaped(const Value& value) {
    if (value.is_markup())
        return value.string();
    std::string out;
    for (const char c : to_text(value)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&#34;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

namespace {

std::string json_string(const std::string& text, bool ensure_ascii) {
    std::string out = "\"";
    std::array<char, 16> escape{};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character_length(text, at);
        const char32_t c = code_point(text, at);
        static constexpr std::string_view special = "\"\\\n\r\t\b\f", letters = "\"\\nrtbf";
        const std::size_t found =
            c < 0x80 ? special.find(static_cast<char>(c)) : std::string_view::npos;
        const auto unit = [&](unsigned value) {
            std::snprintf(escape.data(), escape.size(), "\\u%04x", value);
            out += escape.data();
        };
        if (found != std::string_view::npos)
            out += std::string("\\") + letters[found];
        else if (c < 0x20 || (ensure_ascii && c > 0x7e && c < 0x10000))
            unit(static_cast<unsigned>(c));
        else if (ensure_ascii && c >= 0x10000) {
            unit(static_cast<unsigned>(0xd800 + ((c - 0x10000) >> 10)));
            unit(static_cast<unsigned>(0xdc00 + ((c - 0x10000) & 0x3ff)));
        } else
            out.append(text, at, length);
        at += length;
    }
    return out + '"';
}

class JsonWriter {
public:
    explicit JsonWriter(const JsonStyle& style)
        : style_(style)
        , separator_(!style.item_separator.empty() ? style.item_separator
                         : style.indent < 0        ? ", "
                                                   : ",") { }

    std::string write(const Value& value, int level) const {
        switch (value.kind()) {
        case Value::Kind::none:
            return "null";
        case Value::Kind::boolean:
            return value.boolean() ? "true" : "false";
        case Value::Kind::integer:
            return std::to_string(value.integer());
        case Value::Kind::real:
            return real(value.number());
        case Value::Kind::string:
            return json_string(value.string(), style_.ensure_ascii);
        case Value::Kind::list:
        case Value::Kind::tuple:
            return sequence(value.items(), level);
        case Value::Kind::dict:
            return object(value.entries(), level);
        default:
            throw Error(ErrorCode::bad_value,
                        "object of type " + value.type_name() + " is not JSON serializable");
        }
    }

private:
    static std::string real(double value) {
        if (std::isnan(value))
            return "NaN";
        if (std::isinf(value))
            return value < 0 ? "-Infinity" : "Infinity";
        return real_text(value);
    }

    std::string line(int level) const {
        return style_.indent < 0
            ? std::string()
            : "\n"
                + std::string(
                    static_cast<std::size_t>(style_.indent) * static_cast<std::size_t>(level), ' ');
    }

    std::string sequence(const List& items, int level) const {
        if (items.empty())
            return "[]";
        std::string out = "[";
        for (std::size_t i = 0; i < items.size(); ++i)
            out += (i == 0 ? "" : separator_) + line(level + 1) + write(items[i], level + 1);
        return out + line(level) + "]";
    }

    std::string object(Dict entries, int level) const {
        if (entries.empty())
            return "{}";
        if (style_.sort_keys)
            std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
                return compare(a.first, b.first) < 0;
            });
        std::string out = "{";
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Value& key = entries[i].first;
            const std::string name = key.is_string() ? key.string() : write(key, 0);
            out += (i == 0 ? "" : separator_) + line(level + 1)
                + json_string(name, style_.ensure_ascii) + style_.key_separator
                + write(entries[i].second, level + 1);
        }
        return out + line(level) + "}";
    }

    const JsonStyle& style_;
    std::string separator_;
};

Value from_json(const nlohmann::ordered_json& json, int depth) {
    checked_depth(depth);
    if (json.is_null())
        return Value(None{});
    if (json.is_boolean())
        return Value(json.get<bool>());
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
        return Value(json.get<double>());
    if (json.is_number_integer())
        return Value(json.get<std::int64_t>());
    if (json.is_number())
        return Value(json.get<double>());
    if (json.is_string())
        return Value(json.get<std::string>());
    if (json.is_array()) {
        List items;
        for (const auto& item : json)
            items.push_back(from_json(item, depth + 1));
        return Value::list(std::move(items));
    }
    Dict entries;
    for (const auto& [key, item] : json.items())
        entries.emplace_back(Value(key), from_json(item, depth + 1));
    return Value::dict(std::move(entries));
}

} // namespace

std::string to_json_text(const Value& value, const JsonStyle& style) {
    return JsonWriter(style).write(value, 0);
}

Value from_json_text(std::string_view json, const std::string& subject) {
    try {
        return from_json(nlohmann::ordered_json::parse(json), 0);
    } catch (const nlohmann::json::parse_error& error) {
        throw Error(ErrorCode::bad_format,
                    error.byte > json.size() ? std::string("JSON ends before it is complete")
                                             : "is not JSON at byte " + std::to_string(error.byte),
                    subject);
    } catch (const nlohmann::json::exception&) {
        throw Error(ErrorCode::bad_format, "holds a number that is out of range", subject);
    }
}

} // namespace cuset::jinja
