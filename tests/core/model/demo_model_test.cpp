// The demo model's GGUF file against transformers on the weights that the gguf package dequantises.
// Skipped where the file is not there: CUSET_DEMO_MODEL, else the cache folder that packaging/setup
// fills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/model/inference_session.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;

std::string demo_model() {
    if (const char* path = std::getenv("CUSET_DEMO_MODEL"))
        return path;
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::filesystem::path base =
        cache ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "") / ".cache";
    return (base / "cuset-studio" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").string();
}

class DemoModel : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(demo_model()))
            GTEST_SKIP() << "no demo model";
        golden_ = test::read_json(test::data_folder() / "demo" / "golden.json");
        SessionOptions options;
        options.device = "cpu";
        options.dtype = "float32";
        session_ = std::make_unique<InferenceSession>(demo_model(), options, control_);
    }

    json golden_;
    RunControl control_;
    std::unique_ptr<InferenceSession> session_;
};

TEST_F(DemoModel, ScoresEqualTransformers) {
    for (const json& golden : golden_["samples"]) {
        Sample sample;
        sample.prompt = golden["prompt"];
        sample.response = golden["response"];
        const ScoredSample scored = session_->score(sample, {}, control_);
        EXPECT_EQ(scored.encoding.ids, golden["ids"].get<std::vector<std::int32_t>>());
        ASSERT_EQ(scored.scores.log_prob.size(), golden["logprob"].size());
        for (std::size_t t = 0; t < scored.scores.log_prob.size(); ++t) {
            EXPECT_NEAR(scored.scores.log_prob[t], golden["logprob"][t].get<double>(), 1e-3) << t;
            EXPECT_NEAR(scored.scores.entropy[t], golden["entropy"][t].get<double>(), 1e-3) << t;
            for (std::size_t k = 0; k < 5; ++k)
                EXPECT_NEAR(scored.scores.top_log_probs[t * 5 + k],
                            golden["top_logprob"][t][k].get<double>(), 1e-3);
        }
    }
}

TEST_F(DemoModel, GreedyContinuationIsTheReferencesAndSensible) {
    Sample question;
    question.prompt = golden_["question"];
    EXPECT_EQ(session_->render_prompt(question, {}), golden_["rendered"].get<std::string>());
    GenerateOptions options;
    options.max_tokens = 24;
    const auto tokens = session_->generate(golden_["prompt_ids"].get<std::vector<std::int32_t>>(),
                                           options, {}, control_);
    std::vector<std::int32_t> ids;
    std::string text;
    for (const GeneratedToken& token : tokens) {
        ids.push_back(token.id);
        text += token.bytes;
    }
    EXPECT_EQ(ids, golden_["greedy"].get<std::vector<std::int32_t>>());
    EXPECT_THAT(text, testing::HasSubstr("Paris"));
}

} // namespace
} // namespace cuset
