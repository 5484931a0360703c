#include "core/analysis/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/analysis/float_sort.h"
#include "core/base/error.h"

namespace cuset {
namespace {

// SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014) of a counter.
std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct ClassSum {
    double sum = 0;
    std::int64_t count = 0;

    void add(const ClassSum& other) {
        sum += other.sum;
        count += other.count;
    }
    double mean() const { return sum / static_cast<double>(count); }
};

struct SampleSums {
    ClassSum sensitive, neutral;
};

std::vector<SampleSums> sums_by_sample(const CorpusAnalyzer& analyzer) {
    const ScoreSet& scores = *analyzer.scores();
    std::vector<SampleSums> all;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        SampleSums own;
        for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t) {
            const auto i = static_cast<std::size_t>(t);
            const bool sensitive = is_cuda_sensitive(scores.columns().labels[i]);
            (sensitive ? own.sensitive : own.neutral)
                .add({static_cast<double>(analyzer.confidence()[i]), 1});
        }
        if (own.sensitive.count + own.neutral.count > 0)
            all.push_back(own);
    }
    return all;
}

SampleSums resampled(const std::vector<SampleSums>& samples, std::uint64_t seed,
                     std::uint64_t replicate) {
    SampleSums total;
    const std::uint64_t stream = mixed(mixed(seed) ^ replicate);
    for (std::uint64_t draw = 0; draw < samples.size(); ++draw) {
        const std::uint64_t high = mixed(stream + draw) >> 32; // 32 bits, scaled to the samples
        const SampleSums& drawn = samples[static_cast<std::size_t>((high * samples.size()) >> 32)];
        total.sensitive.add(drawn.sensitive);
        total.neutral.add(drawn.neutral);
    }
    return total;
}

// Quantile of sorted values, linear between its neighbours (numpy.quantile's default).
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Interval interval(double estimate, std::vector<double> replicates, double level) {
    if (replicates.empty())
        return {estimate, estimate, estimate};
    std::sort(replicates.begin(), replicates.end());
    return {estimate, quantile(replicates, (1 - level) / 2), quantile(replicates, (1 + level) / 2)};
}

void require_options(const BootstrapOptions& options) {
    if (options.replicates < 1 || options.replicates > 1000000)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(options.replicates) + ", needs 1 to 1000000",
                    "bootstrap replicates");
    if (!(options.level > 0 && options.level < 1))
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(options.level) + ", needs a number between 0 and 1",
                    "bootstrap level");
}

void bootstrap(const CorpusAnalyzer& analyzer, const std::vector<SampleSums>& samples,
               const BootstrapOptions& options, RunControl& control, SampleStatistics& result) {
    const auto replicates = static_cast<std::size_t>(options.replicates);
    std::vector<SampleSums> drawn(replicates);
    constexpr std::size_t batch = 64;
    const std::size_t batches = (replicates + batch - 1) / batch;
    analyzer.parallel_for()(static_cast<std::int64_t>(batches), [&](std::int64_t i) {
        control.throw_if_stopped();
        const std::size_t begin = static_cast<std::size_t>(i) * batch;
        for (std::size_t r = begin; r < std::min(begin + batch, replicates); ++r)
            drawn[r] = resampled(samples, options.seed, r);
    });
    std::vector<double> sensitive, neutral, difference;
    for (const SampleSums& sums : drawn) {
        if (sums.sensitive.count > 0)
            sensitive.push_back(sums.sensitive.mean());
        if (sums.neutral.count > 0)
            neutral.push_back(sums.neutral.mean());
        if (sums.sensitive.count > 0 && sums.neutral.count > 0)
            difference.push_back(sums.sensitive.mean() - sums.neutral.mean());
    }
    const ConfidenceSummary& means = analyzer.summary().confidence;
    result.sensitive = interval(means.sensitive.mean, std::move(sensitive), options.level);
    result.neutral = interval(means.neutral.mean, std::move(neutral), options.level);
    const bool both = means.sensitive.count > 0 && means.neutral.count > 0;
    result.difference = interval(both ? means.sensitive.mean - means.neutral.mean : 0,
                                 std::move(difference), options.level);
}

EffectSize effect_size_sorted(std::span<const float> first, std::span<const float> second) {
    EffectSize result;
    if (first.empty() || second.empty())
        return result;
    const Moments a = moments(first), b = moments(second);
    const auto n = static_cast<double>(a.count), m = static_cast<double>(b.count);
    if (n + m > 2) {
        const double pooled = std::sqrt((n * a.std * a.std + m * b.std * b.std) / (n + m - 2));
        if (pooled > 0)
            result.cohens_d = (a.mean - b.mean) / pooled;
    }
    double greater = 0, less = 0; // pairs
    std::size_t below = 0, up_to = 0;
    for (const float value : first) {
        while (below < second.size() && second[below] < value)
            ++below;
        while (up_to < second.size() && second[up_to] <= value)
            ++up_to;
        greater += static_cast<double>(below);
        less += static_cast<double>(second.size() - up_to);
    }
    result.cliffs_delta = (greater - less) / (n * m);
    result.common_language = (result.cliffs_delta + 1) / 2;
    return result;
}

} // namespace

EffectSize effect_size(std::span<const float> first, std::span<const float> second) {
    return effect_size_sorted(sorted_copy(first), sorted_copy(second));
}

SampleStatistics sample_statistics(const CorpusAnalyzer& analyzer, const BootstrapOptions& options,
                                   RunControl& control) {
    require_options(options);
    SampleStatistics result;
    const std::vector<SampleSums> samples = sums_by_sample(analyzer);
    control.throw_if_stopped();
    std::vector<float> sensitive, neutral;
    for (const SampleSums& sample : samples) {
        if (sample.sensitive.count > 0)
            sensitive.push_back(static_cast<float>(sample.sensitive.mean()));
        if (sample.neutral.count > 0)
            neutral.push_back(static_cast<float>(sample.neutral.mean()));
    }
    result.samples = static_cast<std::int64_t>(samples.size());
    result.samples_sensitive = static_cast<std::int64_t>(sensitive.size());
    result.samples_neutral = static_cast<std::int64_t>(neutral.size());
    result.ks_tokens = analyzer.summary().confidence.ks;
    result.ks_samples = ks_test(sensitive, neutral);
    result.by_token = effect_size_sorted(analyzer.sorted_sensitive(), analyzer.sorted_neutral());
    result.by_sample = effect_size(sensitive, neutral);
    bootstrap(analyzer, samples, options, control, result);
    return result;
}

} // namespace cuset
