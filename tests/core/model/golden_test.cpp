// Every fixture model, and those that llama.cpp's converter made GGUF files of, against
// transformers in float32: ids, spans, log-probabilities, entropies, ranks, top 5. Tolerance 1e-4
// on log-probability and entropy: float32 sums in another order. A rank may differ by no more than
// the number of other tokens whose logit lies within 1e-5 of the target's, as our own row of logits
// shows; a top id only where such a tie is in the golden's top 5.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/model/inference_session.h"
#include "tests/core/model/fixture.h"
#include "tests/core/model/response_logits.h"

namespace cuset {
namespace {

using nlohmann::json;

// Byte offset of each code point of UTF-8 text, and the text's size at the end.
std::vector<std::int32_t> code_point_offsets(const std::string& text) {
    std::vector<std::int32_t> offsets;
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((text[i] & 0xc0) != 0x80)
            offsets.push_back(static_cast<std::int32_t>(i));
    offsets.push_back(static_cast<std::int32_t>(text.size()));
    return offsets;
}

Sample make_sample(const json& golden) {
    Sample sample;
    sample.id = "golden";
    sample.prompt = golden["prompt"];
    sample.response = golden["response"];
    return sample;
}

ScoreOptions plain_options() {
    ScoreOptions options;
    options.prompt.chat_template = "none";
    return options;
}

InferenceSession open(const std::string& name, const std::string& dtype) {
    RunControl control;
    SessionOptions options;
    options.device = "cpu";
    options.dtype = dtype;
    return InferenceSession(test::model_path(name).string(), options, control);
}

void expect_spans(const ScoredSample& scored, const json& golden) {
    const auto offsets = code_point_offsets(scored.sample.response);
    const json& expected = golden["offsets"];
    ASSERT_EQ(scored.encoding.spans.size(), expected.size());
    for (std::size_t t = 0; t < expected.size(); ++t) {
        // transformers counts code points, a part of one as the whole.
        const std::int32_t begin = offsets.at(expected[t][0].get<std::size_t>());
        const std::int32_t end = offsets.at(expected[t][1].get<std::size_t>());
        EXPECT_GE(scored.encoding.spans[t].begin, begin) << "token " << t;
        EXPECT_LE(scored.encoding.spans[t].end, end) << "token " << t;
        const bool whole = end - begin == scored.encoding.spans[t].size();
        const bool part_of_character = expected[t][1].get<int>() - expected[t][0].get<int>() == 1;
        EXPECT_TRUE(whole || part_of_character) << "token " << t;
    }
    EXPECT_EQ(scored.encoding.spans.back().end, offsets.back());
}

// Other tokens whose logit is as good as the target's.
std::int64_t ties_of(const std::vector<float>& row, std::size_t target) {
    return std::count_if(row.begin(), row.end(),
                         [&](float z) { return std::abs(z - row[target]) <= 1e-5f; })
        - 1;
}

void expect_top(const TokenScores& scores, const json& golden, std::size_t t) {
    const json& log_probs = golden["top_logprob"][t];
    const auto tie = [&](std::size_t a, std::size_t b) {
        return std::abs(log_probs[a].get<double>() - log_probs[b].get<double>()) <= 1e-5;
    };
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(scores.top_log_probs[t * 5 + k], log_probs[k].get<double>(), 1e-4);
        const bool same = scores.top_ids[t * 5 + k] == golden["top_ids"][t][k].get<int>();
        EXPECT_TRUE(same || (k > 0 && tie(k, k - 1)) || (k < 4 && tie(k, k + 1))) << "top id " << k;
    }
}

void expect_scores(const TokenScores& scores, const json& golden,
                   const std::vector<std::vector<float>>& rows) {
    const std::size_t tokens = golden["logprob"].size();
    ASSERT_EQ(scores.log_prob.size(), tokens);
    ASSERT_EQ(rows.size(), tokens);
    for (std::size_t t = 0; t < tokens; ++t) {
        SCOPED_TRACE(testing::Message() << "token " << t);
        EXPECT_NEAR(scores.log_prob[t], golden["logprob"][t].get<double>(), 1e-4);
        EXPECT_NEAR(scores.entropy[t], golden["entropy"][t].get<double>(), 1e-4);
        const auto target = golden["ids"][golden["prompt_tokens"].get<std::size_t>() + t];
        EXPECT_LE(std::abs(scores.rank[t] - golden["rank"][t].get<int>()),
                  ties_of(rows[t], target.get<std::size_t>()));
        expect_top(scores, golden, t);
    }
}

// The checkpoint at `file` below the folder of models scores as golden.json of the model `name`.
void expect_equal_to_transformers(const std::string& file, const std::string& name) {
    InferenceSession session = open(file, "float32");
    RunControl control;
    for (const json& golden : test::read_json(test::model_path(name) / "golden.json")) {
        const ScoredSample scored = session.score(make_sample(golden), plain_options(), control);
        EXPECT_EQ(scored.encoding.ids, golden["ids"].get<std::vector<std::int32_t>>());
        EXPECT_EQ(scored.encoding.response_begin, golden["prompt_tokens"].get<int>());
        expect_spans(scored, golden);
        expect_scores(scored.scores, golden,
                      test::response_logits(test::model_path(file).string(), scored.encoding.ids,
                                            scored.encoding.response_begin));
        EXPECT_EQ(scored.labels.size(), scored.scores.rank.size());
    }
}

class Golden : public testing::TestWithParam<std::string> { };

TEST_P(Golden, Float32EqualsTransformers) {
    expect_equal_to_transformers(GetParam(), GetParam());
}

TEST_P(Golden, BFloat16IsClose) {
    InferenceSession session = open(GetParam(), "bfloat16");
    RunControl control;
    double difference = 0;
    std::size_t tokens = 0;
    for (const json& golden : test::read_json(test::model_path(GetParam()) / "golden.json")) {
        const ScoredSample scored = session.score(make_sample(golden), plain_options(), control);
        for (std::size_t t = 0; t < scored.scores.log_prob.size(); ++t) {
            difference += std::abs(std::exp(static_cast<double>(scored.scores.log_prob[t]))
                                   - std::exp(golden["logprob"][t].get<double>()));
            ++tokens;
        }
    }
    // bfloat16 has 8 bits: single confidences move by up to 0.1, their mean by about 0.01.
    EXPECT_LT(difference / static_cast<double>(tokens), 0.02);
}

TEST_P(Golden, Float16RunsThroughTheGeneralLayers) {
    InferenceSession session = open(GetParam(), "float16");
    RunControl control;
    const json golden = test::read_json(test::model_path(GetParam()) / "golden.json")[0];
    const ScoredSample scored = session.score(make_sample(golden), plain_options(), control);
    for (std::size_t t = 0; t < scored.scores.log_prob.size(); ++t)
        EXPECT_NEAR(scored.scores.log_prob[t], golden["logprob"][t].get<double>(), 0.15);
}

std::string test_name(const testing::TestParamInfo<std::string>& model) {
    std::string name = model.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(
    Models, Golden,
    testing::Values("llama", "llama3-rope", "llama-linear-rope", "llama-dynamic-rope", "qwen2",
                    "qwen2-yarn", "qwen3", "mistral-window", "phi3", "phi3-longrope", "granite",
                    "olmo2", "smollm3", "starcoder2", "gemma2", "gemma3", "qwen3-moe", "mixtral",
                    "deepseek-v2", "deepseek-v2-groups", "fp8-block", "fp8-row", "fp8-tensor"),
    test_name);

TEST_P(Golden, LoadingReportsAsManyTensorsAsThereAre) {
    Progress last;
    RunControl control(
        [&](const Progress& progress) {
            if (progress.stage == "loading weights")
                last = progress;
        },
        std::chrono::milliseconds(0));
    SessionOptions options;
    options.device = "cpu";
    const InferenceSession session(test::model_path(GetParam()).string(), options, control);
    EXPECT_EQ(last.done + 1, last.total); // a report comes before each tensor
    EXPECT_GT(last.total, 0);
}

class GoldenGguf : public testing::TestWithParam<std::string> { };

TEST_P(GoldenGguf, Float32EqualsTransformers) {
    expect_equal_to_transformers("gguf/" + GetParam() + ".gguf", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenGguf,
                         testing::Values("phi3", "phi3-longrope", "granite", "olmo2", "smollm3",
                                         "starcoder2", "gemma2", "gemma3", "qwen3-moe", "mixtral",
                                         "qwen2", "qwen2-yarn", "qwen3", "llama3-rope",
                                         "deepseek-v2", "deepseek-v2-groups"),
                         test_name);

} // namespace
} // namespace cuset
