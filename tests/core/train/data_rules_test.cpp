// What a run makes of its data: over-long samples by each setting, and the plan that shows every
// token with its weight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/analysis/mask.h"
#include "core/base/error.h"
#include "core/train/run_folder.h"
#include "core/train/trainer.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

using ::testing::HasSubstr;

// Four samples of text: long, short, long, and one whose prompt alone is too long.
TrainConfig text_config(const test::TemporaryFolder& folder, OverLong over_long) {
    TrainConfig config = test::golden_config(folder, "llama", 1);
    const std::string kernel = "__global__ void scale(float* x) {\n    x[threadIdx.x] *= 2;\n}\n";
    std::string text, words;
    for (int i = 0; i < 40; ++i)
        text += kernel;
    for (int i = 0; i < 400; ++i)
        words += "double the values ";
    const auto record = [](const std::string& prompt, const std::string& response) {
        return nlohmann::json{{"prompt", prompt}, {"response", response}}.dump() + "\n";
    };
    config.data = {folder
                       .write("text.jsonl",
                              record("scale\n", text) + record("scale\n", kernel)
                                  + record("again\n", text) + record(words, kernel))
                       .string()};
    config.chat_template = "none";
    config.max_length = 120;
    config.over_long = over_long;
    return config;
}

TEST(OverLong, IsCutDroppedOrRefusedAndCounted) {
    const test::TemporaryFolder folder;
    RunControl control;
    const TrainPlan cut = plan_training(text_config(folder, OverLong::cut), {}, 0, control);
    EXPECT_EQ(cut.samples, 3);
    EXPECT_EQ(cut.cut_samples, 2);
    EXPECT_EQ(cut.left_out_samples, 1);
    EXPECT_EQ(cut.longest, 120);
    const TrainPlan drop = plan_training(text_config(folder, OverLong::drop), {}, 0, control);
    EXPECT_EQ(drop.samples, 1);
    EXPECT_EQ(drop.cut_samples, 0);
    EXPECT_EQ(drop.left_out_samples, 3);
    EXPECT_THAT(drop.notes, ::testing::Contains(HasSubstr("longer than max_length")));
    try {
        plan_training(text_config(folder, OverLong::refuse), {}, 0, control);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_value);
        EXPECT_THAT(error.what(), HasSubstr("max_length 120"));
    }
}

TEST(OverLong, TheRunSaysTheSameCounts) {
    const test::TemporaryFolder folder;
    TrainConfig config = text_config(folder, OverLong::cut);
    config.max_steps = 1;
    RunControl control;
    train(config, {}, control);
    const auto events = read_events(config.output);
    ASSERT_FALSE(events.empty());
    for (const TrainEvent& event : events)
        if (const auto* started = std::get_if<StartedEvent>(&event.body)) {
            EXPECT_EQ(started->samples, 3);
            EXPECT_EQ(started->cut_samples, 2);
            EXPECT_EQ(started->left_out_samples, 1);
        }
}

TEST(TrainPlan, ShowsEveryTokenOfTheFirstSamplesWithItsWeight) {
    const test::TemporaryFolder folder;
    TrainConfig config = text_config(folder, OverLong::drop);
    config.objective.mask.lambda = 2;
    config.objective.mask.window = 8;
    RunControl control;
    const TrainPlan plan = plan_training(config, {}, 5, control);
    ASSERT_EQ(plan.first.size(), 1u); // there is only one
    const PlannedSample& sample = plan.first[0];
    std::string text;
    std::vector<float> confidence;
    int cuda = 0;
    for (const PlannedToken& token : sample.tokens) {
        text += token.text;
        EXPECT_EQ(token.response, text.size() > std::string("scale\n").size()) << text;
        if (!token.response) {
            EXPECT_EQ(token.factor, 0);
            continue;
        }
        confidence.push_back(static_cast<float>(token.confidence));
        cuda += token.cuda;
        // M_t = 1[c > tau] + lambda cuda_t
        EXPECT_EQ(token.factor, (token.confidence > 0.1 ? 1 : 0) + (token.cuda ? 2 : 0));
    }
    EXPECT_THAT(text, HasSubstr("scale\n__global__ void scale(float* x) {"));
    EXPECT_GT(cuda, 10);
    double lowest = 1; // w_n = 1 - the smallest mean of 8 tokens, clipped at the ends
    const auto count = static_cast<int>(confidence.size());
    for (int t = 0; t < count; ++t) {
        double sum = 0;
        const int begin = std::max(0, t - 4), end = std::min(count - 1, t + 3);
        for (int j = begin; j <= end; ++j)
            sum += static_cast<double>(confidence[static_cast<std::size_t>(j)]);
        lowest = std::min(lowest, sum / (end - begin + 1));
    }
    EXPECT_NEAR(sample.weight, 1 - lowest, 1e-6);
}

} // namespace
} // namespace cuset
