#include "core/train/config_section.h"

#include <set>

#include "core/base/message.h"

namespace cuset {
namespace {

using nlohmann::json;

std::string shown(const json& value) {
    return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

std::string line_and_column(std::string_view text, std::size_t at) {
    at = std::min(at, text.size());
    const std::string_view before = text.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t begin = before.rfind('\n');
    const std::size_t column = begin == std::string_view::npos ? at : at - begin - 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

} // namespace

ConfigSection::ConfigSection(const json& object, std::string path, std::string subject,
                             std::span<const std::string> known)
    : object_(object)
    , path_(std::move(path))
    , subject_(std::move(subject)) {
    if (!object.is_object())
        throw Error(ErrorCode::bad_value,
                    (path_.empty() ? std::string("the configuration") : path_) + " is "
                        + object.type_name() + ", needs an object",
                    subject_);
    for (const auto& [key, value] : object.items()) {
        if (std::find(known.begin(), known.end(), key) != known.end())
            continue;
        const std::string near = nearest_name(key, known.data(), known.size());
        throw Error(ErrorCode::bad_value,
                    "unknown key " + printable((path_.empty() ? "" : path_ + ".") + key, 80)
                        + (near.empty() ? std::string() : "; did you mean \"" + near + "\"?"),
                    subject_);
    }
}

const json* ConfigSection::find(std::string_view key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigSection::fail(std::string_view key, const std::string& needed) const {
    const auto found = object_.find(key);
    throw Error(ErrorCode::bad_value,
                (path_.empty() ? "" : path_ + ".") + std::string(key) + ": "
                    + (found == object_.end() ? "is missing" : "is " + shown(*found)) + ", "
                    + needed,
                subject_);
}

void ConfigSection::number(std::string_view key, double low, double high, double& value) const {
    const json* found = find(key);
    if (!found)
        return;
    const double x = found->is_number() ? found->get<double>() : std::nan("");
    if (!(x >= low && x <= high)) {
        const auto text = [](double bound) { return json(bound).dump(); };
        fail(key, "needs a number from " + text(low) + " to " + text(high));
    }
    value = x;
}

void ConfigSection::integer(std::string_view key, std::int64_t low, std::int64_t high,
                            std::int64_t& value) const {
    const json* found = find(key);
    if (!found)
        return;
    const bool whole = found->is_number_integer()
        && !(found->is_number_unsigned()
             && found->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
    if (!whole || found->get<std::int64_t>() < low || found->get<std::int64_t>() > high)
        fail(key,
             "needs a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    value = found->get<std::int64_t>();
}

void ConfigSection::integer(std::string_view key, std::int64_t low, std::int64_t high,
                            std::optional<std::int64_t>& value) const {
    if (!find(key))
        return;
    std::int64_t number = 0;
    integer(key, low, high, number);
    value = number;
}

void ConfigSection::boolean(std::string_view key, bool& value) const {
    const json* found = find(key);
    if (!found)
        return;
    if (!found->is_boolean())
        fail(key, "needs true or false");
    value = found->get<bool>();
}

void ConfigSection::text(std::string_view key, std::string& value) const {
    const json* found = find(key);
    if (!found)
        return;
    if (!found->is_string() || found->get_ref<const std::string&>().find('\0') != std::string::npos)
        fail(key, "needs a text");
    value = found->get<std::string>();
}

void ConfigSection::texts(std::string_view key, std::vector<std::string>& value) const {
    const json* found = find(key);
    if (!found)
        return;
    const json list = found->is_array() ? *found : json::array({*found});
    value.clear();
    for (const json& item : list) {
        if (!item.is_string() || item.get_ref<const std::string&>().empty())
            fail(key, "needs a text or a list of texts");
        value.push_back(item.get<std::string>());
    }
}

json parse_config_json(std::string_view text, const std::string& subject) {
    constexpr int deepest = 32;
    std::vector<std::set<std::string>> keys;
    const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth > deepest)
            throw Error(ErrorCode::bad_format, "is nested too deep", subject);
        if (event == json::parse_event_t::object_start)
            keys.emplace_back();
        else if (event == json::parse_event_t::object_end)
            keys.pop_back();
        else if (event == json::parse_event_t::key
                 && !keys.back().insert(parsed.get<std::string>()).second)
            throw Error(ErrorCode::bad_format,
                        "the key \"" + printable(parsed.get<std::string>(), 60)
                            + "\" is there twice",
                        subject);
        return true;
    };
    try {
        return json::parse(text, check, true, true);
    } catch (const json::parse_error& error) {
        throw Error(ErrorCode::bad_format, "is not JSON at " + line_and_column(text, error.byte),
                    subject);
    }
}

} // namespace cuset
