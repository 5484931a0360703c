#include "core/report/sample_export.h"

#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

using nlohmann::json;

// Three tokens over "aé<end>": the second character is cut between tokens 1 and 2; token 3 is the
// end of turn. Confidences 0.9, 0.05, 0.5, 0.5.
std::shared_ptr<const ScoreSet> small_set() {
    ScoreSetBuilder builder({}, 0);
    ScoredSample scored;
    scored.sample.id = "one";
    scored.sample.prompt = "p\n";
    scored.sample.response = "a\u00e9";
    scored.encoding.ids = {7, 8, 9, 2};
    scored.encoding.spans = {{0, 1}, {1, 2}, {2, 3}, {3, 3}};
    for (const float c : {0.9f, 0.05f, 0.5f, 0.5f}) {
        scored.scores.log_prob.push_back(std::log(c));
        scored.scores.entropy.push_back(0);
        scored.scores.entropy_top20.push_back(0);
        scored.scores.rank.push_back(0);
    }
    scored.labels = {0, 0, kernel_bit, 0};
    builder.add(scored);
    return builder.snapshot();
}

json exported(ExportFormat format, const MaskSettings& settings = {}) {
    RunControl control;
    CorpusAnalyzer analyzer(small_set(), control);
    analyzer.update(settings);
    std::string text;
    export_samples(
        analyzer, std::array<std::int64_t, 1>{0}, format, {},
        [&](std::string_view line) { text += line; }, control);
    EXPECT_EQ(text.back(), '\n');
    return json::parse(text);
}

TEST(SampleExport, MessagesWithWeightsByHand) {
    const json record = exported(ExportFormat::messages, {.window = 1});
    EXPECT_EQ(record["id"], "one");
    EXPECT_EQ(
        record["messages"],
        json::parse(R"([{"role":"user","content":"p\n"},{"role":"assistant","content":"aé"}])"));
    EXPECT_EQ(record["token_ids"], json({7, 8, 9, 2}));
    EXPECT_EQ(record["token_spans"], json::parse("[[0,1],[1,2],[2,3],[3,3]]"));
    EXPECT_NEAR(record["weight"].get<double>(), 0.95, 1e-6); // C = 0.05
    const std::array<double, 4> expected{0.95, 0, 1.9, 0.95}; // M = 1 0 2 1
    for (std::size_t t = 0; t < expected.size(); ++t)
        EXPECT_NEAR(record["token_weights"][t].get<double>(), expected[t], 1e-6);
}

TEST(SampleExport, SegmentsNeverCutACharacterAndJoinToTheText) {
    const json record = exported(ExportFormat::segments);
    EXPECT_EQ(record["segments"],
              json::parse(R"([{"label":false,"text":"p\n"},{"label":true,"text":"a"},
                              {"label":false,"text":"é"}])"));
}

TEST(SampleExport, TokensForTrainersOnIds) {
    const json record = exported(ExportFormat::tokens, {.window = 1});
    EXPECT_EQ(record["input_ids"], json({7, 8, 9, 2}));
    EXPECT_EQ(record["labels"], json({7, -100, 9, 2})); // token 1 has M = 0
    EXPECT_EQ(record["loss_weights"].size(), 4u);
    EXPECT_EQ(record["loss_weights"][1], 0);
    EXPECT_NEAR(record["loss_weights"][2].get<double>(), 1.9, 1e-6);
}

TEST(SampleExport, TheDataAloneIsTheText) {
    EXPECT_EQ(exported(ExportFormat::data),
              json::parse(R"({"id":"one","prompt":"p\n","response":"aé"})"));
    EXPECT_EQ(find_export_format("segments"), ExportFormat::segments);
    EXPECT_FALSE(find_export_format("parquet"));
}

TEST(SampleExport, TagsAndNotesTravelAlong) {
    RunControl control;
    const CorpusAnalyzer analyzer(small_set(), control);
    SampleNotes notes;
    notes.set({"one", {"race"}, "check \"i\"", false});
    std::string text;
    export_samples(
        analyzer, std::array<std::int64_t, 1>{0}, ExportFormat::data, notes,
        [&](std::string_view line) { text += line; }, control);
    EXPECT_EQ(json::parse(text)["tags"], json({"race"}));
    EXPECT_EQ(json::parse(text)["note"], "check \"i\"");
}

TEST(SampleExport, RandomSamplesJoinToTheirResponses) {
    std::mt19937 random(5);
    RunControl control;
    CorpusAnalyzer analyzer(test::make_set(test::random_samples(random, 20, 50)), control);
    std::vector<std::int64_t> all;
    for (std::int64_t n = 0; n < 20; ++n)
        all.push_back(n);
    std::int64_t n = 0;
    export_samples(
        analyzer, all, ExportFormat::segments, {},
        [&](std::string_view line) {
            std::string joined;
            const json record = json::parse(line);
            for (const json& segment : record["segments"])
                joined += segment["text"].get<std::string>();
            EXPECT_EQ(joined, analyzer.scores()->response(n++));
        },
        control);
    EXPECT_EQ(n, 20);
    control.request_stop();
    EXPECT_THROW(export_samples(
                     analyzer, all, ExportFormat::messages, {}, [](std::string_view) {}, control),
                 Cancelled);
}

} // namespace
} // namespace cuset
