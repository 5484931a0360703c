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
