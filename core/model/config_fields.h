// Typed and bounded look-ups in a config.json, with messages that name file, key and what was
// found.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/rope.h"

namespace cuset {

class ConfigFields {
public:
    // Throws Error(bad_format) if `text` is not a JSON object.
    static ConfigFields parse(std::string_view text, const std::string& subject);
    ConfigFields(nlohmann::json object, std::string subject);

    const std::string& subject() const { return subject_; }
    const nlohmann::json& object() const { return object_; }

    // The value, or null where the key is absent or its value is null.
    const nlohmann::json* find(std::string_view key) const;
    // Nothing where absent or null; Error(bad_value) for another type or out of [low, high].
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t low,
                                        std::int64_t high) const;
    std::optional<double> number(std::string_view key) const; // finite
    std::optional<bool> boolean(std::string_view key) const;
    std::optional<std::string> text(std::string_view key) const;
    // The same, Error(bad_value) where absent.
    std::int64_t require_integer(std::string_view key, std::int64_t low, std::int64_t high) const;
    double require_number(std::string_view key) const;
    std::string require_text(std::string_view key) const;

private:
    [[noreturn]] void fail(std::string_view key, const std::string& needed) const;
    [[noreturn]] void fail_missing(std::string_view key) const;

    nlohmann::json object_;
    std::string subject_;
};

// What a family's rotary embedding is where config.json is silent, and what it may say.
struct RopeReading {
    std::int64_t head_dim = 0;
    std::int64_t context_length = 0;
    std::int64_t original_context_length = 0; // 0: context_length
    double theta = 10000.0;
    bool partial = false; // may rotate a part of each head
    // The key of the settings that are meant where they stand apart for each type of layer
    // (Gemma 3); "" where they must not.
    std::string layer_type;
};

// The rotary settings in either spelling (PB3, PB4). Throws Error(unsupported) for kinds that are
// not implemented, bad_value. Unknown keys are added to `warnings`.
RopeConfig read_rope(const ConfigFields& config, const RopeReading& reading,
                     std::vector<std::string>& warnings);

} // namespace cuset
