// Spans to token labels, and corrections made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cuda/label_corrections.h"
#include "core/cuda/token_labels.h"

namespace cuset {
namespace {

using testing::ElementsAre;

TEST(TokenLabels, SharedByteDecides) {
    CudaStructure structure;
    KernelDefinition kernel;
    kernel.span = {0, 20};
    kernel.body = {10, 20};
    structure.kernels.push_back(kernel);
    structure.dim3.push_back({24, 30});
    structure.spans.push_back({SensitiveKind::atomic, {12, 14}, "rule"});
    structure.spans.push_back({SensitiveKind::memory_access, {13, 16}, "rule"});
    const std::vector<ByteSpan> tokens{{0, 10},  {10, 13}, {13, 14}, {14, 21},
                                       {21, 24}, {24, 25}, {30, 31}, {31, 31}};
    const LabelBits atomic = kind_bit(SensitiveKind::atomic);
    const LabelBits memory = kind_bit(SensitiveKind::memory_access);
    EXPECT_THAT(label_tokens(structure, tokens),
                ElementsAre(0, kernel_bit | atomic, kernel_bit | atomic | memory,
                            kernel_bit | memory, 0, launch_bit, 0, 0));
}

TEST(TokenLabels, NoTokens) {
    EXPECT_TRUE(label_tokens(find_cuda_structure("__global__ void k() {}"), {}).empty());
}

TEST(Corrections, LaterOnesWinAndTheKernelBitStays) {
    const std::vector<ByteSpan> tokens{{0, 4}, {4, 8}, {8, 12}, {0, 0}};
    std::vector<LabelBits> labels{
        static_cast<LabelBits>(kernel_bit | kind_bit(SensitiveKind::atomic)), launch_bit,
        kernel_bit, 0};
    const std::vector<LabelCorrection> corrections{{"a", {2, 9}, SensitiveKind::synchronization},
                                                   {"a", {4, 5}, std::nullopt},
                                                   {"a", {8, 9}, SensitiveKind::launch_config},
                                                   {"b", {0, 12}, std::nullopt}};
    apply_corrections(corrections, "a", tokens, labels);
    EXPECT_THAT(labels,
                ElementsAre(kernel_bit | kind_bit(SensitiveKind::synchronization), 0,
                            kernel_bit | launch_bit | kind_bit(SensitiveKind::launch_config), 0));
}

TEST(Corrections, WrittenAndReadBack) {
    const std::vector<LabelCorrection> corrections{
        {"file.cu \"x\"\n", {0, 12}, SensitiveKind::warp_intrinsic}, {"b", {3, 4}, std::nullopt}};
    EXPECT_EQ(read_corrections(write_corrections(corrections), "x.labels.json"), corrections);
    EXPECT_TRUE(read_corrections(write_corrections({}), "x").empty());
}

ErrorCode code_of(const std::string& json) {
    try {
        read_corrections(json, "x.labels.json");
    } catch (const Error& error) {
        EXPECT_EQ(error.subject(), "x.labels.json");
        return error.code();
    }
    return ErrorCode::failure;
}

TEST(Corrections, BadFilesAreRefused) {
    const auto file = [](const std::string& list) {
        return "{\"format\": \"cuset-labels\", \"format_version\": 1, \"corrections\": " + list
            + "}";
    };
    EXPECT_EQ(code_of("{"), ErrorCode::bad_format);
    EXPECT_EQ(code_of("[]"), ErrorCode::bad_format);
    EXPECT_EQ(code_of(std::string(100000, '[')), ErrorCode::bad_format);
    EXPECT_EQ(code_of("{\"format\": \"cuset-labels\", \"format_version\": 2, \"corrections\": []}"),
              ErrorCode::unsupported);
    EXPECT_EQ(code_of(file("{}")), ErrorCode::bad_format);
    EXPECT_EQ(code_of(file("[{\"id\": \"a\", \"begin\": 0, \"end\": 2}]")), ErrorCode::bad_format);
    EXPECT_EQ(code_of(file("[{\"id\": \"a\", \"begin\": 0, \"end\": 2, \"kind\": \"x\"}]")),
              ErrorCode::bad_value);
    EXPECT_EQ(code_of(file("[{\"id\": \"a\", \"begin\": -1, \"end\": 2, \"kind\": \"atomic\"}]")),
              ErrorCode::bad_value);
    EXPECT_EQ(code_of(file("[{\"id\": \"a\", \"begin\": 0, \"end\": 1e30, \"kind\": \"atomic\"}]")),
              ErrorCode::bad_value);
    EXPECT_EQ(code_of(file("[{\"id\": \"a\", \"begin\": 5, \"end\": 5, \"kind\": \"atomic\"}]")),
              ErrorCode::bad_value);
}

} // namespace
} // namespace cuset
