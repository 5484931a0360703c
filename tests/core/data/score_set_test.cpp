#include "core/data/score_set.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace cuset {
namespace {

// One sample of `tokens` one-byte tokens with ids first_id, first_id + 1, ...
ScoredSample make_sample(const std::string& id, int tokens, std::int32_t first_id) {
    ScoredSample scored;
    scored.sample = {id, "prompt of " + id, std::string(static_cast<std::size_t>(tokens), 'x')};
    scored.encoding.ids = {99, 98};
    scored.encoding.response_begin = 2;
    scored.scores.top_k = 1;
    for (int t = 0; t < tokens; ++t) {
        scored.encoding.ids.push_back(first_id + t);
        scored.encoding.spans.push_back({t, t + 1});
        scored.scores.log_prob.push_back(-0.5f * static_cast<float>(t));
        scored.scores.entropy.push_back(1);
        scored.scores.entropy_top20.push_back(0.5f);
        scored.scores.rank.push_back(t);
        scored.scores.top_ids.push_back(first_id + t);
        scored.scores.top_log_probs.push_back(-0.1f);
        scored.labels.push_back(kernel_bit);
    }
    return scored;
}

TEST(ScoreSetBuilder, KeepsSamplesApart) {
    ScoreSetBuilder builder({}, 1);
    builder.add(make_sample("a", 3, 10));
    builder.add(make_sample("empty", 0, 0));
    builder.add(make_sample("b", 2, 20));
    const auto set = builder.snapshot();
    ASSERT_EQ(set->sample_count(), 3);
    EXPECT_EQ(set->token_count(), 5);
    EXPECT_EQ(set->id(1), "empty");
    EXPECT_EQ(set->token_begin(1), set->token_end(1));
    EXPECT_EQ(set->token_begin(2), 3);
    EXPECT_EQ(set->columns().token_id[3], 20);
    EXPECT_EQ(set->response(0), "xxx");
    EXPECT_EQ(set->prompt(2), "prompt of b");
    EXPECT_EQ(set->span(4), (ByteSpan{1, 2}));
}

TEST(ScoreSetBuilder, ASnapshotDoesNotChangeAfterwards) {
    ScoreSetBuilder builder({}, 1);
    builder.add(make_sample("a", 1, 10));
    const auto before = builder.snapshot();
    for (int n = 0; n < 100; ++n)
        builder.add(make_sample("b", 50, 20));
    EXPECT_EQ(before->sample_count(), 1);
    EXPECT_EQ(before->columns().token_id[0], 10);
    EXPECT_EQ(before->response(0), "x");
}

TEST(ScoreSetBuilder, LearnsTheTextOfTheTokensThatOccur) {
    ScoreSetBuilder builder({}, 1, [](std::int32_t id) { return "<" + std::to_string(id) + ">"; });
    builder.add(make_sample("a", 2, 7));
    const auto set = builder.snapshot();
    EXPECT_EQ(set->token_text(8), "<8>");
    EXPECT_EQ(set->token_text(99), std::nullopt); // only in the prompt
}

TEST(ScoreSetBuilder, RefusesArraysThatDoNotFit) {
    ScoreSetBuilder builder({}, 1);
    ScoredSample scored = make_sample("a", 3, 10);
    scored.scores.rank.pop_back();
    EXPECT_THROW(builder.add(scored), Error);
    EXPECT_EQ(builder.sample_count(), 0);
    EXPECT_EQ(builder.snapshot()->token_count(), 0); // nothing of the refused sample stays
}

TEST(ScoreSet, WithLabelsChangesOnlyLabels) {
    ScoreSetBuilder builder({}, 1);
    builder.add(make_sample("a", 2, 10));
    const auto set = builder.snapshot();
    const auto changed = set->with_labels({0, launch_bit});
    EXPECT_EQ(set->columns().labels[1], kernel_bit);
    EXPECT_EQ(changed->columns().labels[1], launch_bit);
    EXPECT_EQ(changed->columns().token_id[1], 11);
    EXPECT_THROW(set->with_labels({0}), Error);
}

TEST(ScoreSet, RefusesOffsetsThatRunBackwardsOrOutside) {
    const std::int64_t good[] = {0, 0, 0};
    const std::int64_t backwards[] = {0, 1, 0};
    const std::int64_t outside[] = {0, 0, 9};
    ScoreColumns columns;
    columns.sample_begin = columns.prompt_begin = columns.response_begin = good;
    EXPECT_NO_THROW(ScoreSet(columns, {"a", "b"}, {}, nullptr));
    EXPECT_THROW(ScoreSet(columns, {"a"}, {}, nullptr), Error);
    columns.prompt_begin = backwards;
    EXPECT_THROW(ScoreSet(columns, {"a", "b"}, {}, nullptr), Error);
    columns.prompt_begin = outside;
    EXPECT_THROW(ScoreSet(columns, {"a", "b"}, {}, nullptr), Error);
}

// The bits of contracts.md: 0 kernel body, 1 launch configuration, 2.. the kinds in their order.
TEST(TokenLabels, BitsAreThoseOfTheFileFormat) {
    EXPECT_EQ(kind_bit(SensitiveKind::memory_access), 1 << 2);
    EXPECT_EQ(kind_bit(SensitiveKind::memory_management), 1 << 9);
    EXPECT_TRUE(is_cuda_masked(kernel_bit));
    EXPECT_FALSE(is_cuda_sensitive(kernel_bit));
    EXPECT_TRUE(is_cuda_sensitive(launch_bit));
    EXPECT_FALSE(is_cuda_masked(kind_bit(SensitiveKind::memory_management)));
    EXPECT_EQ(sensitive_kind_names[static_cast<std::size_t>(SensitiveKind::warp_intrinsic)],
              "warp_intrinsic");
}

TEST(ScoreSet, ASelectionIsASetOfItsOwn) {
    ScoreSetBuilder builder({}, 1, [](std::int32_t id) { return "t" + std::to_string(id); });
    builder.add(make_sample("a", 3, 10));
    builder.add(make_sample("empty", 0, 0));
    builder.add(make_sample("b", 2, 20));
    std::shared_ptr<const ScoreSet> chosen;
    {
        const auto all = builder.snapshot();
        chosen = all->select(std::vector<std::int64_t>{2, 1});
    } // the selection keeps what it needs alive
    ASSERT_EQ(chosen->sample_count(), 2);
    EXPECT_EQ(chosen->id(0), "b");
    EXPECT_EQ(chosen->token_count(), 2);
    EXPECT_EQ(chosen->columns().token_id[1], 21);
    EXPECT_EQ(chosen->columns().top_id.size(), 2u);
    EXPECT_EQ(chosen->prompt(1), "prompt of empty");
    EXPECT_EQ(chosen->response(0), "xx");
    EXPECT_EQ(chosen->token_text(20), "t20");
    EXPECT_NO_THROW(chosen->check_tokens(0, chosen->sample_count()));
    EXPECT_EQ(chosen->select({})->token_count(), 0);
}

} // namespace
} // namespace cuset
