// The demo samples: the JSON Lines file is what its sources say, and every response compiles.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "core/io/sample_reader.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

const fs::path sample_folder = fs::path(CUSET_SOURCE_DIR) / "resources" / "samples";

Dataset read_demo_samples() {
    RunControl control;
    ReadOptions options;
    options.strict = true;
    return read_samples({sample_folder / "cuda_kernels.jsonl"}, options, control);
}

std::string squeeze(const std::string& text) {
    std::string squeezed;
    for (const char c : text)
        if (c != ' ' && c != '\n')
            squeezed += c;
    return squeezed;
}

TEST(DemoSamples, AreManyAndComplete) {
    const Dataset data = read_demo_samples();
    EXPECT_GE(data.samples.size(), 28u);
    EXPECT_TRUE(data.warnings.empty());
    for (const Sample& sample : data.samples) {
        EXPECT_FALSE(sample.prompt.empty()) << sample.id;
        EXPECT_NE(sample.response.find("__global__"), std::string::npos) << sample.id;
        EXPECT_TRUE(sample.response.ends_with('\n')) << sample.id;
    }
}

// A forgotten run of packaging/make_samples shows here.
TEST(DemoSamples, AgreeWithTheirSources) {
    std::size_t sources = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(sample_folder))
        sources += entry.path().extension() == ".cu";
    const Dataset data = read_demo_samples();
    EXPECT_EQ(data.samples.size(), sources);
    for (const Sample& sample : data.samples) {
        std::ifstream file(sample_folder / (sample.id + ".cu"), std::ios::binary);
        ASSERT_TRUE(file) << sample.id;
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        EXPECT_TRUE(text.starts_with("/* prompt\n")) << sample.id;
        ASSERT_TRUE(text.ends_with("\n*/\n" + sample.response)) << sample.id;
        const std::size_t prompt_end = text.size() - sample.response.size() - 4;
        EXPECT_EQ(squeeze(text.substr(10, prompt_end - 10)), squeeze(sample.prompt)) << sample.id;
    }
}

// Runs `command` in a shell and returns its exit status; what it prints goes to `output`.
int run(const std::string& command, std::string& output) {
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr)
        return -1;
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        output.append(buffer, got);
    const int status = ::pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DemoSamples, EachCompiles) {
    std::string ignored;
    if (run("nvcc --version", ignored) != 0)
        GTEST_SKIP() << "nvcc is not on PATH";
    const Dataset data = read_demo_samples();
    const TemporaryFolder folder;
    std::mutex mutex;
    std::size_t next = 0;
    std::string failures;
    const auto work = [&] {
        for (;;) {
            std::unique_lock lock(mutex);
            if (next == data.samples.size())
                return;
            const std::size_t n = next++;
            lock.unlock();
            const std::string name = "sample" + std::to_string(n);
            const fs::path source = folder.write(name + ".cu", data.samples[n].response);
            std::string output;
            const int status = run("timeout 120 nvcc -c -arch=sm_90 -o '" + source.string()
                                       + ".o' '" + source.string() + "'",
                                   output);
            lock.lock();
            if (status != 0 || !output.empty())
                failures +=
                    data.samples[n].id + ": exit status " + std::to_string(status) + "\n" + output;
        }
    };
    auto other = std::async(std::launch::async, work);
    work();
    other.get();
    EXPECT_EQ(failures, "");
}

} // namespace
} // namespace cuset
