#include "core/text/jinja_builtins.h"

#include <algorithm>
#include <cassert>
#include <ctime>
#include <utility>

#include "core/base/error.h"
#include "core/text/jinja_format.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorCode::bad_value, message);
}

Value to_list(std::vector<std::string> texts) {
    List items;
    for (std::string& text : texts)
        items.emplace_back(std::move(text));
    return Value::list(std::move(items));
}

std::int64_t code_points_before(std::string_view text, std::size_t byte) {
    return static_cast<std::int64_t>(character_count(text.substr(0, byte)));
}

// ---- methods of str

Value find_text(const std::string& self, const ArgumentReader& arguments, bool from_right,
                bool must_be_there) {
    const std::string what = arguments.require_text(0, "sub");
    const std::size_t found = from_right ? self.rfind(what) : self.find(what);
    if (found == std::string::npos && must_be_there)
        fail("substring not found");
    return Value(found == std::string::npos ? std::int64_t{-1} : code_points_before(self, found));
}

Value starts_or_ends(const std::string& self, const ArgumentReader& arguments, bool ends) {
    const Value& what = arguments.require(0, "prefix");
    const List options = what.is_sequence() ? what.items() : List{what};
    return Value(std::any_of(options.begin(), options.end(), [&](const Value& option) {
        if (!option.is_string())
            fail("startswith and endswith need a string or a tuple of strings, not "
                 + option.type_name());
        return ends ? self.ends_with(option.string()) : self.starts_with(option.string());
    }));
}

Value partition(const std::string& self, const std::string& separator, bool from_right) {
    if (separator.empty())
        fail("empty separator");
    const std::size_t found = from_right ? self.rfind(separator) : self.find(separator);
    if (found == std::string::npos)
        return Value::tuple(from_right ? List{Value(""), Value(""), Value(self)}
                                       : List{Value(self), Value(""), Value("")});
    return Value::tuple({Value(self.substr(0, found)), Value(separator),
                         Value(self.substr(found + separator.size()))});
}

std::string padded(Interpreter& interpreter, const std::string& text, std::int64_t width,
                   std::string_view fill, char align) {
    const auto missing = width - static_cast<std::int64_t>(character_count(text));
    if (missing <= 0)
        return text;
    if (character_count(fill) != 1)
        fail("the fill character must be exactly one character long");
    interpreter.charge_bytes(text.size() + static_cast<std::size_t>(missing) * fill.size());
    const auto repeat = [&](std::int64_t count) {
        std::string out;
        for (std::int64_t i = 0; i < count; ++i)
            out += fill;
        return out;
    };
    // str.center puts the odd blank on the left when the width is odd.
    const std::int64_t left = align == '<' ? 0
        : align == '>'                     ? missing
                                           : missing / 2 + (missing & width & 1);
    return repeat(left) + text + repeat(missing - left);
}

std::string zero_filled(Interpreter& interpreter, const std::string& text, std::int64_t width) {
    const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
    const std::string digits =
        padded(interpreter, text.substr(sign ? 1 : 0), width - (sign ? 1 : 0), "0", '>');
    return (sign ? text.substr(0, 1) : "") + digits;
}

Value joined(Interpreter& interpreter, const std::string& separator, const List& items,
             bool only_strings) {
    std::string out;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (only_strings && !items[i].is_string())
            fail("sequence item " + std::to_string(i) + ": expected str instance, "
                 + items[i].type_name() + " found");
        out += (i == 0 ? "" : separator) + to_text(items[i]);
        interpreter.charge(1);
        if (i % 64 == 0)
            interpreter.charge_bytes(out.size());
    }
    interpreter.charge_bytes(out.size());
    return Value(std::move(out));
}

using StringMethod = Value (*)(Interpreter&, const std::string&, const ArgumentReader&);
struct NamedStringMethod {
    std::string_view name;
    StringMethod run;
};

constexpr NamedStringMethod string_methods[]{
    {"strip",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         const std::string set = a.text(0, "chars", "");
         return Value(strip_right(strip_left(self, set), set));
     }},
    {"lstrip",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return Value(strip_left(self, a.text(0, "chars", "")));
     }},
    {"rstrip",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return Value(strip_right(self, a.text(0, "chars", "")));
     }},
    {"split",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         i.charge_bytes(self.size());
         return to_list(split(self, a.text(0, "sep", ""), a.integer(1, "maxsplit", -1)));
     }},
    {"rsplit",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         i.charge_bytes(self.size());
         return to_list(split_right(self, a.text(0, "sep", ""), a.integer(1, "maxsplit", -1)));
     }},
    {"splitlines",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         i.charge_bytes(self.size());
         return to_list(split_lines(self, a.boolean(0, "keepends", false)));
     }},
    {"startswith",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return starts_or_ends(self, a, false);
     }},
    {"endswith",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return starts_or_ends(self, a, true);
     }},
    {"upper",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(upper(self));
     }},
    {"lower",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(lower(self));
     }},
    {"casefold",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(lower(self));
     }},
    {"title",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(title(self));
     }},
    {"capitalize",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(capitalize(self));
     }},
    {"swapcase",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(swap_case(self));
     }},
    {"replace",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         const std::string from = a.require_text(0, "old"), to = a.require_text(1, "new");
         i.charge_bytes(self.size() + to.size());
         i.charge_bytes(self.size() / std::max<std::size_t>(1, from.size()) * to.size());
         return Value(replace(self, from, to, a.integer(2, "count", -1)));
     }},
    {"find",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return find_text(self, a, false, false);
     }},
    {"rfind",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return find_text(self, a, true, false);
     }},
    {"index",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return find_text(self, a, false, true);
     }},
    {"rindex",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return find_text(self, a, true, true);
     }},
    {"count",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         i.charge_bytes(self.size());
         const std::string what = a.require_text(0, "sub");
         if (what.empty())
             return Value(static_cast<std::int64_t>(character_count(self)) + 1);
         std::int64_t count = 0;
         for (std::size_t at = self.find(what); at != std::string::npos;
              at = self.find(what, at + what.size()))
             ++count;
         return Value(count);
     }},
    {"join",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         return joined(i, self, i.iterate(a.require(0, "iterable")), true);
     }},
    {"removeprefix",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         const std::string prefix = a.require_text(0, "prefix");
         return Value(self.starts_with(prefix) ? self.substr(prefix.size()) : self);
     }},
    {"removesuffix",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         const std::string suffix = a.require_text(0, "suffix");
         return Value(self.ends_with(suffix) ? self.substr(0, self.size() - suffix.size()) : self);
     }},
    {"partition",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return partition(self, a.require_text(0, "sep"), false);
     }},
    {"rpartition",
     [](Interpreter&, const std::string& self, const ArgumentReader& a) {
         return partition(self, a.require_text(0, "sep"), true);
     }},
    {"center",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         return Value(padded(i, self, a.integer(0, "width", 0), a.text(1, "fillchar", " "), '^'));
     }},
    {"ljust",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         return Value(padded(i, self, a.integer(0, "width", 0), a.text(1, "fillchar", " "), '<'));
     }},
    {"rjust",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         return Value(padded(i, self, a.integer(0, "width", 0), a.text(1, "fillchar", " "), '>'));
     }},
    {"zfill",
     [](Interpreter& i, const std::string& self, const ArgumentReader& a) {
         return Value(zero_filled(i, self, a.integer(0, "width", 0)));
     }},
    {"isalpha",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(all_characters(self, is_alpha));
     }},
    {"isdigit",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(all_characters(self, is_digit));
     }},
    {"isdecimal",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(all_characters(self, is_digit));
     }},
    {"isnumeric",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(all_characters(self, is_numeric));
     }},
    {"isalnum",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(
             all_characters(self, [](char32_t c) { return is_alpha(c) || is_numeric(c); }));
     }},
    {"isspace",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(all_characters(self, is_space));
     }},
    {"isupper",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(self != lower(self) && self == upper(self));
     }},
    {"islower",
     [](Interpreter&, const std::string& self, const ArgumentReader&) {
         return Value(self != upper(self) && self == lower(self));
     }},
};

// ---- methods of list and dict; those that change them are left out, as in jinja2's immutable
// sandbox

Value pairs_of(const Value& dict) {
    List items;
    for (const auto& [key, value] : dict.entries())
        items.push_back(Value::tuple({key, value}));
    return Value::list(std::move(items));
}

Value part_of(const Value& dict, bool keys) {
    List items;
    for (const auto& [key, value] : dict.entries())
        items.push_back(keys ? key : value);
    return Value::list(std::move(items));
}

std::optional<Value> dict_method(const Value& self, const std::string& name) {
    if (name == "items" || name == "keys" || name == "values")
        return make_function(name, [self, name](Interpreter& i, const Arguments&) {
            i.charge(self.entries().size());
            return name == "items" ? pairs_of(self) : part_of(self, name == "keys");
        });
    if (name == "get")
        return make_function(name, [self](Interpreter& i, const Arguments& arguments) {
            const ArgumentReader reader("get", arguments);
            const Value& key = reader.require(0, "key");
            i.charge(self.entries().size() / 8);
            for (const auto& [known, value] : self.entries())
                if (equal(known, key))
                    return value;
            const Value* fallback = reader.find(1, "default");
            return fallback ? *fallback : Value(None{});
        });
    if (name == "copy")
        return make_function(name, [self](Interpreter&, const Arguments&) { return self; });
    return std::nullopt;
}

std::optional<Value> list_method(const Value& self, const std::string& name) {
    if (name == "index" || name == "count")
        return make_function(name, [self, name](Interpreter& i, const Arguments& arguments) {
            const Value& what = ArgumentReader(name, arguments).require(0, "value");
            i.charge(self.items().size() / 8);
            const List& items = self.items();
            if (name == "count")
                return Value(static_cast<std::int64_t>(
                    std::count_if(items.begin(), items.end(),
                                  [&](const Value& item) { return equal(item, what); })));
            const auto found = std::find_if(items.begin(), items.end(),
                                            [&](const Value& item) { return equal(item, what); });
            if (found == items.end())
                fail(to_repr(what) + " is not in list");
            return Value(static_cast<std::int64_t>(found - items.begin()));
        });
    if (name == "copy" && self.kind() == Value::Kind::list)
        return make_function(name, [self](Interpreter&, const Arguments&) { return self; });
    return std::nullopt;
}

// ---- global functions

Value range(Interpreter& interpreter, const Arguments& arguments) {
    const ArgumentReader reader("range", arguments);
    const bool has_begin = arguments.positional.size() > 1;
    reader.require(0, "stop");
    const std::int64_t begin = has_begin ? reader.integer(0, "start", 0) : 0;
    const std::int64_t end = reader.integer(has_begin ? 1 : 0, "stop", 0);
    const std::int64_t step = reader.integer(2, "step", 1);
    if (step == 0)
        fail("range() arg 3 must not be zero");
    const bool empty = step > 0 ? end <= begin : end >= begin;
    const auto unsigned_difference = [](std::int64_t high, std::int64_t low) {
        return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    };
    const std::uint64_t distance =
        step > 0 ? unsigned_difference(end, begin) : unsigned_difference(begin, end);
    const std::uint64_t stride =
        step > 0 ? unsigned_difference(step, 0) : unsigned_difference(0, step);
    const std::uint64_t count = empty ? 0 : (distance - 1) / stride + 1;
    static constexpr int sandbox_limit = 100'000; // jinja2's MAX_RANGE
    if (count > sandbox_limit)
        throw Error(ErrorCode::limit, "range is longer than " + std::to_string(sandbox_limit));
    interpreter.charge(static_cast<std::size_t>(count));
    List items;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
        items.emplace_back(begin + i * step);
    return Value::list(std::move(items));
}

Dict named_as_dict(const Arguments& arguments) {
    Dict entries;
    for (const auto& [name, value] : arguments.named)
        entries.emplace_back(Value(name), value);
    return entries;
}

Value name_space(Interpreter& interpreter, const Arguments& arguments) {
    const auto made = interpreter.make_namespace();
    for (const Value& dict : arguments.positional) {
        if (!dict.is_dict())
            fail("namespace() needs mappings or named values, not " + dict.type_name());
        for (const auto& [key, value] : dict.entries())
            made->attributes[to_text(key)] = value;
    }
    for (const auto& [name, value] : arguments.named)
        made->attributes[name] = value;
    return Value(made);
}

Value joiner(Interpreter&, const Arguments& arguments) {
    const std::string separator = ArgumentReader("joiner", arguments).text(0, "sep", ", ");
    return make_function(
        "joiner",
        [separator, used = std::make_shared<bool>(false)](Interpreter&, const Arguments&) {
            return Value(std::exchange(*used, true) ? separator : std::string());
        });
}

Value cycler(Interpreter& interpreter, const Arguments& arguments) {
    if (arguments.positional.empty())
        fail("at least one item has to be provided to cycler()");
    const auto made = interpreter.make_namespace();
    const auto at = std::make_shared<std::size_t>(0);
    const std::weak_ptr<Namespace> weak = made;
    made->attributes["current"] = arguments.positional[0];
    const auto move_to = [at, weak, items = arguments.positional](std::size_t next) {
        *at = next % items.size();
        if (const auto cycle = weak.lock())
            cycle->attributes["current"] = items[*at];
    };
    made->attributes["next"] = make_function(
        "next", [at, move_to, items = arguments.positional](Interpreter&, const Arguments&) {
            const Value now = items[*at];
            move_to(*at + 1);
            return now;
        });
    made->attributes["reset"] = make_function("reset", [move_to](Interpreter&, const Arguments&) {
        move_to(0);
        return Value(None{});
    });
    return Value(made);
}

Value formatted_time(const std::string& now, const Arguments& arguments) {
    const std::string format = ArgumentReader("strftime_now", arguments).require_text(0, "format");
    std::tm time{};
    if (now.empty()) {
        const std::time_t seconds = std::time(nullptr);
        localtime_r(&seconds, &time);
    } else if (!strptime(now.c_str(), "%Y-%m-%dT%H:%M:%S", &time)) {
        fail("the time given is not of the form 2026-12-01T08:00:00");
    } else {
        std::mktime(&time); // fills in the day of the week and of the year
    }
    std::string text(1024 + 16 * format.size(), '\0');
    text.resize(std::strftime(text.data(), text.size(), format.c_str(), &time));
    return Value(std::move(text));
}

} // namespace

Value make_function(std::string name, std::function<Value(Interpreter&, const Arguments&)> call) {
    return Value(std::make_shared<const Function>(Function{std::move(name), std::move(call)}));
}

const Value* ArgumentReader::find(std::size_t position, std::string_view name) const {
    if (position < arguments_.positional.size())
        return &arguments_.positional[position];
    for (const auto& [known, value] : arguments_.named)
        if (known == name)
            return &value;
    return nullptr;
}

const Value& ArgumentReader::require(std::size_t position, std::string_view name) const {
    const Value* value = find(position, name);
    if (!value)
        fail(function_ + "() misses its argument '" + std::string(name) + "'");
    return *value;
}

std::string ArgumentReader::text(std::size_t position, std::string_view name,
                                 std::string_view fallback) const {
    const Value* value = find(position, name);
    if (!value || value->is_none())
        return std::string(fallback);
    if (!value->is_string())
        fail(function_ + "() needs a string for '" + std::string(name) + "', not "
             + value->type_name());
    return value->string();
}

std::string ArgumentReader::require_text(std::size_t position, std::string_view name) const {
    const Value& value = require(position, name);
    if (!value.is_string())
        fail(function_ + "() needs a string for '" + std::string(name) + "', not "
             + value.type_name());
    return value.string();
}

std::int64_t ArgumentReader::integer(std::size_t position, std::string_view name,
                                     std::int64_t fallback) const {
    const Value* value = find(position, name);
    if (!value || value->is_none())
        return fallback;
    if (!value->is_integer())
        fail(function_ + "() needs an integer for '" + std::string(name) + "', not "
             + value->type_name());
    return value->integer();
}

bool ArgumentReader::boolean(std::size_t position, std::string_view name, bool fallback) const {
    const Value* value = find(position, name);
    return value ? value->truthy() : fallback;
}

std::optional<Value> find_method(const Value& object, const std::string& name) {
    if (object.is_dict())
        return dict_method(object, name);
    if (object.is_sequence())
        return list_method(object, name);
    if (!object.is_string())
        return std::nullopt;
    if (name == "format")
        return make_function(name, [object](Interpreter& i, const Arguments& arguments) {
            return Value(format_braces(i, object.string(), arguments));
        });
    for (const NamedStringMethod& method : string_methods)
        if (method.name == name)
            return make_function(
                name, [object, &method](Interpreter& i, const Arguments& arguments) {
                    i.charge(object.string().size() / 64);
                    return method.run(i, object.string(),
                                      ArgumentReader(std::string(method.name), arguments));
                });
    return std::nullopt;
}

Dict global_functions(const std::string& now) {
    const auto global = [](const char* name,
                           std::function<Value(Interpreter&, const Arguments&)> call) {
        return std::pair(Value(name), make_function(name, std::move(call)));
    };
    return {
        global("range", range),
        global("dict",
               [](Interpreter&, const Arguments& arguments) {
                   Dict entries = arguments.positional.empty() || !arguments.positional[0].is_dict()
                       ? Dict{}
                       : arguments.positional[0].entries();
                   for (auto& entry : named_as_dict(arguments))
                       entries.push_back(std::move(entry));
                   return Value::dict(std::move(entries));
               }),
        global("namespace", name_space),
        global("joiner", joiner),
        global("cycler", cycler),
        global("raise_exception",
               [](Interpreter&, const Arguments& arguments) -> Value {
                   fail("the template says: "
                        + to_text(
                            ArgumentReader("raise_exception", arguments).require(0, "message")));
               }),
        global("strftime_now",
               [now](Interpreter&, const Arguments& arguments) {
                   return formatted_time(now, arguments);
               }),
    };
}

} // namespace cuset::jinja
