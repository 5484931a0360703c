#include "core/analysis/data_map.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

using test::make_set;
using Sets = std::vector<std::shared_ptr<const ScoreSet>>;

TEST(DataMap, MeanAndPopulationDeviationOverCheckpoints) {
    // "a": means 0.2, 0.4, 0.9 (of two tokens each); "b" never moves.
    const Sets sets{make_set({{{0.1f, 0.3f}, {0, 0}, "a"}, {{0.5f}, {0}, "b"}}),
                    make_set({{{0.5f}, {0}, "b"}, {{0.4f, 0.4f}, {0, 0}, "a"}}),
                    make_set({{{0.8f, 1.0f}, {0, 0}, "a"}, {{0.5f}, {0}, "b"}})};
    const DataMap map = data_map(sets);
    EXPECT_EQ(map.checkpoints, 3);
    ASSERT_EQ(map.samples.size(), 2u);
    const DataMapPoint& a = map.samples[0];
    EXPECT_EQ(a.id, "a");
    EXPECT_EQ(a.tokens, 2);
    EXPECT_NEAR(a.by_checkpoint[2], 0.9, 1e-6);
    EXPECT_NEAR(a.confidence, 0.5, 1e-6);
    EXPECT_NEAR(a.variability, std::sqrt((0.09 + 0.01 + 0.16) / 3), 1e-6);
    EXPECT_EQ(a.correctness, 1) << "the fixture's ranks are 0";
    EXPECT_NEAR(map.samples[1].confidence, 0.5, 1e-6);
    EXPECT_NEAR(map.samples[1].variability, 0, 1e-9);
    EXPECT_TRUE(map.left_out.empty());
    EXPECT_TRUE(map.warnings.empty());
}

TEST(DataMap, WhatIsNotEverywhereIsNamed) {
    ScoreProvenance other;
    other.dtype = "bfloat16";
    const Sets sets{
        make_set({{{0.5f}, {0}, "a"}, {{0.5f}, {0}, "gone"}, {{0.5f}, {0}, "changed"}}),
        make_set({{{0.5f}, {0}, "a"}, {{0.5f}, {0}, "changed", 99}, {{1}, {0}, "new"}}, other)};
    const DataMap map = data_map(sets);
    ASSERT_EQ(map.samples.size(), 1u);
    ASSERT_EQ(map.left_out.size(), 3u);
    EXPECT_EQ(map.left_out[0].id, "gone");
    EXPECT_EQ(map.left_out[0].reason, "it is not in score file 2, it is left out");
    EXPECT_EQ(map.left_out[1].reason, "its tokens differ, it is left out");
    EXPECT_EQ(map.left_out[2].id, "new");
    ASSERT_EQ(map.warnings.size(), 1u);
    EXPECT_EQ(map.warnings[0], "score files 1 and 2: dtype differs: '' and 'bfloat16'");
}

TEST(DataMap, OneCheckpointOrNothingInCommonIsAnError) {
    const auto a = make_set({{{0.5f}, {0}, "a"}}), b = make_set({{{0.5f}, {0}, "b"}});
    EXPECT_THROW(data_map(Sets{a}), Error);
    EXPECT_THROW(data_map(Sets{a, b}), Error);
}

} // namespace
} // namespace cuset
