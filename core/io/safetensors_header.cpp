#include "core/io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/checked_math.h"

namespace cuset {
namespace {

constexpr std::size_t max_tensors = 1'000'000;
constexpr std::size_t max_metadata = 50'000; // bounds memory: an entry costs ten times its text
constexpr std::size_t max_name_bytes = 1024;
constexpr std::size_t max_rank = 8;

constexpr std::array all_dtypes{DType::boolean, DType::u8,   DType::i8,  DType::u16, DType::i16,
                                DType::u32,     DType::i32,  DType::u64, DType::i64, DType::f8_e4m3,
                                DType::f8_e5m2, DType::bf16, DType::f16, DType::f32, DType::f64};

// Types of the format that no tensor of ours can have.
constexpr std::array<std::string_view, 5> other_dtypes{"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0",
                                                       "C64"};

// Events of nlohmann's parser into a header. What may come next is a fixed grammar two objects
// deep, so that neither depth nor surprise can cost anything.
class HeaderReader {
public:
    HeaderReader(SafetensorsHeader& header, const std::string& file)
        : header_(header)
        , file_(file) { }

    bool null() { return unexpected("null"); }
    bool boolean(bool) { return unexpected("a boolean"); }
    bool number_integer(std::int64_t) { return unexpected("a negative number"); }
    bool number_float(double, const std::string&) {
        return unexpected("a number that is not a whole number of 64 bits");
    }
    bool binary(nlohmann::json::binary_t&) { return unexpected("binary data"); }
    bool number_unsigned(std::uint64_t value);
    bool string(std::string& text);
    bool key(std::string& text);
    bool start_object(std::size_t);
    bool end_object();
    bool start_array(std::size_t);
    bool end_array();
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error);

private:
    enum class State { before, top, metadata, entry_value, entry, shape, offsets, after };
    enum class Field { none, dtype, shape, data_offsets };

    [[noreturn]] void fail(const std::string& text, ErrorCode code = ErrorCode::bad_format) const {
        throw Error(code, "header: " + text, file_);
    }
    std::string where() const;
    bool unexpected(const char* found) const { fail(where() + ": found " + found + " there"); }
    void begin_entry(const std::string& name);
    void finish_entry();
    void begin_field(const std::string& name);
    void read_dtype(const std::string& name);

    SafetensorsHeader& header_;
    const std::string& file_;
    State state_ = State::before;
    bool has_metadata_ = false;
    std::string* metadata_value_ = nullptr; // of the key just read
    Field field_ = Field::none;
    std::array<bool, 4> seen_{};
    std::vector<std::uint64_t> offsets_;
};

std::string HeaderReader::where() const {
    if (state_ == State::before || state_ == State::after)
        return "must be one JSON object";
    if (state_ == State::metadata)
        return "__metadata__ maps strings to strings";
    const std::string text = "`" + printable(header_.entries.back().name) + "`";
    if (state_ == State::entry_value)
        return text + " must be an object";
    static constexpr std::array<const char*, 4> needed{"", " dtype must be a string",
                                                       " shape must be a list of whole numbers",
                                                       " data_offsets must be two whole numbers"};
    return text + needed[static_cast<std::size_t>(field_)];
}

bool HeaderReader::start_object(std::size_t) {
    if (state_ == State::before)
        state_ = State::top;
    else if (state_ == State::entry_value)
        state_ = State::entry;
    else if (state_ != State::metadata || metadata_value_ != nullptr)
        return unexpected("an object");
    return true;
}

bool HeaderReader::key(std::string& text) {
    if (text.size() > max_name_bytes)
        fail("a name of " + std::to_string(text.size()) + " bytes, at most "
             + std::to_string(max_name_bytes) + " are allowed: " + printable(text, 60));
    if (state_ == State::entry)
        begin_field(text);
    else if (state_ == State::metadata) {
        if (header_.metadata.size() >= max_metadata)
            fail("more than " + std::to_string(max_metadata) + " entries in __metadata__",
                 ErrorCode::limit);
        const auto [at, added] = header_.metadata.emplace(text, std::string());
        if (!added)
            fail("__metadata__ has the key `" + printable(text) + "` twice");
        metadata_value_ = &at->second;
    } else
        begin_entry(text);
    return true;
}

void HeaderReader::begin_entry(const std::string& name) {
    if (name == "__metadata__") {
        if (has_metadata_)
            fail("__metadata__ is there twice");
        has_metadata_ = true;
        state_ = State::metadata;
        return;
    }
    if (name.find('\0') != std::string::npos)
        fail("`" + printable(name) + "`: a NUL byte in a name");
    if (header_.entries.size() >= max_tensors)
        fail("more than " + std::to_string(max_tensors) + " tensors", ErrorCode::limit);
    header_.entries.emplace_back().name = name;
    seen_ = {};
    offsets_.clear();
    state_ = State::entry_value;
}

void HeaderReader::begin_field(const std::string& name) {
    field_ = name == "dtype"     ? Field::dtype
        : name == "shape"        ? Field::shape
        : name == "data_offsets" ? Field::data_offsets
                                 : Field::none;
    const std::string tensor = "`" + printable(header_.entries.back().name) + "`";
    if (field_ == Field::none)
        fail(tensor + ": unknown field `" + printable(name)
             + "`; there are dtype, shape and data_offsets");
    if (std::exchange(seen_[static_cast<std::size_t>(field_)], true))
        fail(tensor + ": the field " + name + " is there twice");
}

bool HeaderReader::string(std::string& text) {
    if (state_ == State::metadata && metadata_value_ != nullptr)
        *std::exchange(metadata_value_, nullptr) = text;
    else if (state_ == State::entry && field_ == Field::dtype)
        read_dtype(text);
    else
        return unexpected("a string");
    return true;
}

void HeaderReader::read_dtype(const std::string& name) {
    SafetensorsHeader::Entry& entry = header_.entries.back();
    for (const DType dtype : all_dtypes) {
        if (dtype_name(dtype) == name) {
            entry.dtype = dtype;
            return;
        }
    }
    const std::string text = "`" + printable(entry.name) + "`: dtype " + printable(name);
    for (const std::string_view other : other_dtypes) {
        if (other == name)
            fail(text + " is not supported (use a version of the model in BF16, F16 or F32)",
                 ErrorCode::unsupported);
    }
    fail(text
             + " is unknown; known are BOOL, U8 to U64, I8 to I64, F8_E4M3, F8_E5M2, BF16, F16, "
               "F32, F64",
         ErrorCode::unsupported);
}

bool HeaderReader::number_unsigned(std::uint64_t value) {
    SafetensorsHeader::Entry* entry = header_.entries.empty() ? nullptr : &header_.entries.back();
    if (state_ == State::offsets && offsets_.size() < 2)
        offsets_.push_back(value);
    else if (state_ == State::shape) {
        if (entry->shape.size() >= max_rank)
            fail("`" + printable(entry->name) + "`: more than " + std::to_string(max_rank)
                 + " dimensions");
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            fail("`" + printable(entry->name) + "`: dimension " + std::to_string(value)
                 + " is too large");
        entry->shape.push_back(static_cast<std::int64_t>(value));
    } else
        return unexpected(state_ == State::offsets ? "a third one" : "a number");
    return true;
}

bool HeaderReader::start_array(std::size_t) {
    if (state_ == State::entry && field_ == Field::shape)
        state_ = State::shape;
    else if (state_ == State::entry && field_ == Field::data_offsets)
        state_ = State::offsets;
    else
        return unexpected("a list");
    return true;
}

bool HeaderReader::end_array() {
    if (state_ == State::offsets && offsets_.size() != 2)
        return unexpected("fewer");
    state_ = State::entry;
    field_ = Field::none;
    return true;
}

bool HeaderReader::end_object() {
    if (state_ == State::entry)
        finish_entry();
    state_ = state_ == State::top ? State::after : State::top;
    return true;
}

void HeaderReader::finish_entry() {
    SafetensorsHeader::Entry& entry = header_.entries.back();
    const std::string tensor = "`" + printable(entry.name) + "`: ";
    static constexpr std::array<const char*, 4> fields{"", "dtype", "shape", "data_offsets"};
    for (std::size_t n = 1; n < fields.size(); ++n) {
        if (!seen_[n])
            fail(tensor + "the field " + fields[n] + " is missing");
    }
    entry.begin = offsets_[0];
    entry.end = offsets_[1];
    const std::string range =
        "[" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]";
    if (entry.begin > entry.end)
        fail(tensor + "data_offsets " + range + " run backwards");
    std::optional<std::uint64_t> needed = dtype_size(entry.dtype);
    for (const std::int64_t dimension : entry.shape)
        needed = needed ? checked_multiply(*needed, static_cast<std::uint64_t>(dimension)) : needed;
    if (!needed)
        fail(tensor + "the shape has more elements than 64 bits can count");
    if (*needed != entry.end - entry.begin)
        fail(tensor + "shape and dtype need " + std::to_string(*needed) + " bytes, data_offsets "
             + range + " hold " + std::to_string(entry.end - entry.begin));
}

bool HeaderReader::parse_error(std::size_t position, const std::string&,
                               const nlohmann::detail::exception& error) {
    const std::string_view reason = error.what();
    const std::size_t colon = reason.find(": ");
    fail("not valid JSON at byte " + std::to_string(position) + ": "
         + printable(colon == std::string_view::npos ? reason : reason.substr(colon + 2)));
}

// Sorted places instead of a set of names: a quarter of the memory.
void refuse_duplicates(const std::vector<SafetensorsHeader::Entry>& entries,
                       const std::string& file) {
    std::vector<std::uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto name = [&](std::uint32_t n) -> const std::string& { return entries[n].name; };
    std::ranges::sort(order, {}, name);
    const auto twice = std::ranges::adjacent_find(order, {}, name);
    if (twice != order.end())
        throw Error(ErrorCode::bad_format,
                    "header: the name `" + printable(name(*twice)) + "` is there twice", file);
}

} // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file) {
    // The format pads with spaces only; the parser would let other white space pass.
    const std::size_t last = text.find_last_not_of(' ');
    if (last != std::string_view::npos && text[last] != '}')
        throw Error(ErrorCode::bad_format,
                    "header: after the JSON object only spaces may follow, found `"
                        + printable(text.substr(last, 1)) + "`",
                    file);
    SafetensorsHeader header;
    HeaderReader reader(header, file);
    nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
    refuse_duplicates(header.entries, file);
    return header;
}

} // namespace cuset
