#include "core/analysis/corpus_summary.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/mask.h"
#include "core/analysis/sweep.h"
#include "core/analysis/worker_pool.h"
#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

using test::CorpusSample;
using test::make_set;
using test::random_samples;

CorpusAnalyzer analyze(const std::vector<CorpusSample>& samples) {
    RunControl control;
    return CorpusAnalyzer(make_set(samples), control);
}

// Every number of a summary and its rows, in a fixed order.
std::vector<double> numbers(const CorpusAnalyzer& analyzer) {
    const CorpusSummary& s = analyzer.summary();
    std::vector<double> out = {static_cast<double>(s.samples), static_cast<double>(s.tokens)};
    const auto add = [&](auto... values) { (out.push_back(static_cast<double>(values)), ...); };
    const auto add_moments = [&](const Moments& m) { add(m.count, m.mean, m.std); };
    add_moments(s.confidence.sensitive);
    add_moments(s.confidence.neutral);
    add_moments(s.confidence.all);
    for (const Moments& kind : s.confidence.by_kind)
        add_moments(kind);
    add(s.confidence.ks.statistic, s.confidence.ks.p_value, s.confidence.ks.log10_p);
    add(s.mask.confident_share, s.mask.cuda_share, s.mask.supervised_share, s.mask.mean_mask);
    add(s.difficulty.mean, s.difficulty.min, s.difficulty.max, s.weight.mean, s.weight.min,
        s.weight.max);
    const LowConfidenceSummary& low = s.low_confidence;
    add(low.window, low.samples_share, low.windows_share, low.sensitive_share, low.windows,
        low.low_windows);
    for (const double share : low.by_kind)
        add(share);
    for (const SampleSummary& row : analyzer.samples())
        add(row.tokens, row.mean_confidence, row.difficulty, row.weight, row.min_window_begin,
            row.confident_share, row.cuda_share, row.supervised_share, row.mean_mask);
    return out;
}

MaskSettings random_settings(std::mt19937& random) {
    const auto pick = [&](auto... values) {
        const double all[] = {static_cast<double>(values)...};
        return all[random() % std::size(all)];
    };
    MaskSettings settings;
    settings.tau = pick(0, 0.1, 0.5, 0.999, 1);
    settings.lambda = pick(1e-6, 0.5, 1, 4);
    settings.window = static_cast<int>(pick(1, 2, 7, 64, 1000));
    settings.confidence_mask = random() % 2 == 0;
    settings.cuda_mask = random() % 2 == 0;
    settings.region_weight = random() % 2 == 0;
    settings.whole_if_short = random() % 2 == 0;
    return settings;
}

TEST(Corpus, RowsAndSummaryEqualTheSamplesOneByOne) {
    std::mt19937 random(1);
    const std::vector<CorpusSample> samples = random_samples(random, 60, 150);
    CorpusAnalyzer analyzer = analyze(samples);
    for (int round = 0; round < 20; ++round) {
        const MaskSettings settings = random_settings(random);
        analyzer.update(settings);
        double tokens = 0, mask_sum = 0, supervised = 0, confident = 0, cuda = 0, weight = 0;
        int used = 0;
        for (std::size_t n = 0; n < samples.size(); ++n) {
            const SampleSummary& row = analyzer.samples()[n];
            const std::size_t begin = static_cast<std::size_t>(
                analyzer.scores()->token_begin(static_cast<std::int64_t>(n)));
            const auto c = analyzer.confidence().subspan(begin, samples[n].confidence.size());
            const MaskedSample masked = mask_sample(c, samples[n].labels, settings);
            EXPECT_EQ(row.tokens, static_cast<std::int64_t>(c.size()));
            EXPECT_EQ(row.difficulty, masked.difficulty);
            EXPECT_EQ(row.weight, masked.weight);
            EXPECT_EQ(row.min_window_begin, masked.min_window_begin);
            double own_mask = 0, own_supervised = 0, own_sum = 0;
            for (std::size_t t = 0; t < c.size(); ++t) {
                own_mask += masked.mask[t];
                own_supervised += masked.mask[t] > 0;
                confident += c[t] > static_cast<float>(settings.tau);
                cuda += is_cuda_masked(samples[n].labels[t]);
                own_sum += c[t];
            }
            if (c.empty())
                continue;
            const auto size = static_cast<double>(c.size());
            EXPECT_NEAR(row.mean_mask, own_mask / size, 1e-6 * (1 + own_mask / size));
            EXPECT_NEAR(row.supervised_share, own_supervised / size, 1e-7);
            EXPECT_NEAR(row.mean_confidence, own_sum / size, 1e-7);
            tokens += size;
            mask_sum += own_mask;
            supervised += own_supervised;
            weight += masked.weight;
            ++used;
        }
        const CorpusSummary& summary = analyzer.summary();
        EXPECT_NEAR(summary.mask.mean_mask, mask_sum / tokens, 1e-5);
        EXPECT_NEAR(summary.mask.supervised_share, supervised / tokens, 1e-12);
        EXPECT_NEAR(summary.mask.confident_share, confident / tokens, 1e-12);
        EXPECT_NEAR(summary.mask.cuda_share, cuda / tokens, 1e-12);
        EXPECT_NEAR(summary.weight.mean, weight / used, 1e-9);
    }
}

TEST(Corpus, CountsInBinsAreExact) {
    std::mt19937 random(13);
    CorpusAnalyzer analyzer = analyze(random_samples(random, 6, 6000)); // enough tokens for 64 bins
    for (double tau :
         {0.0, 0x1p-30, 0.1, 0.25, 0.5 - 0x1p-25, 0.5, 0.5 + 0x1p-24, 0.984375, 0.999, 1.0}) {
        analyzer.update({.tau = tau});
        std::size_t begin = 0;
        for (const SampleSummary& row : analyzer.samples()) {
            const auto c =
                analyzer.confidence().subspan(begin, static_cast<std::size_t>(row.tokens));
            begin += c.size();
            const auto above =
                std::ranges::count_if(c, [&](float v) { return v > static_cast<float>(tau); });
            EXPECT_EQ(
                row.confident_share,
                static_cast<float>(static_cast<double>(above) / static_cast<double>(row.tokens)));
        }
    }
}

TEST(Corpus, AnUpdateEqualsAFreshAnalyzer) {
    std::mt19937 random(2);
    const std::vector<CorpusSample> samples = random_samples(random, 40, 200);
    CorpusAnalyzer moved = analyze(samples);
    for (int round = 0; round < 60; ++round) {
        const MaskSettings settings = random_settings(random);
        const auto window = static_cast<std::int32_t>(1 + random() % 120);
        moved.update(settings);
        moved.set_low_confidence_window(window);
        CorpusAnalyzer fresh = analyze(samples);
        fresh.update(settings);
        fresh.set_low_confidence_window(window);
        ASSERT_EQ(numbers(moved), numbers(fresh)) << round;
    }
}

TEST(Corpus, ThreadsChangeNothing) {
    std::mt19937 random(3);
    const auto set = make_set(random_samples(random, 900, 400)); // more than one chunk
    WorkerPool pool(0);
    RunControl control;
    CorpusAnalyzer one(set, control), many(set, control, pool.parallel_for());
    for (int round = 0; round < 10; ++round) {
        const MaskSettings settings = random_settings(random);
        one.update(settings);
        many.update(settings);
        ASSERT_EQ(numbers(one), numbers(many));
    }
}

TEST(Corpus, NoNumberIsEverNaN) {
    std::mt19937 random(4);
    const std::vector<std::vector<CorpusSample>> corpora = {
        {},
        {{{}, {}}},
        {{{}, {}}, {{0.5f}, {0}}, {{}, {}}},
        {{{0.0f}, {kernel_bit}}},
        {{{1.0f, 1.0f}, {launch_bit, launch_bit}}},
        {{{NAN, 0.5f, INFINITY}, {0, kernel_bit, static_cast<LabelBits>(0xffff)}}},
    };
    for (const auto& samples : corpora) {
        CorpusAnalyzer analyzer = analyze(samples);
        for (int round = 0; round < 20; ++round) {
            const MaskSettings settings = random_settings(random);
            analyzer.update(settings);
            for (const double number : numbers(analyzer))
                ASSERT_TRUE(std::isfinite(number));
            RunControl control;
            for (const SweepPoint& point : sweep(analyzer, settings, {}, control))
                ASSERT_TRUE(std::isfinite(point.push_sensitive + point.mean_weight));
        }
    }
}

TEST(Corpus, TauZeroAndOneAndVanishingLambda) {
    const std::vector<CorpusSample> samples = {
        {{0.5f, 1.0f, 0.25f, 0.125f}, {0, kernel_bit, kernel_bit, 0}}};
    CorpusAnalyzer analyzer = analyze(samples);
    analyzer.update({.tau = 0});
    EXPECT_EQ(analyzer.summary().mask.confident_share, 1);
    EXPECT_EQ(analyzer.summary().mask.supervised_share, 1);
    analyzer.update({.tau = 1});
    EXPECT_EQ(analyzer.summary().mask.confident_share, 0);
    EXPECT_EQ(analyzer.summary().mask.supervised_share, 0.5);
    EXPECT_EQ(analyzer.summary().mask.mean_mask, 0.5);
    analyzer.update({.tau = 0.3, .lambda = 1e-6});
    EXPECT_NEAR(analyzer.summary().mask.mean_mask, 0.5, 1e-6); // as without the CUDA mask
    EXPECT_EQ(analyzer.summary().mask.supervised_share, 0.75); // but the token still counts
    analyzer.update({.window = 1});
    EXPECT_EQ(analyzer.summary().difficulty.mean, 0.125);
    analyzer.update({.window = 1000, .whole_if_short = true});
    EXPECT_NEAR(analyzer.summary().difficulty.mean, 1.875 / 4, 1e-7);
}

// Section 3 by definition: every start token, every token of its window.
LowConfidenceSummary naive_low(const CorpusAnalyzer& analyzer,
                               const std::vector<CorpusSample>& samples, int window) {
    double low = 0, all = 0, hit = 0, low_samples = 0, used = 0;
    std::array<double, sensitive_kind_count> kinds{};
    const double line = analyzer.summary().confidence.neutral.mean;
    std::size_t begin = 0;
    for (const CorpusSample& sample : samples) {
        const auto c = analyzer.confidence().subspan(begin, sample.confidence.size());
        begin += c.size();
        if (c.empty())
            continue;
        const std::size_t length = std::min(c.size(), static_cast<std::size_t>(window));
        bool any = false;
        for (std::size_t s = 0; s + length <= c.size(); ++s) {
            double sum = 0;
            unsigned bits = 0, is_sensitive = 0;
            for (std::size_t t = s; t < s + length; ++t) {
                sum += c[t];
                bits |= sample.labels[t];
                is_sensitive |= is_cuda_sensitive(sample.labels[t]) ? 1u : 0u;
            }
            all += 1;
            if (sum / static_cast<double>(length) >= line)
                continue;
            any = true;
            low += 1;
            hit += is_sensitive;
            for (std::size_t k = 0; k < kinds.size(); ++k)
                kinds[k] += (bits & kind_bit(static_cast<SensitiveKind>(k))) != 0;
        }
        used += 1;
        low_samples += any;
    }
    LowConfidenceSummary result;
    result.samples_share = low_samples / used;
    result.windows_share = low / all;
    result.sensitive_share = hit / low;
    for (std::size_t k = 0; k < kinds.size(); ++k)
        result.by_kind[k] = kinds[k] / low;
    return result;
}

TEST(Corpus, LowConfidenceWindowsByDefinition) {
    std::mt19937 random(5);
    const std::vector<CorpusSample> samples = random_samples(random, 25, 90);
    CorpusAnalyzer analyzer = analyze(samples);
    for (const int window : {1, 2, 5, 16, 64, 89, 300}) {
        analyzer.set_low_confidence_window(window);
        const LowConfidenceSummary& found = analyzer.summary().low_confidence;
        const LowConfidenceSummary expected = naive_low(analyzer, samples, window);
        EXPECT_EQ(found.window, window);
        EXPECT_NEAR(found.samples_share, expected.samples_share, 1e-12) << window;
        EXPECT_NEAR(found.windows_share, expected.windows_share, 1e-12) << window;
        EXPECT_NEAR(found.sensitive_share, expected.sensitive_share, 1e-12) << window;
        for (std::size_t k = 0; k < sensitive_kind_count; ++k)
            EXPECT_NEAR(found.by_kind[k], expected.by_kind[k], 1e-12) << window << ' ' << k;
    }
    EXPECT_THROW(analyzer.set_low_confidence_window(0), Error);
}

TEST(Corpus, WithoutNeutralTokensNoWindowIsLow) {
    const CorpusAnalyzer analyzer = analyze({{{0.1f, 0.9f}, {launch_bit, launch_bit}}});
    EXPECT_EQ(analyzer.summary().low_confidence.samples_share, 0);
    EXPECT_EQ(analyzer.summary().low_confidence.low_windows, 0);
}

TEST(Corpus, SortedConfidencesAreThoseOfTheirClass) {
    const CorpusAnalyzer analyzer =
        analyze({{{0.5f, 0.25f, 1.0f}, {launch_bit, kernel_bit, launch_bit}}});
    EXPECT_EQ(std::vector(analyzer.sorted_sensitive().begin(), analyzer.sorted_sensitive().end()),
              (std::vector<float>{0.5f, 1.0f}));
    EXPECT_EQ(analyzer.sorted_neutral().size(), 1u); // a kernel body alone is not sensitive
}

TEST(Corpus, ABadSettingLeavesAllAsItWas) {
    CorpusAnalyzer analyzer = analyze({{{0.5f, 0.25f}, {0, 0}}});
    const std::vector<double> before = numbers(analyzer);
    EXPECT_THROW(analyzer.update({.tau = 2}), Error);
    EXPECT_EQ(numbers(analyzer), before);
    EXPECT_EQ(analyzer.summary().settings, MaskSettings{});
}

TEST(Corpus, StopsWhenAsked) {
    RunControl control;
    control.request_stop();
    EXPECT_THROW(CorpusAnalyzer(make_set({{{0.5f}, {0}}}), control), Cancelled);
    CorpusAnalyzer analyzer = analyze({{{0.5f}, {0}}});
    EXPECT_THROW(sweep(analyzer, {}, {}, control), Cancelled);
}

TEST(Sweep, PointsEqualUpdatesAndPushIsSummed) {
    std::mt19937 random(6);
    const std::vector<CorpusSample> samples = random_samples(random, 20, 60);
    CorpusAnalyzer analyzer = analyze(samples);
    analyzer.update({.tau = 0.25});
    for (const auto& [confidence_mask, cuda_mask] :
         {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
        const MaskSettings base{.confidence_mask = confidence_mask, .cuda_mask = cuda_mask};
        RunControl control;
        const SweepGrid grid{{0.1, 0.9}, {0.5, 2}, {4, 64}};
        const std::vector<SweepPoint> points = sweep(analyzer, base, grid, control);
        ASSERT_EQ(points.size(), 8u);
        EXPECT_EQ(points[1].settings.window, 64); // window innermost
        EXPECT_EQ(points[4].settings.tau, 0.9); // tau outermost
        EXPECT_EQ(analyzer.summary().settings.tau, 0.25);
        for (const SweepPoint& point : points) {
            double total = 0, sensitive = 0;
            std::size_t begin = 0;
            for (const CorpusSample& sample : samples) {
                const auto c = analyzer.confidence().subspan(begin, sample.confidence.size());
                begin += c.size();
                const MaskedSample masked = mask_sample(c, sample.labels, point.settings);
                for (std::size_t t = 0; t < c.size(); ++t) {
                    const double here = push(c[t], masked.mask[t], masked.weight);
                    total += here;
                    sensitive += is_cuda_sensitive(sample.labels[t]) ? here : 0;
                }
            }
            EXPECT_NEAR(point.push_sensitive, sensitive / total, 1e-6);
            CorpusAnalyzer fresh = analyze(samples);
            fresh.update(point.settings);
            EXPECT_EQ(point.mean_weight, fresh.summary().weight.mean);
            EXPECT_EQ(point.mask.mean_mask, fresh.summary().mask.mean_mask);
        }
    }
}

TEST(Sweep, CudaShareOfSupervisedTokensByCounting) {
    std::mt19937 random(11);
    const std::vector<CorpusSample> samples = random_samples(random, 15, 50);
    CorpusAnalyzer analyzer = analyze(samples);
    RunControl control;
    for (const auto& [confidence_mask, cuda_mask] :
         {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
        const MaskSettings base{.confidence_mask = confidence_mask, .cuda_mask = cuda_mask};
        for (const SweepPoint& point :
             sweep(analyzer, base, {{0, 0.1, 0.5, 1}, {1}, {16}}, control)) {
            double both = 0, supervised = 0;
            for (const CorpusSample& sample : samples) {
                const MaskedSample masked =
                    mask_sample(sample.confidence, sample.labels, point.settings);
                for (std::size_t t = 0; t < sample.labels.size(); ++t) {
                    supervised += masked.mask[t] > 0;
                    both += masked.mask[t] > 0 && is_cuda_masked(sample.labels[t]);
                }
            }
            EXPECT_NEAR(point.supervised_cuda_share, supervised > 0 ? both / supervised : 0, 1e-9);
        }
    }
}

TEST(Sweep, APlaneHoldsTheThirdAxisAndRunsOverTheOtherTwo) {
    CorpusAnalyzer analyzer = analyze({{{0.5f, 0.2f, 0.9f}, {0, kernel_bit, launch_bit}}});
    RunControl control;
    const SweepGrid grid{{0.1, 0.3}, {0.5, 1, 2}, {1, 2, 4, 8}};
    const std::vector<SweepPoint> points = sweep(analyzer, {}, grid, control);
    for (const auto& [x, y] : {std::pair(SweepAxis::tau, SweepAxis::lambda),
                               {SweepAxis::window, SweepAxis::tau},
                               {SweepAxis::lambda, SweepAxis::window}}) {
        const SweepAxis held = third_axis(x, y);
        const std::vector<double> held_values = axis_values(grid, held);
        for (std::size_t h = 0; h < held_values.size(); ++h) {
            const SweepPlane plane = sweep_plane(grid, x, y, h);
            ASSERT_EQ(plane.points.size(), plane.x_values.size() * plane.y_values.size());
            for (std::size_t row = 0; row < plane.y_values.size(); ++row)
                for (std::size_t column = 0; column < plane.x_values.size(); ++column) {
                    const MaskSettings& at =
                        points[plane.points[row * plane.x_values.size() + column]].settings;
                    EXPECT_EQ(axis_value(at, x), plane.x_values[column]);
                    EXPECT_EQ(axis_value(at, y), plane.y_values[row]);
                    EXPECT_EQ(axis_value(at, held), held_values[h]);
                }
        }
    }
}

TEST(Sweep, TheSurfaceHoldsThePresentSettings) {
    const MaskSettings now{.tau = 0.137, .lambda = 3, .window = 100};
    const SweepGrid grid = surface_grid(now);
    EXPECT_TRUE(std::ranges::is_sorted(grid.tau) && std::ranges::is_sorted(grid.lambda)
                && std::ranges::is_sorted(grid.window));
    EXPECT_EQ(std::ranges::count(grid.tau, 0.137), 1);
    EXPECT_EQ(std::ranges::count(grid.lambda, 3.0), 1);
    EXPECT_EQ(std::ranges::count(grid.window, 100), 1);
    EXPECT_EQ(surface_grid({}).tau.size(), 11u); // 0.1 is there already
    EXPECT_EQ(with_axis(now, SweepAxis::window, 63.6).window, 64);
    EXPECT_EQ(axis_distance({.lambda = 1}, {.lambda = 4}, SweepAxis::lambda), 2);
}

TEST(Sweep, StopsInTheMiddleAndPutsTheSettingsBack) {
    CorpusAnalyzer analyzer = analyze({{{0.5f, 0.25f}, {0, 0}}});
    analyzer.update({.tau = 0.4});
    int points = 0;
    RunControl* stop = nullptr;
    RunControl control(
        [&](const Progress&) {
            if (++points == 3)
                stop->request_stop();
        },
        std::chrono::milliseconds(0));
    stop = &control;
    EXPECT_THROW(sweep(analyzer, {}, surface_grid({}), control), Cancelled);
    EXPECT_EQ(analyzer.summary().settings.tau, 0.4);
}

TEST(Sweep, RefusesABadGrid) {
    CorpusAnalyzer analyzer = analyze({{{0.5f}, {0}}});
    RunControl control;
    EXPECT_THROW(sweep(analyzer, {}, {{-1}, {1}, {64}}, control), Error);
    EXPECT_THROW(sweep(analyzer, {},
                       {std::vector<double>(1000, 0.5), std::vector<double>(1000, 1), {64}},
                       control),
                 Error);
    EXPECT_TRUE(sweep(analyzer, {}, {{}, {1}, {64}}, control).empty());
}

TEST(WorkerPool, RunsEachItemOnceAndRethrows) {
    EXPECT_THROW(WorkerPool(-1), Error);
    for (const int threads : {1, 2, 0}) {
        WorkerPool pool(threads);
        const ParallelFor run = pool.parallel_for();
        for (int round = 0; round < 200; ++round) {
            std::vector<std::atomic<int>> seen(37);
            run(37, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
            EXPECT_TRUE(
                std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
        }
        EXPECT_THROW(run(10,
                         [](std::int64_t i) {
                             if (i == 3)
                                 throw Cancelled();
                         }),
                     Cancelled);
        run(0, [](std::int64_t) { FAIL(); });
    }
}

} // namespace
} // namespace cuset
