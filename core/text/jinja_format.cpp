#include "core/text/jinja_format.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/base/error.h"
#include "core/text/jinja_text.h"

namespace cuset::jinja {
namespace {

constexpr int widest = 10'000;
constexpr std::size_t manual_numbering = SIZE_MAX;

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorCode::bad_value, message);
}

struct Spec {
    std::string fill = " ";
    char align = '\0'; // < > ^ =
    char sign = '-';
    bool alternate = false;
    bool thousands = false;
    int width = 0;
    std::optional<int> precision;
    char type = '\0';
};

int read_number(std::string_view text, std::size_t& at) {
    int value = 0;
    const auto result = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (result.ec == std::errc::result_out_of_range || value > widest)
        fail("width or precision is larger than " + std::to_string(widest));
    at = static_cast<std::size_t>(result.ptr - text.data());
    return value;
}

std::string padded(const std::string& text, const Spec& spec, char default_align) {
    const auto missing = spec.width - static_cast<int>(character_count(text));
    if (missing <= 0)
        return text;
    const char align = spec.align ? spec.align : default_align;
    const int left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    std::string before, after;
    for (int i = 0; i < missing; ++i)
        (i < left ? before : after) += spec.fill;
    if (align == '=' && !text.empty() && (text[0] == '-' || text[0] == '+'))
        return text.substr(0, 1) + before + text.substr(1);
    return before + text + after;
}

std::string with_thousands(const std::string& text) {
    const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    const std::size_t end = std::min(text.find('.'), text.size());
    std::string out = text.substr(0, sign);
    for (std::size_t i = sign; i < end; ++i) {
        if (i > sign && (end - i) % 3 == 0)
            out += ',';
        out += text[i];
    }
    return out + text.substr(end);
}

std::string number_text(const Value& value, const Spec& spec) {
    char buffer[widest + 400];
    const bool integral =
        value.is_integer() && std::string_view("feEgG%").find(spec.type) == std::string_view::npos;
    std::string text;
    if (integral) {
        const std::int64_t n = value.integer();
        const char* format = spec.type == 'x' ? "%llx"
            : spec.type == 'X'                ? "%llX"
            : spec.type == 'o'                ? "%llo"
                                              : "%llu";
        const std::uint64_t size =
            n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
        std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned long long>(size));
        const char* prefix = !spec.alternate ? ""
            : spec.type == 'x'               ? "0x"
            : spec.type == 'X'               ? "0X"
            : spec.type == 'o'               ? "0o"
                                             : "";
        text = std::string(n < 0 ? "-" : "") + prefix + buffer;
    } else {
        const char type = spec.type == '%' ? 'f' : spec.type ? spec.type : 'g';
        const std::string format = std::string("%.*") + type;
        const double number = spec.type == '%' ? 100 * value.number() : value.number();
        std::snprintf(buffer, sizeof buffer, format.c_str(),
                      std::min(spec.precision.value_or(6), widest), number);
        text = buffer;
        if (spec.type == '%')
            text += '%';
    }
    if (spec.thousands)
        text = with_thousands(text);
    if ((spec.sign == '+' || spec.sign == ' ') && text[0] != '-')
        text.insert(0, 1, spec.sign);
    return text;
}

std::string cut(const std::string& text, const Spec& spec) {
    if (!spec.precision)
        return text;
    std::string out;
    std::size_t at = 0;
    for (int i = 0; i < *spec.precision && at < text.size(); ++i) {
        const std::size_t length = character_length(text, at);
        out.append(text, at, length);
        at += length;
    }
    return out;
}

// ---- %

Spec read_percent_spec(std::string_view format, std::size_t& at) {
    Spec spec;
    for (; at < format.size(); ++at) {
        if (format[at] == '-')
            spec.align = '<';
        else if (format[at] == '0' && spec.align != '<')
            spec.fill = "0", spec.align = '=';
        else if (format[at] == '+' || format[at] == ' ')
            spec.sign = format[at];
        else if (format[at] == '#')
            spec.alternate = true;
        else
            break;
    }
    spec.width = read_number(format, at);
    if (at < format.size() && format[at] == '.') {
        ++at;
        spec.precision = read_number(format, at);
    }
    if (at == format.size())
        fail("incomplete format");
    spec.type = format[at++];
    return spec;
}

std::string percent_value(const Value& value, const Spec& spec) {
    if (spec.type == 's' || spec.type == 'r')
        return padded(cut(spec.type == 's' ? to_text(value) : to_repr(value), spec), spec, '>');
    if (std::string_view("dixXofeEgG").find(spec.type) == std::string_view::npos)
        fail(std::string("unsupported format character '") + spec.type + "'");
    if (!value.is_number())
        fail(std::string("%") + spec.type + " format: a real number is required, not "
             + value.type_name());
    Spec number = spec;
    Value shown = value;
    if ((spec.type == 'd' || spec.type == 'i') && value.kind() == Value::Kind::real)
        shown = Value(static_cast<std::int64_t>(value.number()));
    return padded(number_text(shown, number), spec, '>');
}

// ---- {}

Spec read_brace_spec(std::string_view text) {
    Spec spec;
    std::size_t at = 0;
    const auto is_align = [&](std::size_t i) {
        return i < text.size() && std::string_view("<>^=").find(text[i]) != std::string_view::npos;
    };
    if (!text.empty() && is_align(character_length(text, 0))) {
        at = character_length(text, 0);
        spec.fill = text.substr(0, at);
        spec.align = text[at++];
    } else if (is_align(0)) {
        spec.align = text[at++];
    }
    if (at < text.size() && std::string_view("+- ").find(text[at]) != std::string_view::npos)
        spec.sign = text[at++];
    if (at < text.size() && text[at] == '#')
        spec.alternate = true, ++at;
    if (at < text.size() && text[at] == '0' && !spec.align)
        spec.fill = "0", spec.align = '=', ++at;
    spec.width = read_number(text, at);
    if (at < text.size() && text[at] == ',')
        spec.thousands = true, ++at;
    if (at < text.size() && text[at] == '.') {
        ++at;
        spec.precision = read_number(text, at);
    }
    if (at < text.size())
        spec.type = text[at++];
    if (at != text.size())
        fail("invalid format specifier '" + std::string(text) + "'");
    return spec;
}

std::string brace_value(const Value& value, std::string_view spec_text) {
    if (spec_text.empty())
        return to_text(value);
    const Spec spec = read_brace_spec(spec_text);
    if (!value.is_number() || value.kind() == Value::Kind::boolean)
        return padded(cut(to_text(value), spec), spec, '<');
    if (!spec.type && value.kind() == Value::Kind::real && !spec.precision)
        return padded(to_text(value), spec, '>');
    return padded(number_text(value, spec), spec, '>');
}

// The value that "name", "0", "name.attribute" or "name[item]" stands for.
Value brace_field(Interpreter& interpreter, std::string_view field, const Arguments& arguments,
                  std::size_t& next) {
    std::size_t at = std::min(field.find_first_of(".["), field.size());
    const std::string first(field.substr(0, at));
    Value value;
    const bool numbered = !first.empty()
        && std::all_of(first.begin(), first.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (first.empty() || numbered) {
        // As in Python, {} and {0} do not mix.
        if (first.empty() ? next == manual_numbering : next != 0 && next != manual_numbering)
            fail("cannot switch between manual field specification and automatic field numbering");
        if (numbered)
            next = manual_numbering;
        std::size_t digits = 0;
        const std::size_t index =
            first.empty() ? next++ : static_cast<std::size_t>(read_number(first, digits));
        if (index >= arguments.positional.size())
            fail("replacement index " + std::to_string(index)
                 + " out of range for positional args tuple");
        value = arguments.positional[index];
    } else {
        const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                        [&](const auto& entry) { return entry.first == first; });
        if (found == arguments.named.end())
            fail("format() has no value for '" + first + "'");
        value = found->second;
    }
    while (at < field.size()) {
        const bool item = field[at] == '[';
        const std::size_t end =
            item ? field.find(']', at) : std::min(field.find_first_of(".[", at + 1), field.size());
        if (end == std::string_view::npos)
            fail("expected ']' before end of format string");
        const std::string name(field.substr(at + 1, end - at - 1));
        std::int64_t index = 0;
        const bool is_index = std::from_chars(name.data(), name.data() + name.size(), index).ptr
            == name.data() + name.size();
        value = !item
            ? interpreter.attribute(value, name)
            : interpreter.item(value, is_index && !name.empty() ? Value(index) : Value(name));
        at = end + (item ? 1 : 0);
    }
    return value;
}

} // namespace

std::string format_percent(Interpreter& interpreter, const std::string& format,
                           const Arguments& arguments) {
    std::string out;
    std::size_t used = 0;
    for (std::size_t at = 0; at < format.size();) {
        interpreter.charge(1);
        if (format[at] != '%') {
            out += format[at++];
            continue;
        }
        if (++at < format.size() && format[at] == '%') {
            out += format[at++];
            continue;
        }
        Value value;
        if (at < format.size() && format[at] == '(') {
            const std::size_t end = format.find(')', at);
            if (end == std::string::npos)
                fail("incomplete format key");
            const Value key(format.substr(at + 1, end - at - 1));
            const bool has_dict =
                arguments.positional.size() == 1 && arguments.positional[0].is_dict();
            value = has_dict ? interpreter.item(arguments.positional[0], key)
                             : Value(Undefined{"no value for '" + key.string() + "'"});
            for (const auto& [name, given] : arguments.named)
                if (name == key.string())
                    value = given;
            at = end + 1;
        } else {
            if (used >= arguments.positional.size())
                fail("not enough arguments for format string");
            value = arguments.positional[used++];
        }
        const Spec spec = read_percent_spec(format, at);
        out += percent_value(value, spec);
        interpreter.charge_bytes(out.size());
    }
    return out;
}

std::string format_braces(Interpreter& interpreter, const std::string& format,
                          const Arguments& arguments) {
    std::string out;
    std::size_t next = 0;
    for (std::size_t at = 0; at < format.size();) {
        interpreter.charge(1);
        const char c = format[at];
        if (c != '{' && c != '}') {
            out += format[at++];
            continue;
        }
        if (at + 1 < format.size() && format[at + 1] == c) {
            out += c;
            at += 2;
            continue;
        }
        const std::size_t end = c == '{' ? format.find('}', at) : std::string::npos;
        if (end == std::string::npos)
            fail(std::string("single '") + c + "' encountered in format string");
        const std::string_view inside = std::string_view(format).substr(at + 1, end - at - 1);
        const std::size_t colon = std::min(inside.find(':'), inside.size());
        std::string_view name = inside.substr(0, colon);
        const bool repr = name.ends_with("!r");
        if (repr || name.ends_with("!s"))
            name.remove_suffix(2);
        const Value value = brace_field(interpreter, name, arguments, next);
        out += brace_value(repr ? Value(to_repr(value)) : value,
                           colon < inside.size() ? inside.substr(colon + 1) : std::string_view());
        interpreter.charge_bytes(out.size());
        at = end + 1;
    }
    return out;
}

} // namespace cuset::jinja
