// Filters of the Jinja engine, as jinja2 3.1 defines them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "core/base/error.h"
#include "core/text/jinja_builtins.h"
#include "core/text/jinja_format.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorCode::bad_value, message);
}

[[noreturn]] void fail_type(const std::string& filter, const Value& value) {
    if (value.is_undefined())
        fail(value.undefined_reason());
    fail("filter '" + filter + "' cannot be used on " + value.type_name());
}

using Reader = ArgumentReader;
using Filter = Value (*)(Interpreter&, const Value&, const Arguments&);

// The value that an attribute name like "a.b.0" leads to, or a default where it is undefined.
Value follow(Interpreter& interpreter, const Value& value, const Value& path,
             const Value* fallback) {
    Value at = value;
    if (path.is_integer()) {
        at = interpreter.item(at, path);
    } else {
        for (const std::string& name : split(to_text(path), ".", -1)) {
            const bool index = all_characters(name, [](char32_t c) { return c >= '0' && c <= '9'; })
                && name.size() < 10;
            at = index ? interpreter.item(at, Value(std::int64_t{std::stoi(name)}))
                       : interpreter.item(at, Value(name));
        }
    }
    return at.is_undefined() && fallback ? *fallback : at;
}

Value size_of(Interpreter& interpreter, const Value& value, const Arguments&) {
    if (value.is_string()) {
        interpreter.charge(value.string().size() / 64);
        return Value(static_cast<std::int64_t>(character_count(value.string())));
    }
    if (value.is_dict())
        return Value(static_cast<std::int64_t>(value.entries().size()));
    if (value.is_sequence())
        return Value(static_cast<std::int64_t>(value.items().size()));
    if (value.is_undefined())
        return Value(std::int64_t{0});
    fail("object of type '" + value.type_name() + "' has no len()");
}

Value default_value(Interpreter&, const Value& value, const Arguments& arguments) {
    const Reader reader("default", arguments);
    const Value* fallback = reader.find(0, "default_value");
    const bool replace =
        value.is_undefined() || (reader.boolean(1, "boolean", false) && !value.truthy());
    return !replace ? value : fallback ? *fallback : Value("");
}

Value to_json(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("tojson", arguments);
    JsonStyle style;
    style.ensure_ascii = reader.boolean(0, "ensure_ascii", false);
    const Value* indent = reader.find(1, "indent");
    if (indent && indent->is_integer())
        style.indent = static_cast<int>(std::clamp<std::int64_t>(indent->integer(), 0, 64));
    if (const Value* separators = reader.find(2, "separators");
        separators && separators->is_sequence()) {
        if (separators->items().size() != 2)
            fail("tojson() needs two separators");
        style.item_separator = to_text(separators->items()[0]);
        style.key_separator = to_text(separators->items()[1]);
    }
    style.sort_keys = reader.boolean(3, "sort_keys", false);
    if (value.is_undefined())
        fail(value.undefined_reason());
    std::string text = to_json_text(value, style);
    interpreter.charge_bytes(text.size());
    return Value(std::move(text));
}

Value joined(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("join", arguments);
    const std::string separator = reader.text(0, "d", "");
    const Value* attribute = reader.find(1, "attribute");
    std::string out;
    bool first = true;
    for (const Value& item : interpreter.iterate(value)) {
        interpreter.charge(1);
        out += (first ? "" : separator)
            + to_text(attribute ? follow(interpreter, item, *attribute, nullptr) : item);
        first = false;
        if (out.size() > 4096)
            interpreter.charge_bytes(out.size());
    }
    return Value(std::move(out));
}

Value indented(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("indent", arguments);
    const Value* width = reader.find(0, "width");
    const std::string margin = width && width->is_string()
        ? width->string()
        : std::string(static_cast<std::size_t>(
                          std::clamp<std::int64_t>(reader.integer(0, "width", 4), 0, 10'000)),
                      ' ');
    const bool first = reader.boolean(1, "first", false), blank = reader.boolean(2, "blank", false);
    const std::string text =
        to_text(value) + "\n"; // as jinja2 does, so that a trailing line end stays
    const std::vector<std::string> lines = split_lines(text, false);
    interpreter.charge_bytes(text.size() + lines.size() * margin.size());
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool with_margin = i == 0 ? first : blank || !lines[i].empty();
        out += (i == 0 ? "" : "\n") + (with_margin ? margin : std::string()) + lines[i];
    }
    return Value(std::move(out));
}

int compare_values(const Value& x, const Value& y, bool case_sensitive) {
    if (!case_sensitive && x.is_string() && y.is_string())
        return compare(Value(lower(x.string())), Value(lower(y.string())));
    return compare(x, y);
}

Value sorted(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("sort", arguments);
    const bool reverse = reader.boolean(0, "reverse", false);
    const bool case_sensitive = reader.boolean(1, "case_sensitive", false);
    const Value* attribute = reader.find(2, "attribute");
    List items = interpreter.iterate(value);
    interpreter.charge(items.size() * 8);
    std::vector<std::pair<List, Value>> keyed;
    for (const Value& item : items) {
        List keys;
        if (!attribute)
            keys.push_back(item);
        else
            for (const std::string& path : split(to_text(*attribute), ",", -1))
                keys.push_back(follow(interpreter, item, Value(path), nullptr));
        keyed.emplace_back(std::move(keys), item);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        for (std::size_t i = 0; i < a.first.size(); ++i) {
            const int order = compare_values(a.first[i], b.first[i], case_sensitive);
            if (order != 0)
                return reverse ? order > 0 : order < 0;
        }
        return false;
    });
    for (std::size_t i = 0; i < items.size(); ++i)
        items[i] = keyed[i].second;
    return Value::list(std::move(items));
}

Value sorted_dict(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    if (!value.is_dict())
        fail_type("dictsort", value);
    const Reader reader("dictsort", arguments);
    const bool case_sensitive = reader.boolean(0, "case_sensitive", false);
    const bool by_value = reader.text(1, "by", "key") == "value";
    const bool reverse = reader.boolean(2, "reverse", false);
    Dict entries = value.entries();
    interpreter.charge(entries.size() * 8);
    std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
        const int order = compare_values(by_value ? a.second : a.first,
                                         by_value ? b.second : b.first, case_sensitive);
        return reverse ? order > 0 : order < 0;
    });
    List items;
    for (auto& [key, item] : entries)
        items.push_back(Value::tuple({key, item}));
    return Value::list(std::move(items));
}

Value smallest(Interpreter& interpreter, const Value& value, const Arguments& arguments, int sign) {
    const Reader reader(sign < 0 ? "min" : "max", arguments);
    const bool case_sensitive = reader.boolean(0, "case_sensitive", false);
    const Value* attribute = reader.find(1, "attribute");
    const auto key = [&](const Value& item) {
        return attribute ? follow(interpreter, item, *attribute, nullptr) : item;
    };
    const List items = interpreter.iterate(value);
    if (items.empty())
        return Value(Undefined{"no aggregated item, sequence was empty"});
    Value best = items[0];
    for (const Value& item : items) {
        interpreter.charge(1);
        if (compare_values(key(item), key(best), case_sensitive) * sign > 0)
            best = item;
    }
    return best;
}

// Nothing for a value that is false, as jinja2's map and select have it.
List items_or_none(Interpreter& interpreter, const Value& value) {
    return value.truthy() ? interpreter.iterate(value) : List{};
}

Value mapped(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("map", arguments);
    const bool by_attribute = arguments.positional.empty();
    List out;
    if (by_attribute) {
        const Value path = reader.require(0, "attribute");
        const Value* fallback = reader.find(1, "default");
        for (const Value& item : items_or_none(interpreter, value)) {
            interpreter.charge(1);
            out.push_back(follow(interpreter, item, path, fallback));
        }
        return Value::generator(std::move(out));
    }
    Arguments rest{List(arguments.positional.begin() + 1, arguments.positional.end()),
                   arguments.named};
    const std::string filter = to_text(arguments.positional[0]);
    for (const Value& item : items_or_none(interpreter, value)) {
        interpreter.charge(1);
        out.push_back(interpreter.filter(filter, item, rest));
    }
    return Value::generator(std::move(out));
}

// select, reject, selectattr, rejectattr.
Value selected(Interpreter& interpreter, const Value& value, const Arguments& arguments,
               bool wanted, bool by_attribute) {
    const std::size_t skip = by_attribute ? 1 : 0;
    if (arguments.positional.size() < skip)
        fail("selectattr() and rejectattr() need an attribute");
    const bool has_test = arguments.positional.size() > skip;
    Arguments rest{{}, arguments.named};
    for (std::size_t i = skip + 1; i < arguments.positional.size(); ++i)
        rest.positional.push_back(arguments.positional[i]);
    List out;
    for (const Value& item : items_or_none(interpreter, value)) {
        interpreter.charge(1);
        const Value subject =
            by_attribute ? follow(interpreter, item, arguments.positional[0], nullptr) : item;
        const bool holds = has_test
            ? interpreter.test(to_text(arguments.positional[skip]), subject, rest)
            : subject.truthy();
        if (holds == wanted)
            out.push_back(item);
    }
    return Value::generator(std::move(out));
}

Value unique(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("unique", arguments);
    const bool case_sensitive = reader.boolean(0, "case_sensitive", false);
    const Value* attribute = reader.find(1, "attribute");
    List out, keys;
    for (const Value& item : interpreter.iterate(value)) {
        Value key = attribute ? follow(interpreter, item, *attribute, nullptr) : item;
        if (!case_sensitive && key.is_string())
            key = Value(lower(key.string()));
        interpreter.charge(1 + keys.size() / 8);
        if (std::any_of(keys.begin(), keys.end(),
                        [&](const Value& known) { return equal(known, key); }))
            continue;
        keys.push_back(key);
        out.push_back(item);
    }
    return Value::generator(std::move(out));
}

Value grouped(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("groupby", arguments);
    const Value path = reader.require(0, "attribute");
    const Value* fallback = reader.find(1, "default");
    const bool case_sensitive = reader.boolean(2, "case_sensitive", false);
    std::vector<std::pair<Value, Value>> keyed;
    for (const Value& item : interpreter.iterate(value))
        keyed.emplace_back(follow(interpreter, item, path, fallback), item);
    interpreter.charge(keyed.size() * 8);
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        return compare_values(a.first, b.first, case_sensitive) < 0;
    });
    List groups;
    for (std::size_t i = 0; i < keyed.size();) {
        List members;
        const std::size_t first = i;
        for (; i < keyed.size()
             && compare_values(keyed[i].first, keyed[first].first, case_sensitive) == 0;
             ++i)
            members.push_back(keyed[i].second);
        groups.push_back(Value::tuple({keyed[first].first, Value::list(std::move(members))}));
    }
    return Value::list(std::move(groups));
}

Value batched(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("batch", arguments);
    const std::int64_t size = reader.integer(0, "linecount", 0);
    const Value* fill = reader.find(1, "fill_with");
    if (size <= 0)
        fail("batch() needs a size above 0");
    List out, batch;
    for (const Value& item : interpreter.iterate(value)) {
        if (static_cast<std::int64_t>(batch.size()) == size)
            out.push_back(Value::list(std::exchange(batch, {})));
        batch.push_back(item);
    }
    if (!batch.empty()) {
        interpreter.charge_bytes(fill ? static_cast<std::size_t>(size) * sizeof(Value) : 0);
        while (fill && static_cast<std::int64_t>(batch.size()) < size)
            batch.push_back(*fill);
        out.push_back(Value::list(std::move(batch)));
    }
    return Value::generator(std::move(out));
}

Value sliced(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("slice", arguments);
    const std::int64_t slices = reader.integer(0, "slices", 0);
    const Value* fill = reader.find(1, "fill_with");
    if (slices <= 0)
        fail("slice() needs a number of slices above 0");
    const List items = interpreter.iterate(value);
    interpreter.charge_bytes(static_cast<std::size_t>(slices) * sizeof(Value));
    const auto count = static_cast<std::int64_t>(items.size());
    List out;
    std::int64_t at = 0;
    for (std::int64_t slice = 0; slice < slices; ++slice) {
        const std::int64_t length = count / slices + (slice < count % slices ? 1 : 0);
        List part(items.begin() + at, items.begin() + at + length);
        if (fill && slice >= count % slices && count % slices != 0)
            part.push_back(*fill);
        at += length;
        out.push_back(Value::list(std::move(part)));
    }
    return Value::generator(std::move(out));
}

Value rounded(Interpreter&, const Value& value, const Arguments& arguments) {
    const Reader reader("round", arguments);
    if (!value.is_number())
        fail_type("round", value);
    const std::int64_t precision =
        std::clamp<std::int64_t>(reader.integer(0, "precision", 0), -300, 300);
    const std::string method = reader.text(1, "method", "common");
    const double scale = std::pow(10.0, static_cast<double>(precision));
    const double scaled = value.number() * scale;
    if (method == "ceil")
        return Value(std::ceil(scaled) / scale);
    if (method == "floor")
        return Value(std::floor(scaled) / scale);
    return Value(std::nearbyint(scaled) / scale); // halves to even, as Python's round()
}

Value to_integer(Interpreter&, const Value& value, const Arguments& arguments) {
    const Reader reader("int", arguments);
    const Value* given = reader.find(0, "default");
    const Value fallback = given ? *given : Value(std::int64_t{0});
    if (value.is_integer())
        return Value(value.integer());
    if (value.kind() == Value::Kind::real)
        return std::fabs(value.number()) < 9e18 ? Value(static_cast<std::int64_t>(value.number()))
                                                : fallback;
    if (!value.is_string())
        return fallback;
    const std::string text(strip_right(strip_left(value.string(), {}), {}));
    char* end = nullptr;
    errno = 0;
    const long long integer = std::strtoll(
        text.c_str(), &end,
        static_cast<int>(std::clamp<std::int64_t>(reader.integer(1, "base", 10), 2, 36)));
    if (!text.empty() && *end == '\0' && errno == 0)
        return Value(std::int64_t{integer});
    const double real = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && std::fabs(real) < 9e18
        ? Value(static_cast<std::int64_t>(real))
        : fallback;
}

Value to_real(Interpreter&, const Value& value, const Arguments& arguments) {
    const Value* given = Reader("float", arguments).find(0, "default");
    const Value fallback = given ? *given : Value(0.0);
    if (value.is_number())
        return Value(value.number());
    if (!value.is_string())
        return fallback;
    const std::string text(strip_right(strip_left(value.string(), {}), {}));
    char* end = nullptr;
    const double real = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' ? Value(real) : fallback;
}

Value absolute(Interpreter& interpreter, const Value& value, const Arguments&) {
    if (!value.is_number())
        fail_type("abs", value);
    interpreter.charge(1);
    if (value.kind() == Value::Kind::real)
        return Value(std::fabs(value.number()));
    if (value.integer() == INT64_MIN)
        fail("integer result is too large");
    return Value(std::abs(value.integer()));
}

Value summed(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("sum", arguments);
    const Value* attribute = reader.find(0, "attribute");
    const Value* start = reader.find(1, "start");
    double real = start && start->is_number() ? start->number() : 0;
    std::int64_t integer = start && start->is_integer() ? start->integer() : 0;
    bool all_integers = !start || start->is_integer();
    for (const Value& item : interpreter.iterate(value)) {
        const Value number = attribute && !attribute->is_none()
            ? follow(interpreter, item, *attribute, nullptr)
            : item;
        if (!number.is_number())
            fail_type("sum", number);
        real += number.number();
        all_integers = all_integers && number.is_integer();
        if (all_integers && __builtin_add_overflow(integer, number.integer(), &integer))
            fail("integer result is too large");
    }
    return all_integers ? Value(integer) : Value(real);
}

Value reversed(Interpreter& interpreter, const Value& value, const Arguments&) {
    List items = interpreter.iterate(value);
    std::reverse(items.begin(), items.end());
    if (!value.is_string())
        return Value::generator(std::move(items));
    std::string text;
    for (const Value& item : items)
        text += item.string();
    return Value(std::move(text));
}

Value replaced(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
    const Reader reader("replace", arguments);
    const std::string text = to_text(value);
    const std::string from = to_text(reader.require(0, "old")),
                      to = to_text(reader.require(1, "new"));
    interpreter.charge_bytes(text.size()
                             + text.size() / std::max<std::size_t>(1, from.size()) * to.size());
    return Value(replace(text, from, to, reader.integer(2, "count", -1)));
}

Value truncated(Interpreter&, const Value& value, const Arguments& arguments) {
    const Reader reader("truncate", arguments);
    const std::int64_t length = reader.integer(0, "length", 255);
    const bool kill_words = reader.boolean(1, "killwords", false);
    const std::string end = reader.text(2, "end", "...");
    const std::int64_t leeway = reader.integer(3, "leeway", 5);
    const std::vector<std::string> all = characters(to_text(value));
    const auto count = static_cast<std::int64_t>(all.size());
    const auto end_length = static_cast<std::int64_t>(character_count(end));
    if (length < end_length)
        fail("truncate() needs a length of at least " + std::to_string(end_length));
    std::string text;
    if (count <= length + leeway) {
        for (const std::string& character : all)
            text += character;
        return Value(std::move(text));
    }
    for (std::int64_t i = 0; i < length - end_length; ++i)
        text += all[static_cast<std::size_t>(i)];
    const std::size_t blank = text.rfind(' ');
    if (!kill_words && blank != std::string::npos)
        text.resize(blank);
    return Value(text + end);
}

Value without_tags(Interpreter&, const Value& value, const Arguments&) {
    std::string text = to_text(value), out;
    bool inside = false;
    for (const char c : text) {
        if (c == '<')
            inside = true;
        else if (c == '>' && inside)
            inside = false;
        else if (!inside)
            out += c;
    }
    std::string joined;
    for (const std::string& word : split(out, {}, -1))
        joined += (joined.empty() ? "" : " ") + word;
    return Value(std::move(joined));
}

Value url_encoded(Interpreter&, const Value& value, const Arguments&) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    for (const char c : to_text(value)) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || std::string_view("_.-~/").find(c) != std::string_view::npos)
            out += c;
        else
            out += {'%', hex[byte >> 4], hex[byte & 15]};
    }
    return Value(std::move(out));
}

Value items_of(Interpreter& interpreter, const Value& value, const Arguments&) {
    if (value.is_undefined())
        return Value::generator({});
    if (!value.is_dict())
        fail("can only get item pairs from a mapping");
    return Value::generator(
        interpreter.iterate(interpreter.call(*find_method(value, "items"), {})));
}

Value first_or_last(Interpreter& interpreter, const Value& value, bool first) {
    const List items = interpreter.iterate(value);
    if (items.empty())
        return Value(Undefined{first ? "no first item, sequence was empty"
                                     : "no last item, sequence was empty"});
    return first ? items.front() : items.back();
}

struct NamedFilter {
    std::string_view name;
    Filter run;
};

constexpr Filter to_string_filter = [](Interpreter&, const Value& v, const Arguments&) {
    return Value(to_text(v));
};
constexpr Filter escape_filter = [](Interpreter& i, const Value& v, const Arguments&) {
    std::string text = to_escaped(v);
    i.charge_bytes(text.size());
    return Value::markup(std::move(text));
};
constexpr Filter safe_filter = [](Interpreter&, const Value& v, const Arguments&) {
    return Value::markup(to_text(v));
};
constexpr Filter trim_filter = [](Interpreter&, const Value& v, const Arguments& a) {
    const std::string set = Reader("trim", a).text(0, "chars", "");
    return Value(strip_right(strip_left(to_text(v), set), set));
};

constexpr NamedFilter filters[]{
    {"abs", absolute},
    {"attr",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return i.attribute(v, Reader("attr", a).require_text(0, "name"));
     }},
    {"batch", batched},
    {"capitalize",
     [](Interpreter&, const Value& v, const Arguments&) { return Value(capitalize(to_text(v))); }},
    {"center",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return i.call(*find_method(Value(to_text(v)), "center"),
                       {{Value(Reader("center", a).integer(0, "width", 80))}});
     }},
    {"count", size_of},
    {"d", default_value},
    {"default", default_value},
    {"dictsort", sorted_dict},
    {"e", escape_filter},
    {"escape", escape_filter},
    {"first",
     [](Interpreter& i, const Value& v, const Arguments&) { return first_or_last(i, v, true); }},
    {"float", to_real},
    {"forceescape", escape_filter},
    {"format",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return Value(format_percent(i, to_text(v), a));
     }},
    {"groupby", grouped},
    {"indent", indented},
    {"int", to_integer},
    {"items", items_of},
    {"join", joined},
    {"last",
     [](Interpreter& i, const Value& v, const Arguments&) { return first_or_last(i, v, false); }},
    {"length", size_of},
    {"list",
     [](Interpreter& i, const Value& v, const Arguments&) { return Value::list(i.iterate(v)); }},
    {"lower",
     [](Interpreter&, const Value& v, const Arguments&) { return Value(lower(to_text(v))); }},
    {"map", mapped},
    {"max",
     [](Interpreter& i, const Value& v, const Arguments& a) { return smallest(i, v, a, 1); }},
    {"min",
     [](Interpreter& i, const Value& v, const Arguments& a) { return smallest(i, v, a, -1); }},
    {"pprint", [](Interpreter&, const Value& v, const Arguments&) { return Value(to_repr(v)); }},
    {"reject",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return selected(i, v, a, false, false);
     }},
    {"rejectattr",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return selected(i, v, a, false, true);
     }},
    {"replace", replaced},
    {"reverse", reversed},
    {"round", rounded},
    {"safe", safe_filter},
    {"select",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return selected(i, v, a, true, false);
     }},
    {"selectattr",
     [](Interpreter& i, const Value& v, const Arguments& a) {
         return selected(i, v, a, true, true);
     }},
    {"slice", sliced},
    {"sort", sorted},
    {"string", to_string_filter},
    {"striptags", without_tags},
    {"sum", summed},
    {"title",
     [](Interpreter&, const Value& v, const Arguments&) { return Value(title(to_text(v))); }},
    {"tojson", to_json},
    {"trim", trim_filter},
    {"truncate", truncated},
    {"unique", unique},
    {"upper",
     [](Interpreter&, const Value& v, const Arguments&) { return Value(upper(to_text(v))); }},
    {"urlencode", url_encoded},
    {"wordcount",
     [](Interpreter&, const Value& v, const Arguments&) {
         return Value(static_cast<std::int64_t>(split(to_text(v), {}, -1).size()));
     }},
};

} // namespace

Value apply_filter(Interpreter& interpreter, const std::string& name, const Value& value,
                   const Arguments& arguments) {
    for (const NamedFilter& filter : filters)
        if (filter.name == name) {
            interpreter.charge(value.is_string() ? value.string().size() / 64 : 0);
            return filter.run(interpreter, value, arguments);
        }
    fail("no filter named '" + name + "'");
}

bool is_filter(std::string_view name) {
    return std::any_of(std::begin(filters), std::end(filters),
                       [&](const NamedFilter& filter) { return filter.name == name; });
}

} // namespace cuset::jinja
