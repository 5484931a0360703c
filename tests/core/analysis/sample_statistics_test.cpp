#include "core/analysis/sample_statistics.h"

#include <cmath>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/analysis/worker_pool.h"
#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
using test::CorpusSample;
using test::make_set;

const json& golden() {
    static const json data =
        json::parse(std::ifstream(CUSET_TEST_DATA "/analysis/statistics.json"));
    return data;
}

SampleStatistics statistics_of(const std::vector<CorpusSample>& samples,
                               const BootstrapOptions& options = {}) {
    RunControl control;
    const CorpusAnalyzer analyzer(make_set(samples), control);
    return sample_statistics(analyzer, options, control);
}

// Sensitive values first, then neutral ones.
CorpusSample sample_of(const std::vector<float>& sensitive, const std::vector<float>& neutral) {
    CorpusSample sample;
    sample.confidence = sensitive;
    sample.confidence.insert(sample.confidence.end(), neutral.begin(), neutral.end());
    sample.labels.assign(sensitive.size(), launch_bit);
    sample.labels.resize(sample.confidence.size(), kernel_bit);
    return sample;
}

TEST(SampleStatistics, EffectSizesEqualNumPy) {
    for (const auto& [name, entry] : golden().at("samples").items()) {
        const EffectSize found = effect_size(entry.at("first").get<std::vector<float>>(),
                                             entry.at("second").get<std::vector<float>>());
        const double delta = entry.at("cliffs_delta").get<double>();
        EXPECT_NEAR(found.cliffs_delta, delta, 1e-14) << name;
        EXPECT_NEAR(found.common_language, (delta + 1) / 2, 1e-14) << name;
        if (entry.contains("cohens_d")) {
            EXPECT_NEAR(found.cohens_d, entry.at("cohens_d").get<double>(), 1e-12) << name;
        }
    }
}

TEST(SampleStatistics, IntervalsEqualNumPyOnTheSameDraws) {
    const json& entry = golden().at("bootstrap");
    std::vector<CorpusSample> samples;
    for (std::size_t n = 0; n < entry.at("neutral").size(); ++n)
        samples.push_back(sample_of(entry.at("sensitive").at(n).get<std::vector<float>>(),
                                    entry.at("neutral").at(n).get<std::vector<float>>()));
    const SampleStatistics found = statistics_of(samples,
                                                 {.replicates = entry.at("replicates").get<int>(),
                                                  .level = entry.at("level").get<double>(),
                                                  .seed = entry.at("seed").get<std::uint64_t>()});
    const Interval* intervals[] = {&found.sensitive, &found.neutral, &found.difference};
    for (std::size_t i = 0; i < 3; ++i) {
        // Scores keep ln c in float32: c moves by up to 1e-7.
        EXPECT_NEAR(intervals[i]->low, entry.at("low").at(i).get<double>(), 2e-7);
        EXPECT_NEAR(intervals[i]->high, entry.at("high").at(i).get<double>(), 2e-7);
        EXPECT_LT(intervals[i]->low, intervals[i]->estimate);
        EXPECT_GT(intervals[i]->high, intervals[i]->estimate);
    }
}

TEST(SampleStatistics, OneSampleHasNoSpreadAndTokensOfItDoNotCount) {
    const SampleStatistics found =
        statistics_of({sample_of({0.5f, 1.0f}, {0.25f, 0.5f, 0.75f}), {{}, {}}});
    EXPECT_EQ(found.samples, 1);
    EXPECT_EQ(found.sensitive.low, found.sensitive.high);
    EXPECT_NEAR(found.difference.estimate, 0.25, 1e-7);
    EXPECT_NEAR(found.difference.low, 0.25, 1e-7);
    EXPECT_EQ(found.ks_samples.statistic, 1); // one mean against one mean
}

TEST(SampleStatistics, SeedAndThreadsDecideNothingElse) {
    std::mt19937 random(9);
    const auto set = make_set(test::random_samples(random, 50, 40));
    RunControl control;
    WorkerPool pool(0);
    const CorpusAnalyzer one(set, control), many(set, control, pool.parallel_for());
    const SampleStatistics a = sample_statistics(one, {}, control);
    const SampleStatistics b = sample_statistics(many, {}, control);
    EXPECT_EQ(a.difference.low, b.difference.low);
    EXPECT_EQ(a.sensitive.high, b.sensitive.high);
    const SampleStatistics c = sample_statistics(one, {.seed = 43}, control);
    EXPECT_NE(a.difference.low, c.difference.low);
    EXPECT_NEAR(a.difference.low, c.difference.low, 0.02);
    // By sample, the test has far fewer values than by token.
    EXPECT_EQ(a.ks_tokens.statistic, one.summary().confidence.ks.statistic);
    EXPECT_GE(a.ks_samples.log10_p, -10);
}

TEST(SampleStatistics, EmptyAndOneSidedCorporaStayFinite) {
    for (const std::vector<CorpusSample>& samples :
         {std::vector<CorpusSample>{},
          {{{}, {}}},
          {sample_of({0.5f}, {})},
          {sample_of({}, {0.5f}), sample_of({}, {0.25f})}}) {
        const SampleStatistics found = statistics_of(samples);
        EXPECT_TRUE(std::isfinite(found.sensitive.low + found.neutral.high + found.difference.low
                                  + found.by_token.cohens_d + found.by_sample.cliffs_delta));
        EXPECT_EQ(found.by_sample.common_language, 0.5);
        EXPECT_EQ(found.ks_samples.p_value, 1);
    }
}

TEST(SampleStatistics, OptionsOutOfRangeAreRefusedAndStopWorks) {
    RunControl control;
    const CorpusAnalyzer analyzer(make_set({sample_of({0.5f}, {0.5f})}), control);
    EXPECT_THROW(sample_statistics(analyzer, {.replicates = 0}, control), Error);
    EXPECT_THROW(sample_statistics(analyzer, {.level = 1}, control), Error);
    EXPECT_THROW(sample_statistics(analyzer, {.level = NAN}, control), Error);
    control.request_stop();
    EXPECT_THROW(sample_statistics(analyzer, {}, control), Cancelled);
}

} // namespace
} // namespace cuset
