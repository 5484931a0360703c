// bench_score MODEL SAMPLES [DTYPE] [THREADS] [REPEATS] [VALUES.json]: scores all .cu files of a
// folder, prompt by the model's own template, and prints one line of JSON: tokens, tokens and
// processor seconds of a pass (medians of the repeats), peak memory in bytes. VALUES.json gets the
// log-probability of every response token.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/model/inference_session.h"
#include "tests/bench/process_usage.h"

namespace {

// The first line of each file, a comment, asks for the whole file.
std::vector<cuset::Sample> read_samples_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".cu")
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<cuset::Sample> samples;
    for (const auto& path : paths) {
        cuset::Sample sample;
        sample.id = path.filename().string();
        sample.response = cuset::read_file(path, 16u << 20);
        sample.prompt = "Write a complete CUDA C++ file that does what the following comment line "
                        "says. Answer with code only.\n"
            + sample.response.substr(0, sample.response.find('\n'));
        samples.push_back(std::move(sample));
    }
    return samples;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int run(int argc, char** argv) {
    cuset::SessionOptions options;
    options.device = "cpu";
    options.dtype = argc > 3 ? argv[3] : "float32";
    options.threads = argc > 4 ? std::atoi(argv[4]) : 0;
    const int repeats = argc > 5 ? std::max(1, std::atoi(argv[5])) : 3;
    cuset::RunControl control;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto seconds = [&](auto since) {
        return std::chrono::duration<double>(now() - since).count();
    };
    auto start = now();
    cuset::InferenceSession session(argv[1], options, control);
    const double load_seconds = seconds(start);
    const auto samples = read_samples_of(argv[2]);
    std::int64_t tokens = 0, response_tokens = 0;
    std::vector<float> log_probs;
    std::vector<double> times, processor_times;
    for (int repeat = 0; repeat <= repeats; ++repeat) {
        tokens = response_tokens = 0;
        log_probs.clear();
        start = now();
        const double used = cuset::bench::processor_seconds();
        for (const cuset::Sample& sample : samples) {
            const auto scored = session.score(sample, {}, control);
            tokens += static_cast<std::int64_t>(scored.encoding.ids.size());
            response_tokens += scored.encoding.response_tokens();
            log_probs.insert(log_probs.end(), scored.scores.log_prob.begin(),
                             scored.scores.log_prob.end());
        }
        if (repeat == 0)
            continue; // the first one warms up
        times.push_back(seconds(start));
        processor_times.push_back(cuset::bench::processor_seconds() - used);
    }
    if (argc > 6)
        cuset::write_file_atomically(argv[6], nlohmann::json{{"logprob", log_probs}}.dump());
    double confidence = 0;
    for (float log_prob : log_probs)
        confidence += std::exp(static_cast<double>(log_prob));
    const nlohmann::json result{
        {"engine", "cuset"},
        {"dtype", session.info().dtype},
        {"tokens", tokens},
        {"response_tokens", response_tokens},
        {"tokens_per_second", static_cast<double>(tokens) / median(times)},
        {"cpu_seconds", median(processor_times)},
        {"mean_confidence", confidence / static_cast<double>(response_tokens)},
        {"load_seconds", load_seconds},
        {"peak_rss_bytes", cuset::bench::peak_bytes()}};
    std::cout << result.dump() << "\n";
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: bench_score MODEL SAMPLES [DTYPE] [THREADS] [REPEATS]\n";
        return 2;
    }
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
