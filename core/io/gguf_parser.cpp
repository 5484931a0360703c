#include "core/io/gguf_parser.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/checked_math.h"
#include "core/io/foreign_content.h"
#include "core/io/ggml_types.h"

namespace cuset {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied from little-endian files as they stand");

constexpr std::uint64_t max_key_bytes = 65535; // the format's limit
constexpr std::uint64_t max_name_bytes = 1024;
constexpr std::uint32_t max_dimensions = 4;
constexpr std::uint64_t default_alignment = 32;
constexpr std::uint64_t max_alignment = 1u << 20;
constexpr std::uint64_t no_file_is_larger = std::uint64_t{1} << 48;
constexpr std::uint64_t max_entries = 1'000'000; // of metadata, and of tensors
constexpr std::uint64_t max_list_entries = std::uint64_t{1}
    << 25; // in all lists together: bounds memory
constexpr std::uint64_t min_entry_bytes = 8 + 4 + 1; // key length, type, the smallest value
constexpr std::uint64_t min_tensor_bytes =
    8 + 4 + 8 + 4 + 8; // name length, rank, one dimension, type, offset

// The format's numbers of the metadata types.
enum class ValueType : std::uint32_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    boolean,
    string,
    array,
    u64,
    i64,
    f64
};

class Parser {
public:
    explicit Parser(const MappedFile& file)
        : file_(file)
        , bytes_(file.bytes()) { }

    GgufPart parse();

private:
    struct Placed {
        std::uint64_t offset = 0; // from the start of the tensor data
        std::uint64_t size = 0;
    };

    [[noreturn]] void fail(const std::string& text, ErrorCode code = ErrorCode::bad_format) const;
    std::uint64_t left() const { return bytes_.size() - at_; }
    void need(std::uint64_t count) const;
    template <typename T> T read();
    std::string read_string(std::uint64_t max_bytes, const char* what);
    bool read_bool();
    std::int64_t read_integer(ValueType type);

    void read_version();
    std::uint64_t read_count(const char* what, std::uint64_t min_bytes);
    void read_entry();
    GgufValue read_value(ValueType type);
    GgufArray read_array();
    void read_tensor();
    void place_tensors();
    void share_out(std::uint64_t start);
    std::uint64_t alignment() const;

    const MappedFile& file_;
    std::span<const std::byte> bytes_;
    std::uint64_t at_ = 0;
    std::uint64_t list_entries_left_ = max_list_entries;
    const char* section_ = "header";
    std::string context_; // the entry being read, for messages
    GgufPart part_;
    std::vector<Placed> places_; // of part_.tensors
};

// A download cut by a file host is often named NAME.part1of2 or NAME-split-a.
std::string part_hint(const std::string& name) {
    const std::size_t part = name.rfind("part");
    const std::size_t of = part == std::string::npos ? part : name.find("of", part);
    if (of != std::string::npos && of > part + 4 && of + 2 < name.size()) {
        const std::string number = name.substr(part + 4, of - part - 4);
        const std::string count = name.substr(of + 2);
        const auto digits = [](const std::string& text) {
            return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
        };
        if (digits(number) && digits(count))
            return "the name says part " + number + " of " + count + ": join the parts first";
    }
    if (name.find("-split-") != std::string::npos || name.find("-part-") != std::string::npos)
        return "the name says it is one part of several: join the parts first";
    return {};
}

void Parser::fail(const std::string& text, ErrorCode code) const {
    throw Error(code, text, file_.path().string());
}

void Parser::need(std::uint64_t count) const {
    if (count <= left())
        return;
    const std::string hint = part_hint(file_.path().filename().string());
    fail("ends within the " + std::string(section_) + context_ + ": needs " + std::to_string(count)
         + " bytes at byte " + std::to_string(at_) + ", the file has "
         + std::to_string(bytes_.size()) + " ("
         + (hint.empty() ? "an incomplete download, or damaged?" : hint) + ")");
}

template <typename T> T Parser::read() {
    static_assert(std::is_arithmetic_v<T>);
    need(sizeof(T));
    T value{};
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
}

std::string Parser::read_string(std::uint64_t max_bytes, const char* what) {
    const auto length = read<std::uint64_t>();
    need(length);
    if (length > max_bytes)
        fail(std::string(what) + " of " + std::to_string(length) + " bytes at byte "
             + std::to_string(at_) + ", at most " + std::to_string(max_bytes) + " are allowed");
    std::string text(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return text;
}

bool Parser::read_bool() {
    const auto value = read<std::uint8_t>();
    if (value > 1)
        fail("the " + std::string(section_) + context_ + ": a boolean is " + std::to_string(value)
             + ", must be 0 or 1");
    return value == 1;
}

// Any whole number but u64, which does not always fit.
std::int64_t Parser::read_integer(ValueType type) {
    switch (type) {
    case ValueType::u8:
        return read<std::uint8_t>();
    case ValueType::i8:
        return read<std::int8_t>();
    case ValueType::u16:
        return read<std::uint16_t>();
    case ValueType::i16:
        return read<std::int16_t>();
    case ValueType::u32:
        return read<std::uint32_t>();
    case ValueType::i32:
        return read<std::int32_t>();
    default:
        return read<std::int64_t>();
    }
}

void Parser::read_version() {
    const std::string name = file_.path().filename().string();
    if (bytes_.size() < 4 || std::memcmp(bytes_.data(), "GGUF", 4) != 0) {
        if (const std::string foreign = explain_foreign_content(bytes_); !foreign.empty())
            fail(foreign);
        const std::string hint = part_hint(name);
        fail("does not begin with GGUF, so it is not a GGUF file"
             + (hint.empty() ? (bytes_.empty() ? " (it is empty)" : "") : " (" + hint + ")"));
    }
    at_ = 4;
    part_.version = read<std::uint32_t>();
    if (part_.version != 0 && (part_.version & 0xffff) == 0)
        fail("is a big-endian GGUF file, only little-endian ones are read (convert it with "
             "`gguf-convert-endian`)",
             ErrorCode::unsupported);
    if (part_.version != 2 && part_.version != 3)
        fail("GGUF version " + std::to_string(part_.version)
                 + ", versions 2 and 3 are read (convert the model again with a current tool)",
             ErrorCode::unsupported);
}

std::uint64_t Parser::read_count(const char* what, std::uint64_t min_bytes) {
    const auto count = read<std::uint64_t>();
    // A smaller count that the file is too short for is met where the file ends, which says more.
    if (count > max_entries)
        fail("header: " + std::to_string(count) + " " + what + ", at most "
                 + std::to_string(max_entries) + " are read",
             count > left() / min_bytes ? ErrorCode::bad_format : ErrorCode::limit);
    return count;
}

GgufArray Parser::read_array() {
    const auto number = read<std::uint32_t>();
    const auto type = static_cast<ValueType>(number);
    static constexpr std::array<std::uint8_t, 13> sizes{1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};
    if (number >= sizes.size())
        fail("the " + std::string(section_) + context_ + ": list of unknown type "
             + std::to_string(number));
    if (type == ValueType::array)
        fail("the " + std::string(section_) + context_ + ": lists of lists are not supported",
             ErrorCode::unsupported);
    const auto count = read<std::uint64_t>();
    if (count > left() / sizes[number])
        fail("ends within the " + std::string(section_) + context_ + ": a list of "
             + std::to_string(count) + " entries at byte " + std::to_string(at_) + ", the file has "
             + std::to_string(bytes_.size()) + " bytes");
    if (count > list_entries_left_)
        fail("the " + std::string(section_) + context_ + ": lists of more than "
                 + std::to_string(max_list_entries) + " entries in all",
             ErrorCode::limit);
    list_entries_left_ -= count;
    if (type == ValueType::string) {
        std::vector<std::string> texts;
        texts.reserve(count);
        for (std::uint64_t n = 0; n < count; ++n)
            texts.push_back(read_string(left(), "a string"));
        return texts;
    }
    if (type == ValueType::f32 || type == ValueType::f64) {
        std::vector<double> numbers(count);
        for (double& value : numbers)
            value = type == ValueType::f32 ? read<float>() : read<double>();
        return numbers;
    }
    std::vector<std::int64_t> integers(count);
    for (std::int64_t& value : integers)
        value = type == ValueType::boolean ? read_bool() : read_integer(type);
    if (type == ValueType::u64
        && std::ranges::any_of(integers, [](auto value) { return value < 0; }))
        fail("the " + std::string(section_) + context_ + ": a number in the list is too large");
    return integers;
}

GgufValue Parser::read_value(ValueType type) {
    switch (type) {
    case ValueType::f32:
        return static_cast<double>(read<float>());
    case ValueType::f64:
        return read<double>();
    case ValueType::boolean:
        return read_bool();
    case ValueType::string:
        return read_string(left(), "a string");
    case ValueType::array:
        return read_array();
    case ValueType::u64:
        return read<std::uint64_t>();
    default:
        return read_integer(type);
    }
}

void Parser::read_entry() {
    context_.clear();
    std::string key = read_string(max_key_bytes, "metadata: a key");
    if (key.empty() || key.find('\0') != std::string::npos)
        fail("metadata: the key `" + printable(key) + "` is empty or holds a NUL byte");
    context_ = " at `" + printable(key) + "`";
    const auto type = read<std::uint32_t>();
    if (type > static_cast<std::uint32_t>(ValueType::f64))
        fail("the metadata" + context_ + ": unknown type " + std::to_string(type));
    GgufValue value = read_value(static_cast<ValueType>(type));
    if (!part_.metadata.emplace(std::move(key), std::move(value)).second)
        fail("the metadata" + context_ + ": the key is there twice");
}

void Parser::read_tensor() {
    context_.clear();
    GgufTensor tensor;
    tensor.name = read_string(max_name_bytes, "tensor list: a name");
    if (tensor.name.empty() || tensor.name.find('\0') != std::string::npos)
        fail("tensor list: the name `" + printable(tensor.name) + "` is empty or holds a NUL byte");
    context_ = " at `" + printable(tensor.name) + "`";
    const std::string subject = "`" + printable(tensor.name) + "`: ";
    const auto rank = read<std::uint32_t>();
    if (rank < 1 || rank > max_dimensions)
        fail(subject + std::to_string(rank) + " dimensions, must have 1 to 4");
    for (std::uint32_t n = 0; n < rank; ++n) {
        const auto dimension = read<std::uint64_t>();
        if (dimension > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail(subject + "dimension " + std::to_string(dimension) + " is too large");
        tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(dimension));
    }
    const auto type = read<std::uint32_t>();
    const GgmlTypeInfo* info = find_ggml_type(type);
    if (info == nullptr || !info->readable)
        fail(subject + "tensor type "
                 + (info == nullptr ? std::to_string(type) + " is unknown"
                                    : std::string(info->name) + " is not supported")
                 + " (use another quantisation of the model: Q4_K_M, Q8_0, BF16, ...)",
             ErrorCode::unsupported);
    tensor.type = static_cast<GgmlType>(type);
    const auto row = static_cast<std::uint64_t>(tensor.shape.back());
    if (row % info->block_elements != 0)
        fail(subject + "rows of " + std::to_string(row) + " elements are not whole blocks of "
             + std::to_string(info->block_elements) + " (" + std::string(info->name) + ")");
    std::optional<std::uint64_t> size = row / info->block_elements * info->block_bytes;
    if (row / info->block_elements > UINT64_MAX / info->block_bytes)
        size = std::nullopt;
    for (std::size_t n = 0; n + 1 < tensor.shape.size() && size; ++n)
        size = checked_multiply(*size, static_cast<std::uint64_t>(tensor.shape[n]));
    if (!size)
        fail(subject + "its shape needs more bytes than 64 bits can count");
    places_.push_back({read<std::uint64_t>(), *size});
    part_.tensors.push_back(std::move(tensor));
}

std::uint64_t Parser::alignment() const {
    const auto at = part_.metadata.find("general.alignment");
    if (at == part_.metadata.end())
        return default_alignment;
    const auto* value = std::get_if<std::int64_t>(&at->second);
    if (value == nullptr || *value < 1 || static_cast<std::uint64_t>(*value) > max_alignment
        || !std::has_single_bit(static_cast<std::uint64_t>(*value)))
        fail("general.alignment "
             + (value == nullptr ? std::string("has another type") : std::to_string(*value))
             + ", must be a power of two up to " + std::to_string(max_alignment));
    return static_cast<std::uint64_t>(*value);
}

void Parser::place_tensors() {
    const std::uint64_t align = alignment();
    // Cannot wrap: at_ lies in the file and align is small.
    const std::uint64_t start = (at_ + align - 1) / align * align;
    std::uint64_t furthest_end = 0;
    std::size_t furthest = 0;
    for (std::size_t n = 0; n < places_.size(); ++n) {
        const auto [offset, size] = places_[n];
        const std::string subject = "`" + printable(part_.tensors[n].name) + "`";
        if (offset % align != 0)
            fail(subject + ": offset " + std::to_string(offset) + " is not a multiple of "
                 + std::to_string(align));
        const std::optional<std::uint64_t> first = checked_add(start, offset);
        const std::optional<std::uint64_t> end = first ? checked_add(*first, size) : std::nullopt;
        if (!end || *first > no_file_is_larger)
            fail("the offset " + std::to_string(offset) + " of " + subject
                 + " lies outside the file of " + std::to_string(bytes_.size()) + " bytes");
        if (size > 0 && *end > furthest_end) {
            furthest_end = *end;
            furthest = n;
        }
    }
    if (furthest_end > bytes_.size()) {
        const std::string hint = part_hint(file_.path().filename().string());
        fail("ends early: `" + printable(part_.tensors[furthest].name) + "` needs bytes up to "
             + std::to_string(furthest_end) + ", the file has " + std::to_string(bytes_.size())
             + " (" + (hint.empty() ? "an incomplete download?" : hint) + ")");
    }
    share_out(start);
}

// Hands each tensor its bytes, all of which are known to be there, and refuses overlaps.
void Parser::share_out(std::uint64_t start) {
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> order;
    for (std::size_t n = 0; n < places_.size(); ++n) {
        const auto [offset, size] = places_[n];
        if (size > 0) {
            part_.tensors[n].bytes = bytes_.subspan(start + offset, size);
            order.emplace_back(offset, size, n);
        }
    }
    std::ranges::sort(order);
    for (std::size_t n = 1; n < order.size(); ++n) {
        const auto& [offset, size, tensor] = order[n - 1];
        if (std::get<0>(order[n]) < offset + size)
            fail("`" + printable(part_.tensors[tensor].name) + "` and `"
                 + printable(part_.tensors[std::get<2>(order[n])].name) + "` overlap");
    }
}

GgufPart Parser::parse() {
    read_version();
    const std::uint64_t tensors = read_count("tensors", min_tensor_bytes);
    const std::uint64_t entries = read_count("metadata entries", min_entry_bytes);
    section_ = "metadata";
    for (std::uint64_t n = 0; n < entries; ++n)
        read_entry();
    section_ = "tensor list";
    context_.clear();
    for (std::uint64_t n = 0; n < tensors; ++n)
        read_tensor();
    place_tensors();
    return std::move(part_);
}

} // namespace

GgufPart parse_gguf(const MappedFile& file) {
    return Parser(file).parse();
}

} // namespace cuset
