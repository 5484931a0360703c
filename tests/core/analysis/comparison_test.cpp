#include "core/analysis/comparison.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

using test::make_set;

constexpr LabelBits atomic_bits = kernel_bit | kind_bit(SensitiveKind::atomic);

ScoreProvenance of_type(const std::string& dtype) {
    ScoreProvenance provenance;
    provenance.dtype = dtype;
    return provenance;
}

TEST(Comparison, MeansByClassAndSamplesInOrder) {
    const auto a = make_set({{{0.5f, 0.25f}, {0, atomic_bits}, "better"},
                             {{0.5f}, {0}, "worse"},
                             {{0.5f}, {0}, "gone"}});
    const auto b = make_set({{{0.25f}, {0}, "worse"},
                             {{0.5f, 0.5f}, {0, 0}, "better"}, // labels are a's
                             {{0.5f}, {0}, "new"}});
    const Comparison found = compare_scores(*a, *b);
    EXPECT_EQ(found.all.count, 3);
    EXPECT_NEAR(found.all.confidence, 0, 1e-7);
    EXPECT_NEAR(found.all.log_prob, 0, 1e-7);
    EXPECT_EQ(found.sensitive.count, 1);
    EXPECT_NEAR(found.sensitive.confidence, 0.25, 1e-7);
    EXPECT_NEAR(found.sensitive.log_prob, std::log(2.0), 1e-6);
    EXPECT_NEAR(found.neutral.confidence, -0.125, 1e-7);
    const auto atomic = static_cast<std::size_t>(SensitiveKind::atomic);
    EXPECT_EQ(found.by_kind[atomic].count, 1);
    EXPECT_EQ(found.by_kind[0].count, 0);
    ASSERT_EQ(found.samples.size(), 2u);
    EXPECT_EQ(found.samples[0].id, "better");
    EXPECT_EQ(found.samples[0].index_a, 0);
    EXPECT_EQ(found.samples[0].index_b, 1);
    EXPECT_NEAR(found.samples[1].change.confidence, -0.25, 1e-7);
    EXPECT_EQ(found.only_in_a, std::vector<std::string>{"gone"});
    EXPECT_EQ(found.only_in_b, std::vector<std::string>{"new"});
    EXPECT_TRUE(found.warnings.empty());
    EXPECT_NEAR(found.sensitive.confidence_before, 0.25, 1e-7);
    EXPECT_NEAR(found.sensitive.confidence_after, 0.5, 1e-7);
    EXPECT_EQ(confidence_changes(*a, 0, *b, 1), (std::vector<float>{0, 0.25f}));
    const ComparedConfidences tokens = compared_confidences(found, *a, *b);
    EXPECT_EQ(tokens.sensitive_before, std::vector<float>{0.25f});
    EXPECT_EQ(tokens.sensitive_after, std::vector<float>{0.5f});
    EXPECT_EQ(tokens.neutral_before, (std::vector<float>{0.5f, 0.5f})); // better, then worse
    EXPECT_EQ(tokens.neutral_after, (std::vector<float>{0.5f, 0.25f}));
}

TEST(Comparison, LeavesOutWhatCannotBeComparedAndSaysSo) {
    const auto a = make_set({{{0.5f}, {0}, "ok"},
                             {{0.5f}, {0}, "other tokens"},
                             {{0.5f}, {0}, "twice"},
                             {{0.5f}, {0}, "twice"},
                             {{}, {}, "empty"}},
                            of_type("float32"));
    const auto b = make_set({{{0.5f}, {0}, "ok"},
                             {{0.5f}, {0}, "other tokens", 77},
                             {{0.5f}, {0}, "twice"},
                             {{}, {}, "empty"}},
                            of_type("bfloat16"));
    const Comparison found = compare_scores(*a, *b);
    EXPECT_EQ(found.samples.size(), 1u);
    const std::vector<std::string> expected = {
        "dtype differs: 'float32' and 'bfloat16'",
        "other tokens: its tokens differ, it is left out",
        "twice: its id occurs more than once, it is left out",
        "twice: its id occurs more than once, it is left out",
        "empty: it has no response token, it is left out"};
    EXPECT_EQ(found.warnings, expected);
    ASSERT_EQ(found.left_out.size(), 4u);
    EXPECT_EQ(found.left_out[0].id, "other tokens");
}

TEST(Comparison, WhatWasMadeInAnotherWayIsSaid) {
    ScoreProvenance a;
    a.tokenizer_sha256 = "t";
    a.chat_template = "auto";
    a.dtype = "float32";
    a.device = "cpu";
    a.max_length = 4096;
    ScoreProvenance b = a;
    b.model = "another model";
    b.adapter = "an adapter";
    EXPECT_TRUE(provenance_differences(a, b).empty()) << "that is what is compared";
    b.device = "cuda:0";
    b.chat_template = "none";
    b.max_length = 512;
    const std::vector<std::string> expected = {"template differs: 'auto' and 'none'",
                                               "device differs: 'cpu' and 'cuda:0'",
                                               "max_length differs: '4096' and '512'"};
    EXPECT_EQ(provenance_differences(a, b), expected);
}

TEST(Comparison, ASampleThatWasCutElsewhereIsTold) {
    const auto cut = [](std::size_t tokens) {
        ScoredSample scored;
        scored.sample = {"long", "", "xxxx"};
        for (std::size_t t = 0; t < tokens; ++t) {
            const auto at = static_cast<std::int32_t>(t);
            scored.encoding.ids.push_back(at);
            scored.encoding.spans.push_back({at, at + 1});
            scored.scores.log_prob.push_back(-1);
            scored.scores.entropy.push_back(1);
            scored.scores.entropy_top20.push_back(1);
            scored.scores.rank.push_back(0);
            scored.labels.push_back(0);
        }
        ScoreSetBuilder builder({}, 0);
        builder.add(scored);
        return builder.snapshot();
    };
    EXPECT_EQ(token_difference(*cut(4), 0, *cut(4), 0), "");
    EXPECT_EQ(token_difference(*cut(4), 0, *cut(3), 0),
              "it was cut at another length, it is left out");
}

TEST(Comparison, AZeroProbabilityMakesNoNaN) {
    const auto a = make_set({{{0.0f, 0.5f}, {0, 0}, "a"}});
    const Comparison found = compare_scores(*a, *a);
    EXPECT_EQ(found.all.count, 2);
    EXPECT_EQ(found.all.log_prob, 0);
    EXPECT_EQ(found.all.confidence, 0);
}

TEST(Comparison, NothingInCommonIsAnError) {
    const auto a = make_set({{{0.5f}, {0}, "a"}}), b = make_set({{{0.5f}, {0}, "b"}});
    EXPECT_THROW(compare_scores(*a, *b), Error);
    EXPECT_THROW(compare_scores(*make_set({}), *make_set({})), Error);
}

} // namespace
} // namespace cuset
