// Speed of find_cuda_structure: regions_bench FILE_OR_FOLDER... Prints MB/s of one core over the
// .cu, .cuh and .h files, and the seconds that 6,000 samples of 3 kB take on two threads; ends with
// one line of JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

#include "tests/core/cuda/cuda_test_support.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void add_file(const std::filesystem::path& path, std::vector<std::string>& texts) {
    const auto extension = path.extension();
    if (extension == ".cu" || extension == ".cuh" || extension == ".h")
        texts.push_back(cuset::test::read_file(path));
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> texts;
    for (int i = 1; i < argc; ++i) {
        if (!std::filesystem::is_directory(argv[i])) {
            add_file(argv[i], texts);
            continue;
        }
        for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
            if (entry.is_regular_file())
                add_file(entry.path(), texts);
    }
    std::size_t bytes = 0;
    for (const std::string& text : texts)
        bytes += text.size();
    if (bytes == 0) {
        std::fprintf(stderr, "regions_bench: no .cu, .cuh or .h file given\n");
        return 2;
    }
    // Processor time of this thread: a busy machine does not change it.
    const auto processor_seconds = [] {
        return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    };
    double best = 1e9;
    std::size_t spans = 0;
    for (int round = 0; round < 3; ++round) {
        const double start = processor_seconds();
        std::size_t done = 0;
        do {
            for (const std::string& text : texts)
                spans += cuset::find_cuda_structure_in_source(text).spans.size();
            done += bytes;
        } while (done < 4'000'000);
        best = std::min(best, (processor_seconds() - start) / static_cast<double>(done));
    }

    std::string all;
    for (std::size_t i = 0; all.size() < 3'000'000; i = (i + 1) % texts.size())
        all += texts[i];
    constexpr std::size_t samples = 6000, sample_size = 3000;
    const auto label = [&](std::size_t first) {
        for (std::size_t i = first; i < samples; i += 2) {
            const std::size_t at = i * 487 % (all.size() - sample_size);
            (void)cuset::find_cuda_structure(std::string_view(all).substr(at, sample_size));
        }
    };
    const auto begin = Clock::now();
    std::thread other(label, 1);
    label(0);
    other.join();
    std::printf("{\"bench\": \"regions\", \"bytes\": %zu, \"mb_per_second\": %.1f, "
                "\"samples_6000_seconds\": %.2f, \"spans\": %zu}\n",
                bytes, 1e-6 / best, seconds_since(begin), spans);
    return 0;
}
