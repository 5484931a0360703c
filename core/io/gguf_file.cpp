#include "core/io/gguf_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/gguf_parser.h"

namespace cuset {
namespace {

// NAME-00002-of-00005.gguf taken apart (ggml's naming convention).
struct SplitName {
    std::string stem;
    int part = 1;
    int count = 1;
};

std::optional<SplitName> parse_split_name(const std::string& name) {
    // "-NNNNN-of-NNNNN.gguf" has 20 characters.
    if (name.size() < 20 || !name.ends_with(".gguf"))
        return std::nullopt;
    const std::string tail = name.substr(name.size() - 20);
    const auto digits = [&](std::size_t at) {
        return std::all_of(tail.begin() + at, tail.begin() + at + 5,
                           [](char c) { return c >= '0' && c <= '9'; });
    };
    if (tail[0] != '-' || tail.compare(6, 4, "-of-") != 0 || !digits(1) || !digits(10))
        return std::nullopt;
    SplitName split{name.substr(0, name.size() - 20), std::stoi(tail.substr(1, 5)),
                    std::stoi(tail.substr(10, 5))};
    if (split.part < 1 || split.part > split.count)
        return std::nullopt;
    return split;
}

std::string split_name(const SplitName& split, int part) {
    const auto padded = [](int number) {
        const std::string digits = std::to_string(number);
        return std::string(5 - digits.size(), '0') + digits;
    };
    return split.stem + "-" + padded(part) + "-of-" + padded(split.count) + ".gguf";
}

std::vector<std::filesystem::path> part_paths(const std::filesystem::path& path) {
    const std::optional<SplitName> split = parse_split_name(path.filename().string());
    if (!split)
        return {path};
    std::vector<std::filesystem::path> paths;
    for (int part = 1; part <= split->count; ++part) {
        paths.push_back(path.parent_path() / split_name(*split, part));
        std::error_code ignored;
        if (!std::filesystem::exists(paths.back(), ignored))
            throw Error(ErrorCode::not_found,
                        "part " + std::to_string(part) + " of " + std::to_string(split->count)
                            + " is missing: " + printable(paths.back().filename().string())
                            + " (an incomplete download?)",
                        path.string());
    }
    return paths;
}

std::int64_t split_number(const GgufPart& part, const char* key, std::int64_t otherwise) {
    const auto at = part.metadata.find(key);
    if (at == part.metadata.end())
        return otherwise;
    const auto* value = std::get_if<std::int64_t>(&at->second);
    return value == nullptr ? -1 : *value;
}

// What the part says about itself must be what its name says.
void check_part(const GgufPart& part, const std::filesystem::path& path, std::size_t number,
                std::size_t count) {
    const std::int64_t says_count = std::max<std::int64_t>(split_number(part, "split.count", 1), 1);
    const std::int64_t says_number = split_number(part, "split.no", 0) + 1;
    const bool whole = count == 1 && says_count == 1;
    if (whole || (std::cmp_equal(says_count, count) && std::cmp_equal(says_number, number)))
        return;
    throw Error(ErrorCode::bad_value,
                "its metadata say part " + std::to_string(says_number) + " of "
                    + std::to_string(says_count) + ", its name says part " + std::to_string(number)
                    + " of " + std::to_string(count)
                    + " (parts must keep their names: NAME-00001-of-0000N.gguf)",
                path.string());
}

template <typename T>
const T* find_as(const std::map<std::string, GgufValue, std::less<>>& metadata,
                 std::string_view key) {
    const auto at = metadata.find(key);
    return at == metadata.end() ? nullptr : std::get_if<T>(&at->second);
}

[[noreturn]] void wrong_type(const std::filesystem::path& path, std::string_view key,
                             const char* needed) {
    throw Error(ErrorCode::bad_value, printable(key) + ": must be " + needed, path.string());
}

} // namespace

GgufFile::GgufFile(const std::filesystem::path& path)
    : path_(path) {
    const std::vector<std::filesystem::path> paths = part_paths(path);
    std::int64_t expected_tensors = -1;
    for (std::size_t n = 0; n < paths.size(); ++n) {
        files_.push_back(std::make_shared<MappedFile>(paths[n]));
        GgufPart part = parse_gguf(*files_.back());
        check_part(part, paths[n], n + 1, paths.size());
        for (GgufTensor& tensor : part.tensors) {
            if (!index_.emplace(tensor.name, tensors_.size()).second)
                throw Error(ErrorCode::bad_format,
                            "the tensor `" + printable(tensor.name) + "` is there twice",
                            paths[n].string());
            tensors_.push_back(std::move(tensor));
        }
        if (n == 0) {
            version_ = part.version;
            expected_tensors = split_number(part, "split.tensors.count", -1);
        }
        metadata_.merge(part.metadata);
    }
    if (expected_tensors >= 0 && !std::cmp_equal(expected_tensors, tensors_.size()))
        throw Error(ErrorCode::bad_format,
                    "the parts hold " + std::to_string(tensors_.size()) + " tensors, needed are "
                        + std::to_string(expected_tensors),
                    path.string());
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &tensors_[at->second];
}

std::optional<std::string> GgufFile::find_string(std::string_view key) const {
    if (const auto* value = find_as<std::string>(metadata_, key))
        return *value;
    if (metadata_.contains(key))
        wrong_type(path_, key, "a string");
    return std::nullopt;
}

std::optional<std::int64_t> GgufFile::find_integer(std::string_view key) const {
    if (const auto* value = find_as<std::int64_t>(metadata_, key))
        return *value;
    if (const auto* value = find_as<std::uint64_t>(metadata_, key);
        value != nullptr && std::in_range<std::int64_t>(*value))
        return static_cast<std::int64_t>(*value);
    if (metadata_.contains(key))
        wrong_type(path_, key, "a whole number below 2^63");
    return std::nullopt;
}

std::optional<double> GgufFile::find_number(std::string_view key) const {
    if (const auto* value = find_as<double>(metadata_, key))
        return *value;
    if (const auto* value = find_as<std::int64_t>(metadata_, key))
        return static_cast<double>(*value);
    if (const auto* value = find_as<std::uint64_t>(metadata_, key))
        return static_cast<double>(*value);
    if (metadata_.contains(key))
        wrong_type(path_, key, "a number");
    return std::nullopt;
}

std::optional<bool> GgufFile::find_bool(std::string_view key) const {
    if (const auto* value = find_as<bool>(metadata_, key))
        return *value;
    if (metadata_.contains(key))
        wrong_type(path_, key, "true or false");
    return std::nullopt;
}

const std::vector<std::string>* GgufFile::find_strings(std::string_view key) const {
    const auto* list = find_as<GgufArray>(metadata_, key);
    const auto* values = list == nullptr ? nullptr : std::get_if<std::vector<std::string>>(list);
    if (values == nullptr && metadata_.contains(key))
        wrong_type(path_, key, "a list of strings");
    return values;
}

const std::vector<std::int64_t>* GgufFile::find_integers(std::string_view key) const {
    const auto* list = find_as<GgufArray>(metadata_, key);
    const auto* values = list == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(list);
    if (values == nullptr && metadata_.contains(key))
        wrong_type(path_, key, "a list of whole numbers");
    return values;
}

const std::vector<double>* GgufFile::find_numbers(std::string_view key) const {
    const auto* list = find_as<GgufArray>(metadata_, key);
    const auto* values = list == nullptr ? nullptr : std::get_if<std::vector<double>>(list);
    if (values == nullptr && metadata_.contains(key))
        wrong_type(path_, key, "a list of numbers");
    return values;
}

} // namespace cuset
