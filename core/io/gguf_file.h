// The GGUF container, versions 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
// Every count, length and offset is checked against the bytes that are there before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/io/mapped_file.h"

namespace cuset {

// ggml's numbers of the tensor types; a type we cannot read is refused with its name.
enum class GgmlType : std::uint32_t {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q8_1 = 9,
    q2_k = 10,
    q3_k = 11,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    q8_k = 15,
    iq4_nl = 20,
    iq4_xs = 23,
    i8 = 24,
    i16 = 25,
    i32 = 26,
    i64 = 27,
    f64 = 28,
    bf16 = 30,
    tq1_0 = 34,
    tq2_0 = 35,
    mxfp4 = 39,
};

std::string_view ggml_type_name(GgmlType type) noexcept;

struct GgufTensor {
    std::string name;
    GgmlType type = GgmlType::f32;
    std::vector<std::int64_t> shape; // outermost first (the file stores it innermost first)
    std::span<const std::byte> bytes; // blocks, row after row
};

using GgufArray =
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;
using GgufValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, GgufArray>;

class GgufFile {
public:
    // Opens one file, or all parts of a split model (NAME-00001-of-0000N.gguf, any part may be
    // named). Throws Error: not_found, unreadable, bad_format, unsupported (version, tensor type).
    explicit GgufFile(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::uint32_t version() const { return version_; }
    const std::vector<GgufTensor>& tensors() const { return tensors_; }
    const GgufTensor* find_tensor(std::string_view name) const;
    const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }

    // Typed look-ups: nothing if the key is not there; Error(bad_value) if it has another type.
    std::optional<std::string> find_string(std::string_view key) const;
    std::optional<std::int64_t> find_integer(std::string_view key) const;
    std::optional<double> find_number(std::string_view key) const; // integers too
    std::optional<bool> find_bool(std::string_view key) const;
    const std::vector<std::string>* find_strings(std::string_view key) const;
    const std::vector<std::int64_t>* find_integers(std::string_view key) const;
    const std::vector<double>* find_numbers(std::string_view key) const;

private:
    std::filesystem::path path_;
    std::uint32_t version_ = 0;
    std::vector<std::shared_ptr<const MappedFile>> files_;
    std::vector<GgufTensor> tensors_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::map<std::string, GgufValue, std::less<>> metadata_;
};

// Elements in `bytes` of that type decoded to float32, as the `gguf` package does. `out` has as
// many elements as the blocks hold. Throws Error(bad_format) if the sizes do not fit, unsupported
// for integer types.
void dequantize(GgmlType type, std::span<const std::byte> bytes, std::span<float> out);

// Bytes that `elements` of that type take; elements must be whole blocks. Throws Error(bad_format).
std::uint64_t ggml_bytes(GgmlType type, std::uint64_t elements);

} // namespace cuset
