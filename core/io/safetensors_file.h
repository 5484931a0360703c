// The safetensors format: an 8-byte little-endian header length, a JSON header, tensor bytes.
// https://github.com/huggingface/safetensors (format section of its README). Read strictly: every
// rule of the format is checked before any tensor is handed out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/mapped_file.h"

namespace cuset {

// Element types of tensors in files, safetensors' and GGUF's unquantised ones.
enum class DType {
    boolean,
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    u64,
    i64,
    f8_e4m3,
    f8_e5m2,
    bf16,
    f16,
    f32,
    f64
};

std::size_t dtype_size(DType dtype) noexcept; // bytes of one element
std::string_view dtype_name(DType dtype) noexcept; // safetensors' spelling: "F32", "BF16", ...

struct TensorView {
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape; // outermost first
    std::span<const std::byte> bytes; // row major, little endian; need not be aligned for the dtype
};

class SafetensorsFile {
public:
    // Throws Error: not_found, unreadable, bad_format with the rule that is broken (a Git LFS
    // pointer is told apart).
    explicit SafetensorsFile(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return file_->path(); }
    const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
    const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
    const TensorView* find_tensor(std::string_view name) const;
    const TensorView& require_tensor(std::string_view name) const; // throws Error(not_found)
    std::shared_ptr<const MappedFile> file() const { return file_; }

private:
    std::shared_ptr<const MappedFile> file_;
    std::map<std::string, TensorView, std::less<>> tensors_;
    std::map<std::string, std::string, std::less<>> metadata_;
};

struct NamedTensor {
    std::string name;
    TensorView tensor;
};

// Writes tensors in the given order, header padded to 8 bytes, atomically. A tensor's bytes are
// aligned in the file if those before it fill whole elements: put the widest dtypes first. Throws
// Error: disk, bad_value (bytes that do not fit shape and dtype, two tensors of one name, text that
// is not UTF-8).
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

} // namespace cuset
