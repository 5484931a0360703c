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
        const bool missing = name == "factor missing";
        EXPECT_EQ(error.code(), missing ? ErrorCode::bad_value : ErrorCode::unsupported) << name;
        EXPECT_THAT(error.what(),
                    HasSubstr(missing                  ? "no factor"
                                  : name == "longrope" ? "'longrope'"
                                                       : "'spiral'"));
    }
}

TEST(ModelConfig, DynamicRopeGrowsBeyondTheContext) {
    const ModelConfig config = parse({{"max_position_embeddings", 256},
                                      {"rope_theta", 500000.0},
                                      {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}});
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
    EXPECT_THAT(error.what(), HasSubstr("llama, qwen2, qwen3 and mistral"));
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
        {{{"hidden_act", "gelu"}}, "'gelu'"},
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
