// Families in the trainer: those of the Llama kind are trained, with the same numbers as they are
// scored; the others, and adapters that are more than low-rank branches, are refused by name before
// weights are read.
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/sample_reader.h"
#include "core/model/inference_session.h"
#include "core/train/trainer.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string refusal(const std::function<void()>& run) {
    try {
        run();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported);
        return error.what();
    }
    return "was accepted";
}

TrainConfig config_for(const test::TemporaryFolder& folder, const std::string& model) {
    TrainConfig config = test::golden_config(folder, "llama", 4);
    config.model = (test::data_folder() / "models" / model).string();
    return config;
}

TEST(Families, OthersThanTheLlamaKindAreRefusedByName) {
    for (const char* model : {"gemma2", "gemma3", "granite", "olmo2", "starcoder2", "mixtral"}) {
        const test::TemporaryFolder folder;
        TrainConfig config = config_for(folder, model);
        RunControl control;
        const std::string name =
            std::string(model) == "gemma3" ? "gemma3_text" : std::string(model);
        EXPECT_THAT(refusal([&] { train(config, {}, control); }),
                    HasSubstr("family " + name + " are scored here, but not trained"));
        EXPECT_THAT(refusal([&] { plan_training(config, {}, 1, control); }), HasSubstr(name));
        EXPECT_THAT(refusal([&] {
                        merge_adapter(config.model, "no such adapter",
                                      (folder.path() / "merged").string(), "auto", control);
                    }),
                    HasSubstr(name));
    }
}

TEST(Families, PlannedConfidencesAreTheScoredOnes) {
    for (const char* model : {"phi3", "smollm3"}) {
        SCOPED_TRACE(model);
        const test::TemporaryFolder folder;
        const TrainConfig config = config_for(folder, model);
        RunControl control;
        const TrainPlan plan = plan_training(config, {}, 1, control);
        ASSERT_EQ(plan.first.size(), 1u);
        SessionOptions options;
        options.device = "cpu";
        options.dtype = "float32";
        InferenceSession session(config.model, options, control);
        const ScoreRun run = score_samples(
            session, read_samples({config.data[0]}, {}, control).samples, {}, {}, control);
        std::vector<double> planned;
        for (const PlannedToken& token : plan.first[0].tokens)
            if (token.response)
                planned.push_back(token.confidence);
        ASSERT_EQ(static_cast<std::int64_t>(planned.size()), run.scores->token_end(0));
        const auto log_prob = run.scores->columns().log_prob;
        for (std::size_t t = 0; t < planned.size(); ++t)
            EXPECT_NEAR(planned[t], std::exp(static_cast<double>(log_prob[t])), 1e-5) << t;
    }
}

TEST(Families, AStepOfAPhi3AdapterLowersTheLoss) {
    const test::TemporaryFolder folder;
    TrainConfig config = config_for(folder, "phi3");
    config.lora.rank = 4;
    config.learning_rate = 1e-2;
    config.warmup_steps = 0;
    config.epochs = 6;
    std::vector<double> losses;
    TrainOptions options;
    options.on_event = [&](const TrainEvent& event) {
        if (const auto* step = std::get_if<StepEvent>(&event.body))
            losses.push_back(step->nll);
    };
    RunControl control;
    train(config, options, control);
    ASSERT_EQ(losses.size(), 12u);
    EXPECT_LT(losses[10], 0.97 * losses[0]);
    // What was written loads as an adapter of this model.
    SessionOptions session;
    session.device = "cpu";
    session.adapter = (fs::path(config.output) / "final").string();
    EXPECT_NO_THROW(InferenceSession(config.model, session, control));
}

TEST(Families, AdaptersWithDoraOrSavedModulesDoNotGoOn) {
    for (const auto& [name, says] :
         {std::pair{"dora", "DoRA"}, {"saved", "modules_to_save"}, {"embedding", "embedding"}}) {
        const test::TemporaryFolder folder;
        TrainConfig config = config_for(folder, "qwen2");
        config.adapter = (test::data_folder() / "adapter" / name).string();
        RunControl control;
        EXPECT_THAT(refusal([&] { train(config, {}, control); }), HasSubstr(says));
        // But they are merged: the logits of what is written are the adapted model's.
        const MergeResult merged = merge_adapter(
            config.model, config.adapter, (folder.path() / "merged").string(), "float32", control);
        EXPECT_LT(merged.logit_difference, 1e-4 * std::max(1.0, merged.logit_range)) << name;
    }
}

} // namespace
} // namespace cuset
