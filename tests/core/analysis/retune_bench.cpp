// Measures what a moved slider costs on a large corpus, and a plain read of the same bytes beside
// it. Prints one line of JSON, in milliseconds: median and best of the repetitions by the clock,
// and the median of processor time over all threads, which other programs disturb less. Usage:
// bench_retune [threads = 2] [tokens = 5000000] [samples = 5000] [repetitions = 9]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/corpus_summary.h"
#include "core/analysis/statistics.h"
#include "core/analysis/worker_pool.h"

namespace {

using namespace cuset;

// SplitMix64: the same corpus on every machine.
std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct Columns {
    std::vector<std::int64_t> sample_begin, zeros;
    std::vector<std::int32_t> integers;
    std::vector<float> log_prob, entropy;
    std::vector<LabelBits> labels;
};

// Samples of random lengths around tokens / samples; about 55 % of the tokens in CUDA regions, 20 %
// sensitive.
std::shared_ptr<const ScoreSet> synthetic(std::int64_t tokens, std::int64_t samples) {
    auto columns = std::make_shared<Columns>();
    std::uint64_t state = 1;
    columns->sample_begin = {0, tokens};
    for (std::int64_t n = 1; n < samples; ++n)
        columns->sample_begin.push_back(
            static_cast<std::int64_t>(next_random(state) % static_cast<std::uint64_t>(tokens)));
    std::sort(columns->sample_begin.begin(), columns->sample_begin.end());
    columns->zeros.resize(columns->sample_begin.size());
    const auto size = static_cast<std::size_t>(tokens);
    columns->integers.resize(size);
    columns->entropy.resize(size);
    LabelBits bits = 0;
    for (std::size_t t = 0; t < size; ++t) {
        const std::uint64_t z = next_random(state);
        const double u = static_cast<double>(z >> 11) * 0x1p-53;
        columns->log_prob.push_back(static_cast<float>(std::log1p(-u * u * 0.999999)));
        if ((z & 7) == 0) {
            bits = (z >> 3 & 255) < 140 ? kernel_bit : LabelBits{0};
            if ((z >> 16 & 255) < 51)
                bits = static_cast<LabelBits>(bits | 4u << (z >> 24 & 7));
        }
        columns->labels.push_back(bits);
    }
    ScoreColumns views;
    views.sample_begin = columns->sample_begin;
    views.token_id = views.rank = views.byte_begin = views.byte_end = columns->integers;
    views.log_prob = columns->log_prob;
    views.entropy = views.entropy_top20 = columns->entropy;
    views.labels = columns->labels;
    views.prompt_begin = views.response_begin = columns->zeros;
    std::vector<std::string> ids;
    for (std::int64_t n = 0; n < samples; ++n)
        ids.push_back(std::to_string(n));
    return std::make_shared<const ScoreSet>(views, std::move(ids), ScoreProvenance{}, columns);
}

// Another tau for each repetition, all over [0.05, 0.95).
double some_tau(int repetition) {
    return 0.05 + 0.09 * ((repetition + 1) * 7 % 10);
}

struct Timing {
    double median = 0, best = 0, processor = 0;
};

// In milliseconds; `step` is told the repetition's number.
Timing measure(int repetitions, const std::function<void(int)>& step) {
    std::vector<double> times, processor;
    step(-1);
    for (int i = 0; i < repetitions; ++i) {
        const std::clock_t ticks = std::clock();
        const auto begin = std::chrono::steady_clock::now();
        step(i);
        const std::chrono::duration<double, std::milli> taken =
            std::chrono::steady_clock::now() - begin;
        times.push_back(taken.count());
        processor.push_back(1e3 * static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC);
    }
    std::sort(times.begin(), times.end());
    std::sort(processor.begin(), processor.end());
    return {times[times.size() / 2], times.front(), processor[processor.size() / 2]};
}

// What tau alone has to look at: 4 bytes a token.
double read_all(const float* values, std::size_t count) {
    float sums[32] = {};
    for (std::size_t i = 0; i + 32 <= count; i += 32)
        for (std::size_t k = 0; k < 32; ++k)
            sums[k] += values[i + k];
    double sum = 0;
    for (const float part : sums)
        sum += static_cast<double>(part);
    return sum;
}

} // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int i, std::int64_t otherwise) {
        return argc > i ? std::strtoll(argv[i], nullptr, 10) : otherwise;
    };
    const auto threads = static_cast<int>(argument(1, 2));
    const std::int64_t tokens = std::max<std::int64_t>(1, argument(2, 5'000'000));
    const std::int64_t samples = std::max<std::int64_t>(1, argument(3, 5'000));
    const auto repetitions = static_cast<int>(std::max<std::int64_t>(1, argument(4, 9)));
    const auto set = synthetic(tokens, samples);
    WorkerPool pool(threads);
    RunControl control;
    const auto begin = std::chrono::steady_clock::now();
    CorpusAnalyzer analyzer(set, control, pool.parallel_for());
    const double open_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();

    MaskSettings settings;
    const auto run = [&](auto change) {
        return measure(repetitions, [&, change](int i) {
            change(settings, i);
            analyzer.update(settings);
        });
    };
    const Timing tau = run([](MaskSettings& s, int i) { s.tau = some_tau(i); });
    const Timing lambda = run([](MaskSettings& s, int i) { s.lambda = 1 + 0.1 * (i + 2); });
    const Timing window = run([](MaskSettings& s, int i) { s.window = i % 2 == 0 ? 64 : 256; });
    const Timing wide = run([](MaskSettings& s, int i) { s.window = i % 2 == 0 ? 512 : 257; });
    const Timing toggled = run([](MaskSettings& s, int) { s.cuda_mask = !s.cuda_mask; });
    const Timing everything = run([](MaskSettings& s, int i) {
        s = {.tau = some_tau(i), .lambda = 2.0 + i, .window = i % 2 == 0 ? 64 : 256};
    });
    const Timing low = measure(
        repetitions, [&](int i) { analyzer.set_low_confidence_window(i % 2 == 0 ? 32 : 64); });
    std::size_t counted = 0;
    const Timing bins = measure(repetitions, [&](int) {
        for (const auto& values : {analyzer.sorted_sensitive(), analyzer.sorted_neutral()})
            for (int b = 1; b <= 100; ++b)
                counted += static_cast<std::size_t>(
                    std::lower_bound(values.begin(), values.end(), static_cast<float>(b) * 0.01f)
                    - values.begin());
    });
    double sum = 0;
    const Timing read = measure(repetitions, [&](int) {
        sum += read_all(analyzer.confidence().data(), analyzer.confidence().size());
    });
    if (!(sum >= 0) || counted == 0)
        return 1;
    std::printf("{\"bench\":\"retune\",\"tokens\":%lld,\"samples\":%lld,\"threads\":%d,\"analyzer_"
                "ms\":%.1f",
                static_cast<long long>(tokens), static_cast<long long>(samples), pool.threads(),
                open_ms);
    const auto print = [](const char* name, const Timing& time) {
        std::printf(",\"%s_ms\":%.3f,\"%s_best_ms\":%.3f,\"%s_cpu_ms\":%.3f", name, time.median,
                    name, time.best, name, time.processor);
    };
    print("tau", tau);
    print("lambda", lambda);
    print("window", window);
    print("window_wide", wide);
    print("switch", toggled);
    print("all", everything);
    print("low_window", low);
    print("histogram", bins);
    print("read", read);
    std::printf(",\"tau_over_read\":%.2f}\n", tau.median / read.median);
    return 0;
}
