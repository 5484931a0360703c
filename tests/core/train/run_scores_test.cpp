// Scores of a run's checkpoints: which there are, when they are made again, what survives pruning.
#include "core/train/run_scores.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/train/trainer.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

ScoredSample scored(const std::string& id, float log_prob) {
    ScoredSample sample;
    sample.sample.id = id;
    sample.sample.response = "xy";
    sample.encoding.ids = {1, 2};
    sample.encoding.spans = {{0, 1}, {1, 2}};
    sample.scores.log_prob = {log_prob, log_prob};
    sample.scores.entropy = sample.scores.entropy_top20 = {1, 1};
    sample.scores.rank = {0, 0};
    sample.labels = {0, 0};
    return sample;
}

std::shared_ptr<const ScoreSet> set_of(const std::string& id, const ScoreProvenance& provenance) {
    ScoreSetBuilder builder(provenance, 0);
    builder.add(scored(id, -1));
    return builder.snapshot();
}

class RunScores : public ::testing::Test {
protected:
    // A run folder as a reader sees it: what is asked of it is its files.
    RunScores() {
        folder.write("config.json", "{}");
        folder.write("events.jsonl",
                     "{\"v\":1,\"type\":\"finished\",\"time\":\"\",\"reason\":\"completed\","
                     "\"step\":6}\n");
        for (const char* step : {"step-2", "step-10", "step-4"})
            add_adapter(fs::path("checkpoints") / step);
        fs::create_directories(folder.path() / "checkpoints" / "step-5"); // nothing in it
        add_adapter("final");
    }
    void add_adapter(const fs::path& where) const {
        fs::create_directories(folder.path() / where);
        folder.write((where / "adapter_config.json").string(), "{}");
        folder.write((where / "adapter_model.safetensors").string(), "weights");
    }

    test::TemporaryFolder folder;
};

TEST_F(RunScores, ListedByStepWithTheBaseFirst) {
    const auto list = list_run_checkpoints(folder.path());
    std::vector<std::int64_t> steps;
    for (const RunCheckpoint& checkpoint : list)
        steps.push_back(checkpoint.step);
    EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 2, 4, 6, 10}));
    EXPECT_EQ(list[0].scores, folder.path() / "scores" / "base.scores.safetensors");
    EXPECT_EQ(list[2].folder, folder.path() / "checkpoints" / "step-4");
    EXPECT_EQ(list[3].folder, folder.path() / "final");
    EXPECT_EQ(list[4].scores, folder.path() / "scores" / "step-10.scores.safetensors");
    EXPECT_TRUE(list[0].is_there() && list[1].is_adapter);
    EXPECT_THROW(list_run_checkpoints(folder.path() / "checkpoints"), Error);
}

TEST_F(RunScores, KeptOnlyWhileTheyFit) {
    ScoreProvenance made;
    made.model_sha256 = "model";
    made.dtype = "float32";
    const auto base = set_of("a", made);
    const RunCheckpoint step = list_run_checkpoints(folder.path())[1];
    EXPECT_EQ(kept_scores(step, *base), nullptr);
    keep_scores(step, *set_of("a", made));
    ASSERT_NE(kept_scores(step, *base), nullptr);
    EXPECT_EQ(run_score_files(folder.path()), std::vector{step.scores});

    EXPECT_EQ(kept_scores(step, *set_of("b", made)), nullptr) << "other samples";
    ScoreProvenance other = made;
    other.dtype = "bfloat16";
    EXPECT_EQ(kept_scores(step, *set_of("a", other)), nullptr) << "made in another way";
    other = made;
    other.model_sha256 = "another";
    EXPECT_EQ(kept_scores(step, *set_of("a", other)), nullptr) << "of another model";

    const auto now = fs::last_write_time(step.scores);
    fs::last_write_time(step.folder / "adapter_model.safetensors", now + std::chrono::seconds(5));
    EXPECT_EQ(kept_scores(step, *base), nullptr) << "the checkpoint is newer";
    fs::remove_all(step.folder); // pruned
    ASSERT_NE(kept_scores(step, *base), nullptr);
    const auto list = list_run_checkpoints(folder.path());
    EXPECT_EQ(list[1].step, 2);
    EXPECT_FALSE(list[1].is_there());
    folder.write("scores/step-2.scores.safetensors", "half a file");
    EXPECT_EQ(kept_scores(step, *base), nullptr);
}

TEST_F(RunScores, BaseScoresAreUsedOnlyIfTheyWouldBeMadeSo) {
    RunControl control;
    SessionOptions options;
    options.dtype = "float32";
    options.device = "cpu";
    InferenceSession session((test::data_folder() / "models" / "llama").string(), options, control);
    ScoreOptions score;
    score.prompt.chat_template = "none";
    Sample sample;
    sample.id = "a";
    sample.response = "int x = 1;\n";
    const std::vector<Sample> samples{sample};
    const RunCheckpoint base = list_run_checkpoints(folder.path()).front();
    const auto made = score_samples(session, samples, score, {}, control).scores;
    EXPECT_EQ(kept_base_scores(base, nullptr, session, samples, score), nullptr);
    EXPECT_EQ(kept_base_scores(base, made, session, samples, score), made);
    keep_scores(base, *made);
    EXPECT_NE(kept_base_scores(base, nullptr, session, samples, score), nullptr);
    score.prompt.max_length = 64;
    EXPECT_EQ(kept_base_scores(base, made, session, samples, score), nullptr);
    score.prompt.max_length = 4096;
    Sample changed = sample;
    changed.response = "int y = 1;\n";
    EXPECT_EQ(kept_base_scores(base, made, session, {changed}, score), nullptr);
    EXPECT_EQ(kept_base_scores(base, made, session, {sample, changed}, score), nullptr);
}

} // namespace
} // namespace cuset
