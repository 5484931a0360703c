#include "core/io/gguf_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <sys/resource.h>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "tests/core/io/gguf_builder.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

const std::filesystem::path data_folder = CUSET_TEST_DATA;

// The format's numbers of metadata types.
enum : std::uint32_t { u8 = 0, u32 = 4, boolean = 7, text = 8, list = 9, u64 = 10, f64 = 12 };
enum : std::uint32_t { type_f32 = 0, type_q4_2 = 4, type_q8_0 = 8, type_iq2_xxs = 16 };

constexpr std::uint64_t two_63 = std::uint64_t{1} << 63;

struct Malformed {
    std::string name;
    std::string bytes;
    ErrorCode code = ErrorCode::bad_format;
};

std::vector<Malformed> malformed_headers() {
    const auto unsupported = ErrorCode::unsupported;
    return {
        {"empty", ""},
        {"three_bytes", "GGU"},
        {"other_magic", "GGML" + std::string(40, '\0')},
        {"only_magic", "GGUF"},
        {"version_0", GgufBuilder(0, 0, 0).bytes(), unsupported},
        {"version_1", GgufBuilder(0, 0, 1).bytes(), unsupported},
        {"version_4", GgufBuilder(0, 0, 4).bytes(), unsupported},
        {"big_endian", GgufBuilder(0, 0, 0x03000000).bytes(), unsupported},
        {"cut_in_counts", GgufBuilder().bytes().substr(0, 15)},
        {"cut_before_entries", GgufBuilder().bytes().substr(0, 16)},
        {"tensors_2_63", GgufBuilder(two_63).bytes()},
        {"entries_2_63", GgufBuilder(0, two_63).bytes()},
        {"tensors_more_than_fit", GgufBuilder(1'000'001).bytes()},
        {"entries_more_than_fit", GgufBuilder(0, 3).bytes()},
        {"tensors_missing", GgufBuilder(1).bytes()},
        {"key_length_max", GgufBuilder(0, 1).number(UINT64_MAX).raw(std::string(30, 'k')).bytes()},
        {"key_length_beyond", GgufBuilder(0, 1).number<std::uint64_t>(40).raw("key").bytes()},
        {"key_too_long",
         GgufBuilder(0, 1).key(std::string(65536, 'k'), u8).number<std::uint8_t>(1).bytes()},
        {"key_empty", GgufBuilder(0, 1).key("", u8).number<std::uint8_t>(1).bytes()},
        {"key_with_nul",
         GgufBuilder(0, 1).key(std::string("a\0b", 3), u8).number<std::uint8_t>(1).bytes()},
        {"key_twice",
         GgufBuilder(0, 2)
             .key("k", u8)
             .number<std::uint8_t>(1)
             .key("k", u8)
             .number<std::uint8_t>(1)
             .bytes()},
        {"value_type_13", GgufBuilder(0, 1).key("k", 13).raw(std::string(20, '\0')).bytes()},
        {"value_type_max", GgufBuilder(0, 1).key("k", UINT32_MAX).raw("12345678").bytes()},
        {"value_missing", GgufBuilder(0, 1).key("key", u32).bytes()},
        {"value_cut", GgufBuilder(0, 1).key("k", f64).raw("1234567").bytes()},
        {"string_length_2_63", GgufBuilder(0, 1).key("k", text).number(two_63).raw("x").bytes()},
        {"string_length_max", GgufBuilder(0, 1).key("k", text).number(UINT64_MAX).raw("x").bytes()},
        {"string_cut",
         GgufBuilder(0, 1).key("k", text).number<std::uint64_t>(9).raw("12345678").bytes()},
        {"boolean_2", GgufBuilder(0, 1).key("k", boolean).number<std::uint8_t>(2).bytes()},
        {"list_type_13", GgufBuilder(0, 1).key("k", list).list(13, 0).bytes()},
        {"list_of_lists", GgufBuilder(0, 1).key("k", list).list(list, 1).list(u8, 0).bytes(),
         unsupported},
        {"list_2_63", GgufBuilder(0, 1).key("k", list).list(u32, two_63).bytes()},
        {"list_bytes_wrap",
         GgufBuilder(0, 1).key("k", list).list(u64, std::uint64_t{1} << 61).bytes()},
        {"list_of_strings_2_61",
         GgufBuilder(0, 1).key("k", list).list(text, std::uint64_t{1} << 61).bytes()},
        {"list_cut", GgufBuilder(0, 1).key("k", list).list(u32, 3).raw("12345678").bytes()},
        {"list_string_cut",
         GgufBuilder(0, 1)
             .key("k", list)
             .list(text, 1)
             .number<std::uint64_t>(5)
             .raw("abc")
             .bytes()},
        {"list_boolean_2",
         GgufBuilder(0, 1).key("k", list).list(boolean, 1).number<std::uint8_t>(2).bytes()},
        {"list_number_too_large",
         GgufBuilder(0, 1).key("k", list).list(u64, 1).number(two_63).bytes()},
        {"lfs_pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 77\n"},
        {"web_page", "<html>404</html>"},
        {"zip_checkpoint", "PK\x03\x04" + std::string(60, '\0')},
    };
}

std::string aligned_by(std::uint32_t alignment) {
    return GgufBuilder(0, 1).key("general.alignment", u32).number(alignment).bytes();
}

std::vector<Malformed> malformed_tensors() {
    const auto with = [](const std::string& name, const std::vector<std::uint64_t>& shape,
                         std::uint32_t type, std::uint64_t offset, std::size_t data) {
        return GgufBuilder(1).tensor(name, shape, type, offset).data(data).bytes();
    };
    const auto two = [](std::uint64_t first, std::uint64_t second, const char* name) {
        return GgufBuilder(2)
            .tensor("a", {16}, type_f32, first)
            .tensor(name, {16}, type_f32, second)
            .data(256)
            .bytes();
    };
    const auto unsupported = ErrorCode::unsupported;
    return {
        {"alignment_0", aligned_by(0)},
        {"alignment_3", aligned_by(3)},
        {"alignment_2_21", aligned_by(1u << 21)},
        {"alignment_text", GgufBuilder(0, 1).key("general.alignment", text).text("32").bytes()},
        {"name_empty", with("", {8}, type_f32, 0, 32)},
        {"name_with_nul", with(std::string("a\0", 2), {8}, type_f32, 0, 32)},
        {"name_too_long", with(std::string(1025, 'n'), {8}, type_f32, 0, 32)},
        {"name_twice", two(0, 64, "a")},
        {"rank_0", with("a", {}, type_f32, 0, 32)},
        {"rank_5", with("a", {1, 1, 1, 1, 1}, type_f32, 0, 32)},
        {"rank_max", GgufBuilder(1).text("a").number(UINT32_MAX).data(64).bytes()},
        {"dimension_2_63", with("a", {two_63}, type_f32, 0, 32)},
        {"product_wraps",
         with("a", {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, type_f32, 0, 32)},
        {"bytes_wrap", with("a", {std::uint64_t{1} << 62}, type_f32, 0, 32)},
        {"negative_as_unsigned", with("a", {UINT64_MAX, 2}, type_f32, 0, 32)},
        {"type_removed", with("a", {32}, type_q4_2, 0, 32), unsupported},
        {"type_not_ours", with("a", {256}, type_iq2_xxs, 0, 66), unsupported},
        {"type_99", with("a", {32}, 99, 0, 32), unsupported},
        {"type_max", with("a", {32}, UINT32_MAX, 0, 32), unsupported},
        {"half_a_block", with("a", {48}, type_q8_0, 0, 64)},
        {"offset_odd", with("a", {8}, type_f32, 4, 64)},
        {"offset_outside", with("a", {8}, type_f32, 4096, 32)},
        {"offset_wraps", with("a", {8}, type_f32, UINT64_MAX - 31, 32)},
        {"offset_2_62", with("a", {8}, type_f32, std::uint64_t{1} << 62, 32)},
        {"data_cut", with("a", {8}, type_f32, 0, 31)},
        {"data_gone", GgufBuilder(1).tensor("a", {8}, type_f32, 0).bytes()},
        {"overlap", two(0, 32, "b")},
        {"same_place", two(64, 64, "b")},
        {"tensor_cut_in_shape",
         GgufBuilder(1).text("a").number<std::uint32_t>(4).raw(std::string(20, '\1')).bytes()},
        {"tensor_cut_before_offset",
         GgufBuilder(1).tensor("a", {8}, type_f32, 0).bytes().substr(0, 49)},
        {"split_under_a_plain_name",
         GgufBuilder(0, 1).key("split.count", u32).number<std::uint32_t>(3).bytes(),
         ErrorCode::bad_value},
    };
}

TEST(GgufFile, EveryMalformedFileIsRefusedWithItsCode) {
    const TemporaryFolder folder;
    std::vector<Malformed> files = malformed_headers();
    std::ranges::move(malformed_tensors(), std::back_inserter(files));
    EXPECT_GE(files.size(), 60u);
    for (const Malformed& file : files) {
        const auto path = folder.write(file.name + ".gguf", file.bytes);
        const auto start = std::chrono::steady_clock::now();
        try {
            const GgufFile accepted(path);
            ADD_FAILURE() << file.name << " was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error_code_name(error.code()), error_code_name(file.code))
                << file.name << ": " << error.what();
            EXPECT_EQ(error.subject(), path.string());
        }
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500))
            << file.name;
    }
}

TEST(GgufFile, AHugeListInATinyFileCostsNothing) {
    const TemporaryFolder folder;
    for (const std::uint32_t type : {u8, u32, text, boolean, u64}) {
        const auto path =
            folder.write("tiny.gguf", GgufBuilder(0, 1).key("k", list).list(type, two_63).bytes());
        rusage before{};
        rusage after{};
        getrusage(RUSAGE_SELF, &before);
        const auto start = std::chrono::steady_clock::now();
        EXPECT_THROW(GgufFile{path}, Error);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
        getrusage(RUSAGE_SELF, &after);
        EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 1024); // KiB
    }
}

TEST(GgufFile, ListsAreBoundedInALargeFileToo) {
    const TemporaryFolder folder;
    const auto path =
        folder.write("large.gguf", GgufBuilder(0, 1).key("k", list).list(u8, 1u << 26).bytes());
    std::filesystem::resize_file(path, (1u << 26) + 4096); // sparse
    try {
        const GgufFile accepted(path);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::limit);
    }
}

TEST(GgufFile, EveryCutOfAWholeFileIsRefused) {
    const TemporaryFolder folder;
    const std::string whole = read_file(data_folder / "cases/weights/gguf/whole.gguf", 1 << 16);
    for (std::size_t size = 0; size < whole.size(); size += size < 600 ? 1 : 97) {
        const auto path = folder.write("cut.gguf", whole.substr(0, size));
        EXPECT_THROW(GgufFile{path}, Error) << size;
    }
}

std::string refusal(const std::filesystem::path& path) {
    try {
        const GgufFile accepted(path);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(GgufFile, SaysWhyACutFileIsRefused) {
    const auto folder = data_folder / "cases/weights/gguf";
    const auto says = [&](const char* file) { return refusal(folder / file); };
    EXPECT_NE(says("cut-in-header.gguf").find("ends within the metadata"), std::string::npos);
    EXPECT_NE(says("cut-in-data.gguf")
                  .find("`output_norm.weight` needs bytes up to 2176, the file has 2168"),
              std::string::npos);
    EXPECT_NE(says("model.gguf.part1of2").find("the name says part 1 of 2: join the parts first"),
              std::string::npos);
    const auto wraps = says("offset-wraps.gguf");
    EXPECT_NE(wraps.find("`output_norm.weight` lies outside the file"), std::string::npos) << wraps;
}

TEST(GgufFile, AWholeFileGivesItsTensors) {
    const GgufFile file(data_folder / "cases/weights/gguf/whole.gguf");
    EXPECT_EQ(file.version(), 3u);
    EXPECT_EQ(file.find_string("general.architecture"), "llama");
    EXPECT_EQ(file.find_integer("llama.context_length"), 256);
    ASSERT_EQ(file.tensors().size(), 4u);
    const GgufTensor* tensor = file.find_tensor("blk.0.ffn_up.weight");
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->shape, (std::vector<std::int64_t>{32, 8}));
    std::vector<float> values(256);
    dequantize(tensor->type, tensor->bytes, values);
    for (std::size_t n = 0; n < values.size(); ++n)
        EXPECT_EQ(values[n], static_cast<float>(n) / 8 - 3);
    EXPECT_EQ(file.find_tensor("no"), nullptr);
}

TEST(GgufFile, ReadsWhatTheReferenceWrote) {
    const GgufFile file(data_folder / "io/reference.gguf");
    EXPECT_EQ(file.find_integer("u8"), 255);
    EXPECT_EQ(file.find_integer("i8"), -128);
    EXPECT_EQ(file.find_integer("u16"), 65535);
    EXPECT_EQ(file.find_integer("i16"), -32768);
    EXPECT_EQ(file.find_integer("u32"), 4294967295);
    EXPECT_EQ(file.find_integer("i32"), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(file.find_integer("i64"), std::numeric_limits<std::int64_t>::min());
    EXPECT_THROW(file.find_integer("u64"), Error);
    EXPECT_EQ(file.find_number("u64"), 0x1p64);
    EXPECT_EQ(file.find_number("f32"), 0.25);
    EXPECT_EQ(file.find_number("f64"), -0.1);
    EXPECT_EQ(file.find_number("u8"), 255.0);
    EXPECT_EQ(file.find_bool("yes"), true);
    EXPECT_EQ(file.find_bool("no"), false);
    EXPECT_EQ(file.find_string("text"), "naïve\n名");
    EXPECT_EQ(*file.find_strings("strings"), (std::vector<std::string>{"a", "", "名"}));
    EXPECT_EQ(*file.find_integers("integers"), (std::vector<std::int64_t>{3, -1, 2}));
    EXPECT_EQ(*file.find_numbers("numbers"), (std::vector<double>{0.5, -2.0}));
    EXPECT_EQ(*file.find_integers("bools"), (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(file.find_string("nothing"), std::nullopt);
    EXPECT_EQ(file.find_strings("nothing"), nullptr);
    EXPECT_THROW(file.find_string("u8"), Error);
    EXPECT_THROW(file.find_bool("u8"), Error);
    EXPECT_THROW(file.find_number("text"), Error);
    EXPECT_THROW(file.find_strings("integers"), Error);
    EXPECT_THROW(file.find_integers("numbers"), Error);
    EXPECT_THROW(file.find_numbers("text"), Error);
    const GgufTensor* rows = file.find_tensor("q8_0");
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(rows->type, GgmlType::q8_0);
    EXPECT_EQ(rows->shape, (std::vector<std::int64_t>{2, 32}));
    std::vector<float> values(64);
    dequantize(rows->type, rows->bytes, values);
    for (std::size_t n = 0; n < values.size(); ++n)
        EXPECT_NEAR(values[n], static_cast<float>(n), 0.3); // 63 / 127 / 2 and the scale's rounding
}

// Parts of a split model as llama.cpp's splitter writes them.
std::string split_part(std::uint16_t number, std::uint16_t count, const std::string& tensor,
                       std::int32_t tensors) {
    constexpr std::uint32_t u16 = 2, i32 = 5;
    return GgufBuilder(1, number == 0 ? 4 : 3)
        .key("split.no", u16)
        .number(number)
        .key("split.count", u16)
        .number(count)
        .key("split.tensors.count", i32)
        .number(tensors)
        .raw(number == 0
                 ? GgufBuilder().key("only.first", u8).number<std::uint8_t>(9).bytes().substr(24)
                 : "")
        .tensor(tensor, {8}, type_f32, 0)
        .data(32)
        .bytes();
}

TEST(GgufFile, ASplitModelIsReadWholeFromAnyPart) {
    const TemporaryFolder folder;
    folder.write("m-00001-of-00003.gguf", split_part(0, 3, "a", 3));
    folder.write("m-00002-of-00003.gguf", split_part(1, 3, "b", 3));
    const auto third = folder.write("m-00003-of-00003.gguf", split_part(2, 3, "c", 3));
    const GgufFile file(third);
    EXPECT_EQ(file.tensors().size(), 3u);
    EXPECT_EQ(file.find_integer("only.first"), 9);
    EXPECT_NE(file.find_tensor("b"), nullptr);

    const auto with = [&](const std::string& bytes) {
        folder.write("m-00002-of-00003.gguf", bytes);
        return refusal(third);
    };
    EXPECT_NE(with(split_part(2, 3, "b", 3)).find("say part 3 of 3"), std::string::npos);
    EXPECT_NE(with(split_part(1, 3, "a", 3)).find("`a` is there twice"), std::string::npos);
    folder.write("m-00001-of-00003.gguf", split_part(0, 3, "a", 4));
    EXPECT_NE(with(split_part(1, 3, "b", 4)).find("hold 3 tensors, needed are 4"),
              std::string::npos);
    std::filesystem::remove(folder.path() / "m-00002-of-00003.gguf");
    EXPECT_NE(refusal(third).find("part 2 of 3 is missing: m-00002-of-00003.gguf"),
              std::string::npos);
}

TEST(Dequantize, EqualsTheGgufPackageBitForBit) {
    const std::string golden = read_file(data_folder / "io/ggml_blocks.bin", 1 << 20);
    std::size_t types = 0;
    for (std::size_t at = 0; at < golden.size(); ++types) {
        std::array<std::uint32_t, 3> head{};
        std::memcpy(head.data(), golden.data() + at, sizeof(head));
        at += sizeof(head);
        const auto type = static_cast<GgmlType>(head[0]);
        std::vector<float> values(head[2]);
        EXPECT_EQ(ggml_bytes(type, head[2]), head[1]);
        dequantize(type, std::as_bytes(std::span(golden).subspan(at, head[1])), values);
        at += head[1];
        EXPECT_EQ(std::memcmp(values.data(), golden.data() + at, head[2] * sizeof(float)), 0)
            << ggml_type_name(type);
        at += head[2] * sizeof(float);
    }
    EXPECT_EQ(types, 17u);
}

// Types of intermediate results, which the package does not decode; their layout is
// ggml-common.h's.
TEST(Dequantize, IntermediateAndPlainTypesByHand) {
    std::string q8_1(36, '\0');
    q8_1[1] = 0x40; // 2.0 in half precision
    q8_1[4] = 3;
    q8_1[35] = -4;
    std::vector<float> values(32);
    dequantize(GgmlType::q8_1, std::as_bytes(std::span(q8_1)), values);
    EXPECT_EQ(values.front(), 6.0f);
    EXPECT_EQ(values.back(), -8.0f);

    std::string q8_k(292, '\0');
    const float half = 0.5f;
    std::memcpy(q8_k.data(), &half, 4);
    q8_k[4] = 5;
    q8_k[259] = -128;
    values.resize(256);
    dequantize(GgmlType::q8_k, std::as_bytes(std::span(q8_k)), values);
    EXPECT_EQ(values.front(), 2.5f);
    EXPECT_EQ(values.back(), -64.0f);

    const std::array<double, 2> doubles{0.5, -3.0};
    std::array<float, 2> two{};
    dequantize(GgmlType::f64, std::as_bytes(std::span(doubles)), two);
    EXPECT_EQ(two, (std::array{0.5f, -3.0f}));
    const std::array<float, 2> floats{1.5f, 2.0f};
    dequantize(GgmlType::f32, std::as_bytes(std::span(floats)), two);
    EXPECT_EQ(two, floats);
}

ErrorCode dequantize_refusal(GgmlType type, std::size_t bytes, std::size_t elements) {
    const std::vector<std::byte> input(bytes);
    std::vector<float> out(elements);
    try {
        dequantize(type, input, out);
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::failure;
}

TEST(Dequantize, RefusesSizesThatDoNotFitAndWholeNumbers) {
    EXPECT_EQ(dequantize_refusal(GgmlType::q4_1, 19, 32), ErrorCode::bad_format);
    EXPECT_EQ(dequantize_refusal(GgmlType::q4_1, 20, 31), ErrorCode::bad_format);
    EXPECT_EQ(dequantize_refusal(GgmlType::q6_k, 210, 512), ErrorCode::bad_format);
    EXPECT_EQ(dequantize_refusal(GgmlType::i32, 16, 4), ErrorCode::unsupported);
    EXPECT_EQ(dequantize_refusal(static_cast<GgmlType>(99), 16, 4), ErrorCode::bad_format);
    EXPECT_EQ(dequantize_refusal(GgmlType::q4_1, 0, 0), ErrorCode::failure);
    EXPECT_THROW(ggml_bytes(GgmlType::f64, std::uint64_t{1} << 62), Error);
    EXPECT_EQ(ggml_bytes(GgmlType::i64, 3), 24u);
    EXPECT_EQ(ggml_type_name(GgmlType::mxfp4), "MXFP4");
}

} // namespace
} // namespace cuset
