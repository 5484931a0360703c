#include "core/model/config_fields.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {

using nlohmann::json;

ConfigFields::ConfigFields(json object, std::string subject)
    : object_(std::move(object))
    , subject_(std::move(subject)) { }

ConfigFields ConfigFields::parse(std::string_view text, const std::string& subject) {
    json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        throw Error(ErrorCode::bad_format, "not a JSON object", subject);
    return {std::move(object), subject};
}

void ConfigFields::fail(std::string_view key, const std::string& needed) const {
    const json* value = find(key);
    const std::string found = value
        ? printable(value->dump(-1, ' ', true, json::error_handler_t::replace), 60)
        : "nothing";
    throw Error(ErrorCode::bad_value, std::string(key) + " is " + found + ", needed " + needed,
                subject_);
}

void ConfigFields::fail_missing(std::string_view key) const {
    throw Error(ErrorCode::bad_value, "no " + std::string(key), subject_);
}

const json* ConfigFields::find(std::string_view key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
}

std::optional<std::int64_t> ConfigFields::integer(std::string_view key, std::int64_t low,
                                                  std::int64_t high) const {
    const json* value = find(key);
    if (!value)
        return std::nullopt;
    const std::string range =
        "an integer from " + std::to_string(low) + " to " + std::to_string(high);
    if (!value->is_number())
        fail(key, range);
    // As a double first: it holds every number of the ranges asked for, and 1e30 is no surprise.
    const double number = value->get<double>();
    if (!(number >= static_cast<double>(low)) || !(number <= static_cast<double>(high))
        || number != std::floor(number))
        fail(key, range);
    return static_cast<std::int64_t>(number);
}

std::optional<double> ConfigFields::number(std::string_view key) const {
    const json* value = find(key);
    if (!value)
        return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
        fail(key, "a number");
    return value->get<double>();
}

std::optional<bool> ConfigFields::boolean(std::string_view key) const {
    const json* value = find(key);
    if (!value)
        return std::nullopt;
    if (!value->is_boolean())
        fail(key, "true or false");
    return value->get<bool>();
}

std::optional<std::string> ConfigFields::text(std::string_view key) const {
    const json* value = find(key);
    if (!value)
        return std::nullopt;
    if (!value->is_string())
        fail(key, "a string");
    return value->get<std::string>();
}

std::int64_t ConfigFields::require_integer(std::string_view key, std::int64_t low,
                                           std::int64_t high) const {
    const auto value = integer(key, low, high);
    if (!value)
        fail_missing(key);
    return *value;
}

double ConfigFields::require_number(std::string_view key) const {
    const auto value = number(key);
    if (!value)
        fail_missing(key);
    return *value;
}

std::string ConfigFields::require_text(std::string_view key) const {
    auto value = text(key);
    if (!value)
        fail_missing(key);
    return std::move(*value);
}

namespace {

RopeKind rope_kind(const std::string& name, const std::string& subject) {
    if (name == "default")
        return RopeKind::standard;
    if (name == "linear")
        return RopeKind::linear;
    if (name == "dynamic")
        return RopeKind::dynamic;
    if (name == "llama3")
        return RopeKind::llama3;
    if (name == "yarn")
        return RopeKind::yarn;
    if (name == "longrope" || name == "su")
        return RopeKind::longrope;
    throw Error(
        ErrorCode::unsupported,
        "rope type '" + printable(name, 40)
            + "' is not supported; supported are default, linear, dynamic, llama3, yarn and "
              "longrope",
        subject);
}

// Keys that the reference obeys, for any kind: a key of another kind does no harm.
constexpr std::array known_rope_keys{"rope_theta",
                                     "rope_type",
                                     "type",
                                     "factor",
                                     "original_max_position_embeddings",
                                     "attention_factor",
                                     "beta_fast",
                                     "beta_slow",
                                     "low_freq_factor",
                                     "high_freq_factor",
                                     "short_factor",
                                     "long_factor",
                                     "short_mscale",
                                     "long_mscale",
                                     "mscale",
                                     "mscale_all_dim",
                                     "truncate",
                                     "partial_rotary_factor"};

void warn_of_unknown_keys(const json& rope, std::vector<std::string>& warnings) {
    for (const auto& [key, value] : rope.items())
        if (std::ranges::find(known_rope_keys, key) == known_rope_keys.end())
            warnings.push_back("rope setting '" + printable(key, 40)
                               + "' is unknown and has no effect");
}

std::vector<float> read_divisors(const ConfigFields& rope, const char* key, std::int64_t count) {
    std::vector<float> divisors;
    const json* list = rope.find(key);
    if (list && list->is_array())
        for (const json& value : *list)
            if (value.is_number() && value.get<double>() > 0 && std::isfinite(value.get<float>()))
                divisors.push_back(value.get<float>());
    if (!list || divisors.size() != list->size()
        || divisors.size() != static_cast<std::size_t>(count))
        throw Error(ErrorCode::bad_value,
                    std::string(key) + " must be a list of " + std::to_string(count)
                        + " positive numbers",
                    rope.subject());
    return divisors;
}

void read_longrope(const ConfigFields& rope, RopeConfig& r) {
    r.short_divisors = read_divisors(rope, "short_factor", r.dimensions / 2);
    r.long_divisors = read_divisors(rope, "long_factor", r.dimensions / 2);
    r.attention_factor = rope.number("attention_factor");
}

void read_scaling(const ConfigFields& config, const ConfigFields& rope, RopeConfig& r) {
    if (r.kind == RopeKind::standard)
        return;
    const auto factor = rope.number("factor");
    if (auto n = rope.integer("original_max_position_embeddings", 1, 1 << 30))
        r.original_context_length = *n;
    // A value beside the rope settings wins, as in the reference.
    if (auto n = config.integer("original_max_position_embeddings", 1, 1 << 30))
        r.original_context_length = *n;
    const bool from_lengths = r.kind == RopeKind::yarn || r.kind == RopeKind::longrope;
    if (from_lengths && !factor)
        r.factor =
            static_cast<double>(r.context_length) / static_cast<double>(r.original_context_length);
    else
        r.factor = rope.require_number("factor");
    if (r.kind == RopeKind::longrope)
        read_longrope(rope, r);
    else if (r.factor < 1.0)
        throw Error(ErrorCode::bad_value,
                    "rope factor is " + std::to_string(r.factor) + ", needed at least 1",
                    rope.subject());
    if (r.kind == RopeKind::llama3) {
        r.low_freq_factor = rope.require_number("low_freq_factor");
        r.high_freq_factor = rope.require_number("high_freq_factor");
        if (!(r.low_freq_factor > 0) || !(r.high_freq_factor > r.low_freq_factor))
            throw Error(ErrorCode::bad_value,
                        "low_freq_factor must be positive and smaller than high_freq_factor",
                        rope.subject());
    }
    if (r.kind == RopeKind::yarn) {
        r.attention_factor = rope.number("attention_factor");
        r.mscale = rope.number("mscale");
        r.mscale_all_dim = rope.number("mscale_all_dim");
        const double fast = rope.number("beta_fast").value_or(0);
        const double slow = rope.number("beta_slow").value_or(0);
        r.beta_fast = fast > 0 ? fast : r.beta_fast;
        r.beta_slow = slow > 0 ? slow : r.beta_slow;
        r.truncate = rope.boolean("truncate").value_or(true);
    }
}

// transformers 5 reads either name; rope_scaling wins where both are there.
json rope_settings(const ConfigFields& config, const RopeReading& reading) {
    const json* given = config.find("rope_scaling");
    if (!given || (given->is_object() && given->empty()))
        given = config.find("rope_parameters");
    if (!given)
        return json::object();
    if (!given->is_object())
        throw Error(ErrorCode::bad_value, "rope settings are not an object", config.subject());
    if (const auto own = given->find(reading.layer_type);
        !reading.layer_type.empty() && own != given->end())
        return own->is_object() ? *own : json::object();
    for (const auto& [key, value] : given->items())
        if (value.is_object())
            throw Error(ErrorCode::unsupported,
                        "rope settings for each layer type ('" + printable(key, 40)
                            + "') are not supported",
                        config.subject());
    return *given;
}

std::int64_t rotated_channels(const ConfigFields& config, const ConfigFields& rope,
                              const RopeReading& reading) {
    double share = config.number("partial_rotary_factor").value_or(1.0);
    share = rope.number("partial_rotary_factor").value_or(share);
    if (share == 1.0)
        return reading.head_dim;
    if (!reading.partial)
        throw Error(ErrorCode::unsupported, "partial_rotary_factor other than 1 is not supported",
                    config.subject());
    const auto channels = static_cast<std::int64_t>(static_cast<double>(reading.head_dim) * share);
    if (!(share > 0.0) || share > 1.0 || channels < 2 || channels % 2 != 0)
        throw Error(ErrorCode::bad_value,
                    "partial_rotary_factor rotates " + std::to_string(channels) + " of "
                        + std::to_string(reading.head_dim)
                        + " channels of a head, needed an even number from 2",
                    config.subject());
    return channels;
}

} // namespace

RopeConfig read_rope(const ConfigFields& config, const RopeReading& reading,
                     std::vector<std::string>& warnings) {
    RopeConfig r;
    r.context_length = reading.context_length;
    r.original_context_length = reading.original_context_length > 0
        ? reading.original_context_length
        : reading.context_length;
    const ConfigFields rope(rope_settings(config, reading), config.subject());
    r.theta = config.number("rope_theta").value_or(reading.theta);
    r.theta = rope.number("rope_theta").value_or(r.theta);
    if (!(r.theta > 1.0))
        throw Error(ErrorCode::bad_value,
                    "rope_theta is " + std::to_string(r.theta) + ", needed more than 1",
                    config.subject());
    auto kind = rope.text("rope_type");
    if (!kind)
        kind = rope.text("type");
    r.kind = rope_kind(kind.value_or("default"), config.subject());
    r.dimensions = rotated_channels(config, rope, reading);
    if (r.kind == RopeKind::dynamic && r.dimensions <= 2)
        throw Error(ErrorCode::bad_value, "dynamic rope needs a head_dim over 2", config.subject());
    warn_of_unknown_keys(rope.object(), warnings);
    read_scaling(config, rope, r);
    return r;
}

} // namespace cuset
