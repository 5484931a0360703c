#include "core/io/safetensors_file.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/foreign_content.h"
#include "core/io/safetensors_header.h"

namespace cuset {
namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000; // the reference implementation's limit

[[noreturn]] void refuse(const MappedFile& file, const std::string& text) {
    throw Error(ErrorCode::bad_format, text, file.path().string());
}

// The text of the header, once its length has been checked against the file.
std::string_view header_text(const MappedFile& file) {
    const std::span<const std::byte> bytes = file.bytes();
    if (const std::string foreign = explain_foreign_content(bytes); !foreign.empty())
        refuse(file, foreign);
    if (bytes.size() < length_bytes)
        refuse(file,
               "has " + std::to_string(bytes.size())
                   + " bytes, too short for the 8 bytes of the header length (an incomplete "
                     "download?)");
    std::uint64_t length = 0;
    for (std::uint64_t n = length_bytes; n-- > 0;)
        length = length << 8 | std::to_integer<std::uint64_t>(bytes[n]);
    if (length > bytes.size() - length_bytes)
        refuse(file,
               "header length " + std::to_string(length) + " is larger than the file, "
                   + std::to_string(bytes.size())
                   + " bytes (an incomplete download, or not a safetensors file)");
    if (length > max_header_bytes)
        refuse(file,
               "header length " + std::to_string(length) + ", at most "
                   + std::to_string(max_header_bytes) + " are allowed");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + length_bytes, length);
    if (text.empty())
        refuse(file, "the header is empty, it must be a JSON object");
    const std::string first = printable(text.substr(0, 1));
    if (text[0] != '{')
        refuse(file,
               std::string(text.find_first_of("[\"") == 0 ? "the header is JSON but not an object"
                                                          : "the header is not a JSON object")
                   + ": it begins with `" + first + "`, must begin with `{`");
    return text;
}

// Tensors must fill the data from its first byte to its last without a hole or an overlap.
void check_layout(std::vector<SafetensorsHeader::Entry>& entries, std::uint64_t data_bytes,
                  const MappedFile& file) {
    std::ranges::sort(entries, {}, [](const SafetensorsHeader::Entry& entry) {
        return std::tuple(entry.begin, entry.end);
    });
    std::uint64_t end = 0;
    for (const SafetensorsHeader::Entry& entry : entries) {
        if (entry.begin != end)
            refuse(file,
                   "`" + printable(entry.name) + "`: begins at byte " + std::to_string(entry.begin)
                       + " of the data, the tensor before it ends at " + std::to_string(end)
                       + " (tensors must follow each other without "
                       + (entry.begin < end ? "overlap)" : "a hole)"));
        end = entry.end;
    }
    if (end > data_bytes)
        refuse(file,
               "`" + printable(entries.back().name) + "` needs tensor data up to byte "
                   + std::to_string(end) + ", the file holds " + std::to_string(data_bytes) + " ("
                   + format_bytes(end - data_bytes) + " are missing: an incomplete download?)");
    if (end < data_bytes)
        refuse(file, std::to_string(data_bytes - end) + " bytes follow the last tensor");
}

} // namespace

std::size_t dtype_size(DType dtype) noexcept {
    switch (dtype) {
    case DType::boolean:
    case DType::u8:
    case DType::i8:
    case DType::f8_e4m3:
    case DType::f8_e5m2:
        return 1;
    case DType::u16:
    case DType::i16:
    case DType::bf16:
    case DType::f16:
        return 2;
    case DType::u32:
    case DType::i32:
    case DType::f32:
        return 4;
    case DType::u64:
    case DType::i64:
    case DType::f64:
        return 8;
    }
    return 0;
}

std::string_view dtype_name(DType dtype) noexcept {
    switch (dtype) {
    case DType::boolean:
        return "BOOL";
    case DType::u8:
        return "U8";
    case DType::i8:
        return "I8";
    case DType::u16:
        return "U16";
    case DType::i16:
        return "I16";
    case DType::u32:
        return "U32";
    case DType::i32:
        return "I32";
    case DType::u64:
        return "U64";
    case DType::i64:
        return "I64";
    case DType::f8_e4m3:
        return "F8_E4M3";
    case DType::f8_e5m2:
        return "F8_E5M2";
    case DType::bf16:
        return "BF16";
    case DType::f16:
        return "F16";
    case DType::f32:
        return "F32";
    case DType::f64:
        return "F64";
    }
    return "";
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(std::make_shared<MappedFile>(path)) {
    const std::string_view text = header_text(*file_);
    SafetensorsHeader header = parse_safetensors_header(text, path.string());
    const std::span<const std::byte> data = file_->bytes().subspan(length_bytes + text.size());
    check_layout(header.entries, data.size(), *file_);
    for (SafetensorsHeader::Entry& entry : header.entries) {
        const std::span<const std::byte> bytes = data.subspan(entry.begin, entry.end - entry.begin);
        tensors_.emplace(std::move(entry.name),
                         TensorView{entry.dtype, std::move(entry.shape), bytes});
    }
    metadata_ = std::move(header.metadata);
}

const TensorView* SafetensorsFile::find_tensor(std::string_view name) const {
    const auto at = tensors_.find(name);
    return at == tensors_.end() ? nullptr : &at->second;
}

const TensorView& SafetensorsFile::require_tensor(std::string_view name) const {
    if (const TensorView* tensor = find_tensor(name))
        return *tensor;
    throw Error(ErrorCode::not_found,
                "no tensor `" + printable(name) + "` among its " + std::to_string(tensors_.size()),
                path().string());
}

} // namespace cuset
