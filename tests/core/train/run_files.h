// A run folder as a trainer leaves it, written by hand.
#pragma once

#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/train/run_reader.h"
#include "tests/core/train/fixture.h"

namespace cuset::test {

inline StepEvent some_step(std::int64_t step) {
    std::mt19937_64 random(static_cast<std::uint64_t>(step));
    std::uniform_real_distribution<double> number(0, 1);
    StepEvent event;
    event.step = step;
    event.epoch = static_cast<double>(step) / 7;
    event.loss = number(random) * 3;
    event.learning_rate = number(random) * 1e-4;
    event.grad_norm = number(random);
    event.tokens = 100 + step;
    event.tokens_per_second = number(random) * 1e4;
    event.confident_share = number(random);
    event.supervised_share = number(random);
    event.nll = number(random);
    event.mean_confidence = number(random);
    event.sensitive_confidence = step % 3 ? number(random) : no_figure;
    event.memory_bytes = std::int64_t{1} << 33;
    event.eta_seconds = number(random) * 1000;
    event.skipped = step % 5 == 0;
    return event;
}

inline std::string line_of(const TrainEvent& event) {
    return to_json_line(event) + "\n";
}

class RunFiles : public ::testing::Test {
protected:
    std::filesystem::path run() const { return folder_.path(); }
    void append(const std::string& text) const {
        std::ofstream(run() / "events.jsonl", std::ios::binary | std::ios::app) << text;
    }
    void write_lock(std::int64_t pid, const std::string& start, const std::string& host) const {
        folder_.write("lock",
                      "{\"pid\":" + std::to_string(pid) + ",\"start_time\":\"" + start
                          + "\",\"host\":\"" + host + "\"}\n");
    }
    RunUpdate read(RunReader& reader) const {
        RunControl control;
        return reader.read(control);
    }

    TemporaryFolder folder_;
};

} // namespace cuset::test
