// One object of a JSON configuration: typed and bounded look-ups that name the path of what is
// wrong.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace cuset {

class ConfigSection {
public:
    // Throws Error(bad_value) if `object` is no object or has a key that `known` does not list.
    ConfigSection(const nlohmann::json& object, std::string path, std::string subject,
                  std::span<const std::string> known);

    const nlohmann::json* find(std::string_view key) const; // null where absent or null
    bool has(std::string_view key) const { return object_.contains(key); } // null counts
    // Each leaves `value` alone where the key is absent; Error(bad_value) for another type or
    // range.
    void number(std::string_view key, double low, double high, double& value) const;
    void integer(std::string_view key, std::int64_t low, std::int64_t high,
                 std::int64_t& value) const;
    void integer(std::string_view key, std::int64_t low, std::int64_t high,
                 std::optional<std::int64_t>& value) const; // null: nothing
    void boolean(std::string_view key, bool& value) const;
    void text(std::string_view key, std::string& value) const; // null: ""
    void texts(std::string_view key,
               std::vector<std::string>& value) const; // a string or a list of them
    // The index of one of `names`.
    template <class Names, class Enum>
    void choice(std::string_view key, const Names& names, Enum& value) const {
        std::string word;
        text(key, word);
        if (word.empty())
            return;
        const auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) {
            std::string all;
            for (const auto& name : names)
                all += (all.empty() ? "" : ", ") + std::string(name);
            fail(key, "needs one of " + all);
        }
        value = static_cast<Enum>(found - names.begin());
    }
    [[noreturn]] void fail(std::string_view key, const std::string& needed) const;

private:
    const nlohmann::json& object_;
    std::string path_;
    std::string subject_;
};

// Parses JSON with // and /* */ comments. Throws Error(bad_format): not JSON (with line and
// column), a key twice, nested more than 32 levels.
nlohmann::json parse_config_json(std::string_view text, const std::string& subject);

} // namespace cuset
