// FP8 checkpoints beyond the goldens: the scales' ways, and what is refused (PB6).
#include "core/model/float8_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/weight_source.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using testing::HasSubstr;

const std::string weight_name = "model.layers.0.mlp.up_proj.weight";

// A folder whose only weight is an FP8 matrix [4, 4] of 1, with the scales that are given.
class Folder {
public:
    Folder()
        : copy_("qwen2") { }
    void write(DType weight, const std::string& scale_name, std::vector<std::int64_t> shape,
               const std::vector<float>& scales) const {
        const std::vector<std::byte> ones(16, std::byte{0x38}); // 1 in E4M3
        std::vector<NamedTensor> tensors{{weight_name, {weight, {4, 4}, ones}}};
        if (!scale_name.empty())
            tensors.push_back(
                {scale_name, {DType::f32, std::move(shape), std::as_bytes(std::span(scales))}});
        write_safetensors(copy_.path() / "model.safetensors", tensors, {});
    }
    const test::ModelCopy& copy() const { return copy_; }
    at::Tensor read() const {
        const ModelFolder folder(copy_.path());
        at::Tensor out = at::empty({4, 4});
        open_weights(folder)->read(weight_name, out);
        return out;
    }
    std::string refusal() const {
        try {
            read();
        } catch (const Error& error) {
            return error.what();
        }
        return "was read";
    }

private:
    test::ModelCopy copy_;
};

TEST(Float8Weights, TheCaseIsScaledByItsBlocks) {
    const test::ModelCopy copy("qwen2");
    std::filesystem::copy_file(
        test::data_folder() / "cases" / "PB6-unsupported-says-so" / "fp8.safetensors",
        copy.path() / "model.safetensors", std::filesystem::copy_options::overwrite_existing);
    const ModelFolder folder(copy.path());
    at::Tensor out = at::empty({4, 4});
    open_weights(folder)->read(weight_name, out);
    EXPECT_TRUE(at::equal(out[3], at::tensor({0.5f, -0.5f, 1.f, 224.f})));
}

TEST(Float8Weights, OneScaleOrOneForEachRow) {
    const Folder folder;
    folder.write(DType::f8_e4m3, weight_name + "_scale", {}, {0.25f});
    EXPECT_TRUE(at::equal(folder.read(), at::full({4, 4}, 0.25f)));
    folder.write(DType::f8_e4m3, weight_name + "_scale", {4, 1}, {1.f, 2.f, 3.f, 4.f});
    EXPECT_TRUE(at::equal(folder.read().select(1, 2), at::tensor({1.f, 2.f, 3.f, 4.f})));
    folder.write(DType::f8_e4m3, weight_name + "_scale", {4}, {1.f, 2.f, 3.f, 4.f});
    EXPECT_TRUE(at::equal(folder.read().select(1, 3), at::tensor({1.f, 2.f, 3.f, 4.f})));
}

TEST(Float8Weights, BlocksOfTheSizeThatTheConfigGives) {
    const Folder folder;
    folder.copy().change_config([](nlohmann::json& c) {
        c["quantization_config"] = {{"quant_method", "fp8"}, {"weight_block_size", {3, 2}}};
    });
    folder.write(DType::f8_e4m3, weight_name + "_scale_inv", {2, 2}, {1.f, 2.f, 3.f, 4.f});
    const at::Tensor out = folder.read();
    EXPECT_TRUE(at::equal(out[2], at::tensor({1.f, 1.f, 2.f, 2.f})));
    EXPECT_TRUE(at::equal(out[3], at::tensor({3.f, 3.f, 4.f, 4.f})));
}

TEST(Float8Weights, WhatIsRefused) {
    const Folder folder;
    folder.write(DType::f8_e4m3, "", {}, {});
    EXPECT_THAT(folder.refusal(), HasSubstr("FP8 weight without weight_scale_inv"));
    folder.write(DType::f8_e4m3, weight_name + "_scale", {3}, {1.f, 2.f, 3.f});
    EXPECT_THAT(folder.refusal(), HasSubstr("scales fit neither blocks of 128 x 128"));
    folder.write(DType::i8, weight_name + "_scale", {}, {1.f});
    EXPECT_THAT(folder.refusal(), HasSubstr("its weight is no FP8"));
    EXPECT_THAT(folder.refusal(), HasSubstr("GGUF"));
}

} // namespace
} // namespace cuset
