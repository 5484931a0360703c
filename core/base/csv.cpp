#include "core/base/csv.h"

#include <charconv>

namespace cuset {
namespace {

bool is_number(std::string_view text) {
    if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
        return false;
    if (text.starts_with('+') && !text.starts_with("+-"))
        text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

} // namespace

std::string csv_cell(std::string_view text) {
    const bool formula = !text.empty()
        && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos
        && !is_number(text);
    if (!formula && text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string quoted = formula ? "\"'" : "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

} // namespace cuset
