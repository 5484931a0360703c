// Typed and bounded look-ups in a GGUF file's metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/io/gguf_file.h"

namespace cuset {

// Below one architecture's prefix, e.g. "llama.". Throws Error(bad_value) with the key's name.
class GgufFields {
public:
    GgufFields(const GgufFile& file, std::string architecture)
        : file_(file)
        , prefix_(std::move(architecture) + ".") { }

    std::optional<std::int64_t> integer(const std::string& key, std::int64_t low,
                                        std::int64_t high) const {
        const auto value = file_.find_integer(prefix_ + key);
        if (value && (*value < low || *value > high))
            fail(key, std::to_string(*value));
        return value;
    }
    std::int64_t require_integer(const std::string& key, std::int64_t low,
                                 std::int64_t high) const {
        const auto value = integer(key, low, high);
        if (!value)
            throw Error(ErrorCode::bad_value, "no " + prefix_ + key, file_.path().string());
        return *value;
    }
    std::optional<double> number(const std::string& key, double low, double high) const {
        const auto value = file_.find_number(prefix_ + key);
        if (value && !(*value >= low && *value <= high))
            fail(key, std::to_string(*value));
        return value;
    }
    std::optional<std::string> text(const std::string& key) const {
        return file_.find_string(prefix_ + key);
    }
    // Nothing if the key is not there or no array.
    const std::vector<std::int64_t>* integers(const std::string& key) const {
        const auto it = file_.metadata().find(prefix_ + key);
        return it != file_.metadata().end() && std::holds_alternative<GgufArray>(it->second)
            ? file_.find_integers(prefix_ + key)
            : nullptr;
    }

    bool is_on(const std::string& key) const {
        const auto it = file_.metadata().find(prefix_ + key);
        return it != file_.metadata().end() && it->second == GgufValue(true);
    }
    const GgufFile& file() const { return file_; }

private:
    [[noreturn]] void fail(const std::string& key, const std::string& found) const {
        throw Error(ErrorCode::bad_value, prefix_ + key + " is out of range: " + found,
                    file_.path().string());
    }

    const GgufFile& file_;
    std::string prefix_;
};

} // namespace cuset
