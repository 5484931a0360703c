// bench_train MODEL IDS.json DTYPE [THREADS]: LoRA steps of the trainer for packaging/bench train.
// IDS.json is one array of token ids. Each line of the input is a length in tokens; it is answered
// by one optimiser step on the first so many ids and one line of JSON: seconds and processor
// seconds of the step, its loss, and the highest resident size since "reset" was read last, in
// bytes.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/train/step_engine.h"
#include "core/train/training_setup.h"
#include "tests/bench/process_usage.h"

namespace {

using nlohmann::json;

std::int64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:"))
            return std::atoll(line.c_str() + 6) * 1024;
    return 0;
}

// One token of prompt; every third response token counts as CUDA.
std::vector<cuset::TrainSample> sample_of(const std::vector<std::int32_t>& ids,
                                          std::size_t length) {
    cuset::TrainSample sample;
    sample.ids.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(length));
    sample.response_begin = 1;
    for (std::size_t t = 0; t + 1 < length; ++t)
        sample.labels.push_back(t % 3 == 0 ? cuset::kernel_bit : cuset::LabelBits{0});
    return {sample};
}

int run(int argc, char** argv) {
    cuset::TrainConfig config;
    config.model = argv[1];
    config.device = "cpu";
    config.dtype = argv[3];
    config.threads = argc > 4 ? std::atoi(argv[4]) : 0;
    config.gradient_accumulation = 1;
    const auto ids =
        json::parse(cuset::read_file(argv[2], 64u << 20)).get<std::vector<std::int32_t>>();
    const at::NoGradGuard no_graph;
    cuset::RunControl control;
    const cuset::ComputePlace place = cuset::choose_place(config);
    const auto loaded = cuset::load_files(config);
    cuset::TrainingModel model = cuset::make_training_model(config, loaded->files, place, control);
    const auto group = cuset::single_rank();
    cuset::StepEngine engine(model, config, *group, nullptr);
    cuset::StepGroup step;
    step.samples = {0};
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "reset") { // the peak begins anew
            std::ofstream("/proc/self/clear_refs") << "5";
            continue;
        }
        const auto length = static_cast<std::size_t>(std::atoll(line.c_str()));
        if (length < 2 || length > ids.size())
            throw cuset::Error(cuset::ErrorCode::bad_value,
                               "needs 2 to " + std::to_string(ids.size()), "length " + line);
        const auto data = sample_of(ids, length);
        const auto start = std::chrono::steady_clock::now();
        const double used = cuset::bench::processor_seconds();
        const auto result = engine.step(data, step, config.learning_rate, step.step + 1, false);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        ++step.step;
        std::cout << json{{"seconds", seconds.count()},
                          {"cpu_seconds", cuset::bench::processor_seconds() - used},
                          {"loss", result.loss},
                          {"peak_bytes", peak_bytes()}}
                         .dump()
                  << std::endl;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::cerr << "usage: bench_train MODEL IDS.json DTYPE [THREADS] < LENGTHS\n";
        return 2;
    }
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
