// config.json: rope in every spelling (PB3), YaRN's scale (PB4), sliding windows (PB5), refusals
// (PB6), bad values.
#include "core/model/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json minimal() {
    return {{"model_type", "llama"},  {"hidden_size", 64},        {"num_attention_heads", 4},
            {"num_hidden_layers", 2}, {"intermediate_size", 160}, {"vocab_size", 704}};
}

ModelConfig parse(json config) {
    const json base = minimal();
    for (const auto& [key, value] : base.items())
        if (!config.contains(key))
            config[key] = value;
    return parse_model_config(config.dump(), "config.json");
}

// The message of the Error that parsing ends with.
Error refusal(const json& config) {
    try {
        parse(config);
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::failure, "was accepted");
}

json cases(const char* folder, const char* file) {
    return test::read_json(test::data_folder() / "cases" / folder / file);
}

void expect_frequencies(const ModelConfig& config, const json& expected) {
    const RopeFrequencies f = rope_frequencies(config.rope, 16);
    EXPECT_NEAR(f.attention_scaling, expected["attention_scaling"].get<double>(), 1e-6);
    ASSERT_EQ(f.inv_freq.size(), expected["inv_freq"].size());
    for (std::size_t i = 0; i < f.inv_freq.size(); ++i) {
        const double value = expected["inv_freq"][i];
        EXPECT_NEAR(f.inv_freq[i], value, 2e-6 * value) << i; // 7 digits are given
    }
}

TEST(ModelConfig, RopeInEverySpelling) {
    const json configs = cases("PB3-rope-spellings", "configs.json");
    const json expected = cases("PB3-rope-spellings", "expected.json");
    for (const auto& [name, variant] : configs["variants"].items()) {
        SCOPED_TRACE(name);
        json config = configs["base"];
        config.update(variant);
        expect_frequencies(parse(config), expected[name]);
    }
    for (const auto& [name, variant] : configs["to_be_refused"].items()) {
        json config = configs["base"];
        config.update(variant);
        const Error error = refusal(config);
        if (name == "longrope") // implemented since the table was written: see below
            continue;
        const bool missing = name == "factor missing";
        EXPECT_EQ(error.code(), missing ? ErrorCode::bad_value : ErrorCode::unsupported) << name;
        EXPECT_THAT(error.what(), HasSubstr(missing ? "no factor" : "'spiral'"));
    }
}

TEST(ModelConfig, LongropeHasTwoSetsOfDivisors) {
    const json configs = cases("PB3-rope-spellings", "configs.json");
    json config = configs["base"];
    config.update(configs["to_be_refused"]["longrope"]);
    config["rope_scaling"]["short_factor"] = json::array({1., 1., 1., 1., 1.5, 1.5, 1.5, 1.5});
    const ModelConfig parsed = parse(config);
    const RopeFrequencies below = rope_frequencies(parsed.rope, 64);
    const RopeFrequencies above = rope_frequencies(parsed.rope, 65);
    // base^(-2 * 4 / 16) over its divisor; sqrt(1 + ln 4 / ln 64)
    EXPECT_NEAR(below.inv_freq[4], 1 / (std::sqrt(500000.0) * 1.5), 1e-9);
    EXPECT_NEAR(above.inv_freq[4], 1 / (std::sqrt(500000.0) * 2.0), 1e-9);
    EXPECT_NEAR(below.attention_scaling, std::sqrt(1 + 1 / 3.0), 1e-6);
    EXPECT_EQ(below.attention_scaling, above.attention_scaling);
    EXPECT_TRUE(parsed.warnings.empty());
    config["rope_scaling"]["long_factor"] = {1.0, 2.0};
    EXPECT_THAT(refusal(config).what(), HasSubstr("long_factor must be a list of 8"));
}

TEST(ModelConfig, DynamicRopeGrowsBeyondTheContext) {
    const ModelConfig config = parse({{"max_position_embeddings", 256},
                                      {"rope_theta", 500000.0},
                                      {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}});
    EXPECT_EQ(config.context_length, 512);
    const RopeFrequencies f = rope_frequencies(config.rope, 512);
    // base = theta * (2 * 512 / 256 - 1)^(16 / 14)
    const double base = 500000.0 * std::pow(3.0, 16.0 / 14.0);
    EXPECT_NEAR(f.inv_freq[1], std::pow(base, -1.0 / 8.0), 1e-6);
}

TEST(ModelConfig, YarnFactor) {
    const json configs = cases("PB4-yarn-factor", "configs.json");
    const json expected = cases("PB4-yarn-factor", "expected.json");
    for (const auto& [name, scaling] : configs["rope_scaling"].items()) {
        SCOPED_TRACE(name);
        json config = configs["base"];
        config["rope_scaling"] = scaling;
        const ModelConfig parsed = parse(config);
        expect_frequencies(parsed, expected[name]);
        if (name == "misspelt attn_factor") {
            ASSERT_EQ(parsed.warnings.size(), 1u);
            EXPECT_THAT(parsed.warnings[0], HasSubstr("attn_factor"));
        } else {
            EXPECT_TRUE(parsed.warnings.empty());
        }
    }
}

json deepseek() {
    return {{"model_type", "deepseek_v2"}, {"hidden_size", 64},     {"num_attention_heads", 4},
            {"q_lora_rank", nullptr},      {"kv_lora_rank", 32},    {"qk_nope_head_dim", 128},
            {"qk_rope_head_dim", 64},      {"v_head_dim", 128},     {"n_routed_experts", 6},
            {"num_experts_per_tok", 2},    {"n_shared_experts", 2}, {"moe_intermediate_size", 24},
            {"first_k_dense_replace", 1}};
}

TEST(ModelConfig, LatentAttention) {
    json config = deepseek();
    ModelConfig c = parse(config);
    EXPECT_EQ(c.head_dim, 192);
    EXPECT_EQ(c.kv_heads, 4);
    EXPECT_EQ(c.latent.query_rank, 0);
    EXPECT_EQ(c.rope.dimensions, 64);
    EXPECT_EQ(c.experts.shared, 48);
    EXPECT_FALSE(c.has_experts(0));
    EXPECT_TRUE(c.has_experts(1));
    EXPECT_FALSE(c.is_llama_kind());
    EXPECT_NEAR(c.attention_scale(), 1 / std::sqrt(192.0), 1e-12);
    config["rope_scaling"] = {{"type", "yarn"},
                              {"factor", 40},
                              {"mscale", 0.707},
                              {"mscale_all_dim", 0.707},
                              {"original_max_position_embeddings", 64}};
    c = parse(config);
    const double mscale = 1 + 0.0707 * std::log(40.0);
    EXPECT_NEAR(c.attention_scale(), mscale * mscale / std::sqrt(192.0), 1e-9);
    EXPECT_NEAR(rope_frequencies(c.rope, 16).attention_scaling, 1.0, 1e-6);
    config.erase("q_lora_rank");
    EXPECT_EQ(parse(config).latent.query_rank, 1536); // the reference's default; null means none
}

TEST(ModelConfig, LatentAttentionCountsItsWeights) {
    // As make_families.py printed them.
    EXPECT_EQ(parse_model_config(test::read_text(test::model_path("deepseek-v2") / "config.json"),
                                 "config.json")
                  .parameters(),
              136896);
    EXPECT_EQ(
        parse_model_config(test::read_text(test::model_path("deepseek-v2-groups") / "config.json"),
                           "config.json")
            .parameters(),
        135696);
}

TEST(ModelConfig, OtherRoutersThanDeepSeekV2sAreRefused) {
    const auto refused = [](const char* key, const json& value) {
        json config = deepseek();
        config[key] = value;
        const Error error = refusal(config);
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << key;
        return std::string(error.what());
    };
    EXPECT_THAT(refused("topk_method", "noaux_tc"), HasSubstr("'noaux_tc'"));
    EXPECT_THAT(refused("scoring_func", "sigmoid"), HasSubstr("'sigmoid'"));
    EXPECT_THAT(refused("norm_topk_prob", true), HasSubstr("norm_topk_prob"));
    EXPECT_THAT(refused("moe_layer_freq", 2), HasSubstr("moe_layer_freq"));
    EXPECT_THAT(refused("attention_bias", true), HasSubstr("attention_bias"));
    json config = deepseek();
    config.update({{"topk_method", "group_limited_greedy"}, {"n_group", 4}, {"topk_group", 1}});
    EXPECT_THAT(refusal(config).what(), HasSubstr("6 experts do not make 4 groups"));
    config.update({{"n_group", 6}});
    EXPECT_EQ(refusal(config).code(), ErrorCode::bad_value); // one group of one expert, two to use
    config.update({{"n_group", 3}});
    EXPECT_EQ(parse(config).experts.groups, 3);
    config["qk_rope_head_dim"] = 7;
    EXPECT_THAT(refusal(config).what(), HasSubstr("qk_rope_head_dim is 7"));
}

TEST(ModelConfig, SlidingWindowSwitches) {
    const json configs = cases("PB5-sliding-window-switches", "configs.json");
    const json expected = cases("PB5-sliding-window-switches", "expected.json");
    for (const auto& [name, config] : configs.items()) {
        SCOPED_TRACE(name);
        const ModelConfig parsed = parse(config);
        std::vector<std::int64_t> windows;
        for (const json& window : expected[name]["window of each layer"])
            windows.push_back(window.is_null() ? 0 : window.get<std::int64_t>());
        EXPECT_EQ(parsed.windows, windows);
    }
}

TEST(ModelConfig, UnsupportedSaysSo) {
    for (const json& entry : cases("PB6-unsupported-says-so", "configs.json")) {
        const std::string says = entry["says"];
        // Supported since the table was written: experts, and FP8 by its scales.
        if (says == "mixture of experts") {
            json config = entry["config"];
            config["num_key_value_heads"] = 2;
            EXPECT_GT(parse(config).experts.count, 1);
            continue;
        }
        if (says == "FP8" || says == "compressed-tensors (FP8)") {
            EXPECT_NO_THROW(parse(entry["config"]));
            continue;
        }
        const Error error = refusal(entry["config"]);
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << says;
        EXPECT_THAT(error.what(), HasSubstr(says));
        EXPECT_EQ(error.subject(), "config.json");
    }
}

TEST(ModelConfig, UnknownFamilyNamesTheSupportedOnes) {
    const Error error = refusal({{"model_type", "mamba"}});
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("'mamba'"));
    EXPECT_THAT(error.what(), HasSubstr("llama, qwen2, qwen3, mistral, phi3"));
}

TEST(ModelConfig, OwnCodeOfAKnownFamilyIsNotRun) {
    const ModelConfig config =
        parse({{"model_type", "phi3"}, {"auto_map", {{"AutoModelForCausalLM", "modeling.Phi3"}}}});
    ASSERT_EQ(config.warnings.size(), 1u);
    EXPECT_THAT(config.warnings[0], HasSubstr("never run"));
}

TEST(ModelConfig, GemmaAbsentIsTheDefaultAndNullIsNone) {
    const json base{{"model_type", "gemma2"}, {"head_dim", 16}, {"query_pre_attn_scalar", 64}};
    ModelConfig config = parse(base);
    EXPECT_EQ(config.traits.attention_cap, 50.0);
    EXPECT_EQ(config.traits.logit_cap, 30.0);
    EXPECT_EQ(config.attention_scale(), 0.125);
    EXPECT_EQ(config.traits.embedding_scale, 8.0);
    EXPECT_EQ(config.windows, (std::vector<std::int64_t>{4096, 0}));
    EXPECT_TRUE(config.tied_head);
    json none = base;
    none.update({{"attn_logit_softcapping", nullptr},
                 {"final_logit_softcapping", nullptr},
                 {"layer_types", {"full_attention", "sliding_attention"}},
                 {"sliding_window", 7}});
    config = parse(none);
    EXPECT_EQ(config.traits.attention_cap, 0.0);
    EXPECT_EQ(config.traits.logit_cap, 0.0);
    EXPECT_EQ(config.windows, (std::vector<std::int64_t>{0, 7}));
    none["use_bidirectional_attention"] = true;
    EXPECT_EQ(refusal(none).code(), ErrorCode::unsupported);
}

TEST(ModelConfig, Gemma3InBothSpellings) {
    const json base{{"model_type", "gemma3_text"}, {"num_hidden_layers", 7}, {"head_dim", 16}};
    json older = base, newer = base;
    older.update({{"rope_theta", 1e6},
                  {"rope_local_base_freq", 5000.0},
                  {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}},
                  {"sliding_window", 512}});
    newer.update(
        {{"rope_parameters",
          {{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
           {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 5000.0}}}}},
         {"sliding_window", 512}});
    for (const json& spelling : {older, newer}) {
        const ModelConfig config = parse(spelling);
        EXPECT_EQ(config.rope.kind, RopeKind::linear);
        EXPECT_EQ(config.rope.theta, 1e6);
        EXPECT_EQ(config.local_rope->kind, RopeKind::standard);
        EXPECT_EQ(config.local_rope->theta, 5000.0);
        EXPECT_EQ(config.windows, (std::vector<std::int64_t>{512, 512, 512, 512, 512, 0, 512}));
        EXPECT_EQ(config.layer_ropes[4], LayerRope::local);
        EXPECT_EQ(config.layer_ropes[5], LayerRope::global);
    }
}

TEST(ModelConfig, SmolLM3LayersWithoutRotation) {
    const json base{
        {"model_type", "smollm3"}, {"num_hidden_layers", 4}, {"num_key_value_heads", 2}};
    EXPECT_EQ(parse(base).layer_ropes[3], LayerRope::none);
    json listed = base;
    listed["no_rope_layers"] = {0, 1, 1, 1};
    EXPECT_EQ(parse(listed).layer_ropes[0], LayerRope::none);
    EXPECT_EQ(parse(listed).layer_ropes[3], LayerRope::global);
    listed["no_rope_layers"] = {0, 1};
    EXPECT_THAT(refusal(listed).what(), HasSubstr("no_rope_layers has 2 entries"));
}

TEST(ModelConfig, WhichLayersHaveExperts) {
    const ModelConfig config = parse({{"model_type", "qwen3_moe"},
                                      {"num_hidden_layers", 4},
                                      {"num_experts", 6},
                                      {"num_experts_per_tok", 2},
                                      {"decoder_sparse_step", 2},
                                      {"mlp_only_layers", {1}}});
    EXPECT_EQ(config.expert_layers, (std::vector<bool>{false, false, false, true}));
    EXPECT_FALSE(config.experts.normalized);
    EXPECT_FALSE(config.is_llama_kind());
}

TEST(ModelConfig, BadValuesAreNamed) {
    struct Case {
        json change;
        const char* says;
    };
    const Case list[] = {
        {{{"hidden_size", -1}}, "hidden_size is -1"},
        {{{"hidden_size", "64"}}, "hidden_size is \"64\""},
        {{{"num_hidden_layers", 1e12}}, "num_hidden_layers"},
        {{{"num_key_value_heads", 3}}, "not a multiple"},
        {{{"head_dim", 15}}, "head_dim"},
        {{{"rope_theta", 0}}, "rope_theta"},
        {{{"rope_scaling", "yarn"}}, "rope settings"},
        {{{"hidden_act", "relu2"}}, "'relu2'"},
        {{{"rms_norm_eps", 5}}, "rms_norm_eps"},
    };
    for (const Case& c : list)
        EXPECT_THAT(refusal(c.change).what(), HasSubstr(c.says));
}

TEST(ModelConfig, NotJson) {
    for (const char* text : {"", "[]", "{\"a\":", "\xff\xfe"}) {
        try {
            parse_model_config(text, "config.json");
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_format);
        }
    }
}

} // namespace
} // namespace cuset
