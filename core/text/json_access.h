// Typed, path-naming access to the JSON of a tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace cuset::text {

using Json = nlohmann::json;

// A JSON value and where it stands ("model.merges[3]"), for messages.
class Node {
public:
    Node(const Json& value, std::string path, const std::string& subject)
        : value_(&value)
        , path_(std::move(path))
        , subject_(&subject) { }

    const Json& json() const { return *value_; }
    const std::string& path() const { return path_; }
    const std::string& subject() const { return *subject_; }

    // The member, which may be missing: then json() is null.
    Node member(const char* name) const;
    Node require_object(const char* name) const;
    Node require_array(const char* name) const;
    Node element(std::size_t index) const;
    // The value itself as an object, or a throw.
    void expect_object() const;
    std::string string(const char* name) const; // required
    std::string string(const char* name, std::string fallback) const; // missing or null: fallback
    bool boolean(const char* name, bool fallback) const;
    std::int64_t integer(const char* name) const;
    std::int64_t integer(const char* name, std::int64_t fallback) const;

    [[noreturn]] void fail(ErrorCode code, const std::string& message) const;

private:
    const Json* value_;
    std::string path_;
    const std::string* subject_;
};

// Parses JSON text after a check of its depth (64 levels). Throws Error(bad_format, limit).
Json parse_json(std::string_view text, const std::string& subject);

} // namespace cuset::text
