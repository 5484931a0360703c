#include "core/model/label_file.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

class LabelFile : public ::testing::Test {
protected:
    void SetUp() override {
        folder = fs::temp_directory_path()
            / ("cuset_label_file_"
               + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    fs::path folder;
};

ScoredSample sample(const std::string& id, const std::string& response) {
    ScoredSample scored;
    scored.sample.id = id;
    scored.sample.response = response;
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(response.size()); ++t) {
        scored.encoding.ids.push_back(t);
        scored.encoding.spans.push_back({t, t + 1});
        scored.scores.log_prob.push_back(-0.5f);
        scored.scores.entropy.push_back(0);
        scored.scores.entropy_top20.push_back(0);
        scored.scores.rank.push_back(0);
        scored.labels.push_back(kernel_bit);
    }
    return scored;
}

std::shared_ptr<const ScoreSet> two_samples() {
    ScoreSetBuilder builder({}, 0);
    builder.add(sample("a", "abcdef"));
    builder.add(sample("b", "ghi"));
    return builder.snapshot();
}

TEST_F(LabelFile, CorrectionsOfOtherDataAreNotCounted) {
    const auto scores = two_samples();
    const std::vector<LabelCorrection> corrections{
        {"a", {0, 2}, std::nullopt},
        {"a", {6, 7}, std::nullopt}, // behind the response
        {"b", {2, 90}, SensitiveKind::atomic},
        {"other", {0, 1}, std::nullopt}};
    EXPECT_EQ(count_meant(*scores, corrections), 2u);
    EXPECT_EQ(count_meant(*scores, {}), 0u);
}

TEST_F(LabelFile, StandsBesideDataAndScores) {
    EXPECT_EQ(label_file_for(folder / "set.jsonl"), folder / "set.labels.json");
    EXPECT_EQ(label_file_for(folder / "set.v2.jsonl"), folder / "set.v2.labels.json");
    EXPECT_EQ(label_file_for(folder / "set.scores.safetensors"), folder / "set.labels.json");
    fs::create_directories(folder / "kernels.d");
    EXPECT_EQ(label_file_for(folder / "kernels.d"), folder / "kernels.d.labels.json");
    EXPECT_EQ(label_file_for(folder / "kernels.d/"), folder / "kernels.d.labels.json");
}

TEST_F(LabelFile, ScoresOfAModelUseTheDatasCorrections) {
    const fs::path scores = folder / "set.smol.scores.safetensors";
    EXPECT_EQ(label_file_for(scores), folder / "set.smol.labels.json");
    std::ofstream(folder / "set.labels.json") << "x";
    EXPECT_EQ(label_file_for(scores), folder / "set.labels.json");
    std::ofstream(folder / "set.smol.labels.json") << "x";
    EXPECT_EQ(label_file_for(scores), folder / "set.smol.labels.json");
}

TEST_F(LabelFile, WritesAndFindsThem) {
    const std::vector<LabelCorrection> corrections{{"a", {1, 3}, SensitiveKind::atomic},
                                                   {"a", {2, 3}, std::nullopt}};
    const std::vector<fs::path> data{folder / "set.jsonl"};
    EXPECT_TRUE(find_corrections(data, {}).empty());
    write_label_file(folder / "set.labels.json", corrections);
    EXPECT_EQ(find_corrections(data, {}), corrections);
    EXPECT_EQ(find_corrections({}, folder / "set.labels.json"), corrections);
    EXPECT_THROW(find_corrections(data, folder / "missing.labels.json"), Error);
    std::ofstream(folder / "set.labels.json") << "{";
    EXPECT_THROW(find_corrections(data, {}), Error);
}

TEST_F(LabelFile, CorrectionsLieOverTheLabels) {
    const auto scores = two_samples();
    const std::vector<LabelCorrection> corrections{{"a", {1, 3}, SensitiveKind::atomic},
                                                   {"other", {0, 9}, SensitiveKind::atomic}};
    const auto corrected = corrected_scores(scores, corrections);
    const LabelBits atomic = static_cast<LabelBits>(kernel_bit | kind_bit(SensitiveKind::atomic));
    const std::vector<LabelBits> wanted{kernel_bit, atomic,     atomic,     kernel_bit, kernel_bit,
                                        kernel_bit, kernel_bit, kernel_bit, kernel_bit};
    const auto labels = corrected->columns().labels;
    EXPECT_EQ(std::vector<LabelBits>(labels.begin(), labels.end()), wanted);
    EXPECT_EQ(scores->columns().labels[1], kernel_bit);
    EXPECT_EQ(corrected_scores(scores, {}), scores);
    EXPECT_EQ(corrected_scores(scores, std::vector<LabelCorrection>{corrections[1]}), scores);
}

TEST_F(LabelFile, RelabelledSamplesStartFromTheirText) {
    const auto scores = two_samples(); // says "kernel" of text that is none
    const std::vector<std::string> again{"b"};
    const auto relabelled = corrected_scores(scores, {}, again);
    EXPECT_EQ(relabelled->columns().labels[0], kernel_bit);
    EXPECT_EQ(relabelled->columns().labels[6], 0);
}

} // namespace
} // namespace cuset
