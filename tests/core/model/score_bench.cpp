// bench_score MODEL SAMPLES [DTYPE] [THREADS] [REPEATS]: scores all .cu files of a folder, prompt
// by the model's own template, and prints one line of JSON: tokens, tokens a second (median of the
// repeats), peak memory in bytes.
#include <sys/resource.h>

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
    double confidence = 0;
    std::vector<double> times;
    for (int repeat = 0; repeat <= repeats; ++repeat) {
        tokens = response_tokens = 0;
        confidence = 0;
        start = now();
        for (const cuset::Sample& sample : samples) {
            const auto scored = session.score(sample, {}, control);
            tokens += static_cast<std::int64_t>(scored.encoding.ids.size());
            response_tokens += scored.encoding.response_tokens();
            for (float log_prob : scored.scores.log_prob)
                confidence += std::exp(static_cast<double>(log_prob));
        }
        if (repeat > 0) // the first one warms up
            times.push_back(seconds(start));
    }
    std::sort(times.begin(), times.end());
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const nlohmann::json result{
        {"engine", "cuset"},
        {"dtype", session.info().dtype},
        {"tokens", tokens},
        {"response_tokens", response_tokens},
        {"tokens_per_second", static_cast<double>(tokens) / times[times.size() / 2]},
        {"mean_confidence", confidence / static_cast<double>(response_tokens)},
        {"load_seconds", load_seconds},
        {"peak_rss_bytes", usage.ru_maxrss * 1024}};
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
