// config.json made from a ModelConfig, as for a folder made from a GGUF file.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/folder_texts.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

void expect_same(const ModelConfig& a, const ModelConfig& b) {
    EXPECT_EQ(a.family, b.family);
    EXPECT_EQ(a.parameters(), b.parameters());
    EXPECT_EQ(a.hidden, b.hidden);
    EXPECT_EQ(a.intermediate, b.intermediate);
    EXPECT_EQ(a.layers, b.layers);
    EXPECT_EQ(a.heads, b.heads);
    EXPECT_EQ(a.kv_heads, b.kv_heads);
    EXPECT_EQ(a.head_dim, b.head_dim);
    EXPECT_EQ(a.vocabulary, b.vocabulary);
    EXPECT_EQ(a.context_length, b.context_length);
    EXPECT_EQ(a.norm_epsilon, b.norm_epsilon);
    EXPECT_EQ(a.tied_head, b.tied_head);
    EXPECT_EQ(a.qkv_bias, b.qkv_bias);
    EXPECT_EQ(a.qk_norm, b.qk_norm);
    EXPECT_EQ(a.windows, b.windows);
    EXPECT_EQ(a.eos_ids, b.eos_ids);
    EXPECT_EQ(a.bos_id, b.bos_id);
    for (const std::int64_t length : {1, 4096, 100000}) {
        const RopeFrequencies x = rope_frequencies(a.rope, length),
                              y = rope_frequencies(b.rope, length);
        EXPECT_EQ(x.inv_freq, y.inv_freq);
        EXPECT_EQ(x.attention_scaling, y.attention_scaling);
    }
}

TEST(FolderTexts, ConfigComesBack) {
    for (const char* name : {"llama", "llama-linear-rope", "llama3-rope", "mistral-window", "qwen2",
                             "qwen2-yarn", "qwen3"}) {
        SCOPED_TRACE(name);
        const ModelConfig config = parse_model_config(
            test::read_text(test::model_path(name) / "config.json"), "config.json");
        const ModelConfig again =
            parse_model_config(config_json(config, "bfloat16", "x"), "written config.json");
        expect_same(config, again);
        EXPECT_EQ(again.stored_dtype, "bfloat16");
    }
}

TEST(FolderTexts, RopeDivisorsOfLlama3AreRecognisedAndOthersRefused) {
    ModelConfig config = parse_model_config(
        test::read_text(test::model_path("llama") / "config.json"), "config.json");
    RopeConfig llama3 = config.rope;
    llama3.kind = RopeKind::llama3;
    llama3.theta = 500000;
    llama3.factor = 32;
    llama3.original_context_length = 8192;
    config.rope.theta = llama3.theta;
    const auto scaled = rope_frequencies(llama3, 1).inv_freq,
               plain = rope_frequencies(config.rope, 1).inv_freq;
    for (std::size_t i = 0; i < scaled.size(); ++i)
        config.rope.divisors.push_back(plain[i] / scaled[i]);
    const ModelConfig again = parse_model_config(config_json(config, "float32", "x"), "config");
    EXPECT_EQ(again.rope.kind, RopeKind::llama3);
    EXPECT_NEAR(again.rope.factor, 32, 1e-4);
    const auto written = rope_frequencies(again.rope, 1).inv_freq;
    for (std::size_t i = 0; i < scaled.size(); ++i)
        EXPECT_NEAR(written[i], scaled[i], 1e-6f * scaled[i]);
    config.rope.divisors.front() = 3;
    EXPECT_THROW(config_json(config, "float32", "x"), Error);
}

} // namespace
} // namespace cuset
