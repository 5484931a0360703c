#include "core/io/safetensors_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/io/float8.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

const std::filesystem::path data_folder = CUSET_TEST_DATA;

std::string little_endian(std::uint64_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string file_of(const std::string& header, std::size_t data_bytes = 0) {
    return little_endian(header.size()) + header + std::string(data_bytes, '\1');
}

// One F32 tensor `a` of one element whose entry is `fields`.
std::string entry(const std::string& fields) {
    return "{\"a\":{" + fields + "}}";
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape
        + ",\"data_offsets\":" + offsets + "}";
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{" + tensor("a", dtype, shape, offsets) + "}";
}

struct Malformed {
    std::string name;
    std::string bytes;
    ErrorCode code = ErrorCode::bad_format;
};

std::vector<Malformed> malformed_files() {
    const std::string good = tensor("a", "F32", "[1]", "[0,4]");
    std::vector<Malformed> files{
        {"empty", ""},
        {"one_byte", "x"},
        {"seven_bytes", std::string(7, '\0')},
        {"header_length_zero", std::string(8, '\0')},
        {"length_one_too_large", little_endian(3) + "{}"},
        {"length_2_63", little_endian(std::uint64_t{1} << 63) + "{}"},
        {"length_max", little_endian(UINT64_MAX) + "{}"},
        {"length_wraps_with_its_own_eight", little_endian(UINT64_MAX - 7) + "{}"},
        {"array", file_of("[]")},
        {"string", file_of("\"a\"")},
        {"number", file_of("1")},
        {"null", file_of("null")},
        {"only_spaces", file_of("    ")},
        {"leading_space", file_of(" {}")},
        {"leading_newline", file_of("\n{}")},
        {"byte_order_mark", file_of("\xef\xbb\xbf{}")},
        {"cut_json", file_of("{")},
        {"cut_in_string", file_of("{\"a")},
        {"extra_brace", file_of("{}}")},
        {"text_after", file_of("{}x")},
        {"newline_after", file_of("{}\n")},
        {"nul_padding", file_of(std::string("{}\0\0", 4))},
        {"two_objects", file_of("{} {}")},
        {"comment", file_of("{/*x*/}")},
        {"trailing_comma", file_of("{" + good + ",}", 4)},
        {"single_quotes", file_of("{'a':1}")},
        {"invalid_utf8", file_of("{" + tensor("\xff", "F32", "[1]", "[0,4]") + "}", 4)},
        {"overlong_utf8", file_of("{" + tensor("\xc0\xaf", "F32", "[1]", "[0,4]") + "}", 4)},
        {"lone_surrogate", file_of("{" + tensor("\\ud800", "F32", "[1]", "[0,4]") + "}", 4)},
        {"raw_control", file_of("{" + tensor("a\tb", "F32", "[1]", "[0,4]") + "}", 4)},
        {"nan", file_of("{\"a\":NaN}")},
        {"name_twice", file_of("{" + good + "," + tensor("a", "F32", "[1]", "[4,8]") + "}", 8)},
        {"name_twice_the_same", file_of("{" + good + "," + good + "}", 4)},
        {"name_twice_escaped",
         file_of("{" + good + "," + tensor("\\u0061", "F32", "[0]", "[4,4]") + "}", 4)},
        {"dtype_twice",
         file_of(entry(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), 4)},
        {"shape_twice",
         file_of(entry(R"("dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4])"), 4)},
        {"offsets_twice",
         file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"data_offsets":[0,4])"),
                 4)},
        {"metadata_twice", file_of(R"({"__metadata__":{},"__metadata__":{}})")},
        {"metadata_key_twice", file_of(R"({"__metadata__":{"k":"v","k":"v"}})")},
        {"metadata_number", file_of(R"({"__metadata__":{"k":1}})")},
        {"metadata_boolean", file_of(R"({"__metadata__":{"k":true}})")},
        {"metadata_object", file_of(R"({"__metadata__":{"k":{}}})")},
        {"metadata_list", file_of(R"({"__metadata__":["k"]})")},
        {"metadata_null", file_of(R"({"__metadata__":null})")},
        {"metadata_text", file_of(R"({"__metadata__":"k"})")},
        {"no_dtype", file_of(entry(R"("shape":[1],"data_offsets":[0,4])"), 4)},
        {"no_shape", file_of(entry(R"("dtype":"F32","data_offsets":[0,4])"), 4)},
        {"no_offsets", file_of(entry(R"("dtype":"F32","shape":[1])"), 4)},
        {"no_fields", file_of(entry(""), 4)},
        {"unknown_field",
         file_of(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"), 4)},
        {"dtype_number", file_of(entry(R"("dtype":1,"shape":[1],"data_offsets":[0,4])"), 4)},
        {"dtype_null", file_of(entry(R"("dtype":null,"shape":[1],"data_offsets":[0,4])"), 4)},
        {"dtype_unknown", file_of(one("F31", "[1]", "[0,4]"), 4), ErrorCode::unsupported},
        {"dtype_lower_case", file_of(one("f32", "[1]", "[0,4]"), 4), ErrorCode::unsupported},
        {"dtype_f4", file_of(one("F4", "[2]", "[0,1]"), 1), ErrorCode::unsupported},
        {"dtype_scale", file_of(one("F8_E8M0", "[1]", "[0,1]"), 1), ErrorCode::unsupported},
        {"shape_null", file_of(one("F32", "null", "[0,4]"), 4)},
        {"shape_number", file_of(one("F32", "1", "[0,4]"), 4)},
        {"shape_negative", file_of(one("F32", "[-1]", "[0,4]"), 4)},
        {"shape_negative_zero", file_of(one("F32", "[-0]", "[0,0]"))},
        {"shape_fraction", file_of(one("F32", "[1.0]", "[0,4]"), 4)},
        {"shape_exponent", file_of(one("F32", "[1e0]", "[0,4]"), 4)},
        {"shape_text", file_of(one("F32", "[\"1\"]", "[0,4]"), 4)},
        {"shape_nested", file_of(one("F32", "[[1]]", "[0,4]"), 4)},
        {"dimension_2_63", file_of(one("U8", "[9223372036854775808]", "[0,4]"), 4)},
        {"dimension_2_64", file_of(one("U8", "[18446744073709551616]", "[0,4]"), 4)},
        {"product_wraps", file_of(one("U8", "[4294967296,4294967296]", "[0,0]"))},
        {"bytes_wrap", file_of(one("F32", "[4611686018427387904]", "[0,0]"))},
        {"rank_nine", file_of(one("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4)},
        {"offsets_none", file_of(one("F32", "[1]", "[]"), 4)},
        {"offsets_one", file_of(one("F32", "[1]", "[0]"), 4)},
        {"offsets_three", file_of(one("F32", "[1]", "[0,4,8]"), 4)},
        {"offsets_negative", file_of(one("F32", "[1]", "[-4,0]"), 4)},
        {"offsets_fraction", file_of(one("F32", "[1]", "[0.0,4.0]"), 4)},
        {"offsets_backwards", file_of(one("F32", "[1]", "[4,0]"), 4)},
        {"offsets_too_few", file_of(one("F32", "[2]", "[0,4]"), 4)},
        {"offsets_too_many", file_of(one("F32", "[1]", "[0,8]"), 8)},
        {"hole_at_start", file_of(one("F32", "[1]", "[4,8]"), 8)},
        {"hole", file_of("{" + good + "," + tensor("b", "F32", "[1]", "[8,12]") + "}", 12)},
        {"overlap", file_of("{" + good + "," + tensor("b", "U8", "[4]", "[2,6]") + "}", 6)},
        {"same_place", file_of("{" + good + "," + tensor("b", "F32", "[1]", "[0,4]") + "}", 4)},
        {"bytes_after", file_of("{" + good + "}", 5)},
        {"data_cut", file_of("{" + good + "}", 3)},
        {"data_gone", file_of("{" + good + "}")},
        {"data_without_tensors", file_of("{}", 1)},
        {"entry_list", file_of("{\"a\":[]}")},
        {"entry_null", file_of("{\"a\":null}")},
        {"entry_number", file_of("{\"a\":1}")},
        {"name_too_long",
         file_of("{" + tensor(std::string(1025, 'n'), "F32", "[1]", "[0,4]") + "}", 4)},
        {"name_with_nul", file_of("{" + tensor("a\\u0000b", "F32", "[1]", "[0,4]") + "}", 4)},
        {"nested_deep", file_of("{\"a\":" + std::string(1'000'000, '['))},
        {"objects_deep", file_of("{\"a\":{\"dtype\":{\"b\":{}}}}")},
        {"web_page", "<!DOCTYPE html><html><body>404</body></html>"},
        {"zip_checkpoint", "PK\x03\x04" + std::string(60, '\0')},
        {"pickle_checkpoint", "\x80\x02}q" + std::string(60, '\0')},
        {"gguf", "GGUF" + std::string(60, '\0')},
        {"compressed", "\x1f\x8b" + std::string(60, '\0')},
    };
    return files;
}

TEST(SafetensorsFile, EveryMalformedFileIsRefusedWithItsCode) {
    const TemporaryFolder folder;
    const std::vector<Malformed> files = malformed_files();
    EXPECT_GE(files.size(), 60u);
    for (const Malformed& file : files) {
        const auto path = folder.write(file.name + ".safetensors", file.bytes);
        const auto start = std::chrono::steady_clock::now();
        try {
            const SafetensorsFile accepted(path);
            ADD_FAILURE() << file.name << " was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error_code_name(error.code()), error_code_name(file.code))
                << file.name << ": " << error.what();
            EXPECT_EQ(error.subject(), path.string());
            EXPECT_LT(error.message().size(), 600u) << file.name;
        }
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500))
            << file.name;
    }
}

TEST(SafetensorsFile, AHeaderOverTheLimitIsRefusedUnread) {
    const TemporaryFolder folder;
    const auto path = folder.write("large.safetensors", little_endian(100'000'001) + "{");
    std::filesystem::resize_file(path, 100'000'100); // sparse
    try {
        const SafetensorsFile accepted(path);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_format);
        EXPECT_NE(error.message().find("100000001"), std::string::npos);
    }
}

std::string refusal(const std::filesystem::path& path) {
    try {
        const SafetensorsFile accepted(path);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(SafetensorsFile, SaysWhatStandsInPlaceOfWeights) {
    const auto folder = data_folder / "cases/weights/not-safetensors";
    const auto says = [&](const char* file) { return refusal(folder / file); };
    const auto lfs = says("lfs-pointer.safetensors");
    EXPECT_NE(lfs.find("Git LFS pointer"), std::string::npos);
    EXPECT_NE(lfs.find("3087467144"), std::string::npos);
    EXPECT_NE(lfs.find("lfs-pointer.safetensors"), std::string::npos);
    EXPECT_NE(says("five-bytes.safetensors").find("5 bytes, too short"), std::string::npos);
    EXPECT_NE(says("length-2e63.safetensors")
                  .find("header length 9223372036854775872 is larger than the file"),
              std::string::npos);
    EXPECT_NE(
        says("length-beyond-end.safetensors").find("header length 4096 is larger than the file"),
        std::string::npos);
    EXPECT_NE(says("array-header.safetensors").find("JSON but not an object"), std::string::npos);
}

TEST(SafetensorsFile, MissingFilesAndFoldersHaveTheirOwnCodes) {
    const TemporaryFolder folder;
    const auto code_of = [](const std::filesystem::path& path) {
        try {
            const SafetensorsFile accepted(path);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::failure;
    };
    EXPECT_EQ(code_of(folder.path() / "none"), ErrorCode::not_found);
    EXPECT_EQ(code_of(folder.path()), ErrorCode::unreadable);
    EXPECT_EQ(code_of("/dev/null"), ErrorCode::unreadable);
    std::filesystem::create_symlink("gone", folder.path() / "link");
    EXPECT_EQ(code_of(folder.path() / "link"), ErrorCode::not_found);
}

TEST(SafetensorsFile, ReadsWhatTheReferenceWrote) {
    const SafetensorsFile file(data_folder / "io/reference.safetensors");
    EXPECT_EQ(file.tensors().size(), 18u);
    for (const auto& [name, tensor] : file.tensors()) {
        if (tensor.shape.size() == 2 && name != "empty") {
            EXPECT_EQ(dtype_name(tensor.dtype), name);
            EXPECT_EQ(tensor.bytes.size(), 6 * dtype_size(tensor.dtype));
        }
    }
    EXPECT_TRUE(file.require_tensor("scalar").shape.empty());
    EXPECT_EQ(file.require_tensor("empty").shape, (std::vector<std::int64_t>{0, 4}));
    std::array<float, 2> values{};
    std::memcpy(values.data(), file.require_tensor("naïve \"name\" 名").bytes.data(), 8);
    EXPECT_EQ(values, (std::array{0.0f, 1.0f}));
    EXPECT_EQ(file.metadata().at("format"), "pt");
    EXPECT_EQ(file.metadata().at("clé"), "a \"b\"\n");
    EXPECT_EQ(file.find_tensor("no"), nullptr);
    EXPECT_THROW(file.require_tensor("no"), Error);
}

TEST(SafetensorsFile, RandomFilesComeBackAsTheyWereWritten) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "random.safetensors";
    std::mt19937 random(7);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    for (int round = 0; round < 60; ++round) {
        std::vector<std::string> buffers;
        std::vector<NamedTensor> tensors;
        std::map<std::string, std::string> metadata;
        for (std::uint64_t n = below(4); n > 0; --n)
            metadata["k\n\"" + std::to_string(n)] = std::string(below(40), '\x7f');
        const std::uint64_t count = below(12);
        buffers.reserve(count);
        for (std::uint64_t n = 0; n < count; ++n) {
            TensorView view;
            view.dtype = static_cast<DType>(below(15));
            std::uint64_t bytes = dtype_size(view.dtype);
            for (std::uint64_t rank = below(5); rank > 0; --rank) {
                view.shape.push_back(static_cast<std::int64_t>(below(6)));
                bytes *= static_cast<std::uint64_t>(view.shape.back());
            }
            std::string& buffer = buffers.emplace_back();
            for (std::uint64_t byte = 0; byte < bytes; ++byte)
                buffer += static_cast<char>(below(256));
            view.bytes = std::as_bytes(std::span(buffer));
            tensors.push_back({"name " + std::to_string(n) + " \\é", view});
        }
        write_safetensors(path, tensors, metadata);
        const SafetensorsFile file(path);
        ASSERT_EQ(file.tensors().size(), tensors.size());
        EXPECT_TRUE(std::ranges::equal(file.metadata(), metadata));
        for (const NamedTensor& written : tensors) {
            const TensorView& read = file.require_tensor(written.name);
            EXPECT_EQ(read.dtype, written.tensor.dtype);
            EXPECT_EQ(read.shape, written.tensor.shape);
            EXPECT_TRUE(std::ranges::equal(read.bytes, written.tensor.bytes));
        }
    }
}

TEST(SafetensorsWriter, RefusesWhatNoReaderCouldUse) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "x.safetensors";
    const std::string four(4, '\0');
    const TensorView view{DType::f32, {1}, std::as_bytes(std::span(four))};
    const TensorView wrong{DType::f32, {2}, view.bytes};
    const auto refused = [&](const std::vector<NamedTensor>& tensors,
                             const std::map<std::string, std::string>& metadata) {
        try {
            write_safetensors(path, tensors, metadata);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::failure;
    };
    EXPECT_EQ(refused({{"a", wrong}}, {}), ErrorCode::bad_value);
    EXPECT_EQ(refused({{"a", view}, {"a", view}}, {}), ErrorCode::bad_value);
    EXPECT_EQ(refused({{"__metadata__", view}}, {}), ErrorCode::bad_value);
    EXPECT_EQ(refused({{"\xff", view}}, {}), ErrorCode::bad_value);
    EXPECT_EQ(refused({{"a", view}}, {{"k", "\xff"}}), ErrorCode::bad_value);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Float8, EqualsTorchForEveryValue) {
    const std::string golden = read_file(data_folder / "io/float8.bin", 4096);
    std::array<float, 512> expected{};
    ASSERT_EQ(golden.size(), sizeof(expected));
    std::memcpy(expected.data(), golden.data(), golden.size());
    for (unsigned n = 0; n < 256; ++n) {
        const std::array<float, 2> ours{float8_e4m3_to_float(static_cast<std::uint8_t>(n)),
                                        float8_e5m2_to_float(static_cast<std::uint8_t>(n))};
        for (std::size_t kind = 0; kind < 2; ++kind) {
            const float wanted = expected[kind * 256 + n];
            if (std::isnan(wanted))
                EXPECT_TRUE(std::isnan(ours[kind])) << n;
            else
                EXPECT_EQ(std::bit_cast<std::uint32_t>(ours[kind]),
                          std::bit_cast<std::uint32_t>(wanted))
                    << n;
        }
    }
}

TEST(Float8, AWeightIsMultipliedByItsBlocksScales) {
    const SafetensorsFile file(data_folder / "cases/weights/fp8.safetensors");
    const TensorView& weight = file.require_tensor("model.layers.0.mlp.up_proj.weight");
    EXPECT_EQ(weight.dtype, DType::f8_e4m3);
    std::array<float, 16> out{};
    const std::array half{0.5f};
    decode_float8(weight, half, 128, 128, out);
    EXPECT_EQ(out[0], 0.5f); // 0x38 is 1
    EXPECT_EQ(out[1], -0.5f); // 0xb8 is -1
    EXPECT_EQ(out[3], 0x1p-10f); // the smallest subnormal, 2^-9
    EXPECT_EQ(out[4], 224.0f); // 0x7e is 448, the largest
    const std::array<float, 4> four{1, 2, 3, 4};
    decode_float8(weight, four, 3, 3, out);
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[3], 0x1p-8f);
    EXPECT_EQ(out[12], 3 * float8_e4m3_to_float(0x50));
    EXPECT_EQ(out[15], 4 * float8_e4m3_to_float(0x48));
    EXPECT_THROW(decode_float8(weight, half, 2, 2, out), Error);
    EXPECT_THROW(decode_float8(weight, half, 0, 1, out), Error);
    EXPECT_THROW(decode_float8(file.require_tensor("model.layers.0.mlp.up_proj.weight_scale_inv"),
                               half, 128, 128, std::span(out).first(1)),
                 Error);
}

} // namespace
} // namespace cuset
