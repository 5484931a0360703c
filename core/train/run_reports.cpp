#include "core/train/run_reports.h"

#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/train/run_folder.h"

namespace cuset {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

// Castagnoli's polynomial, reflected.
constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit)
            c = c & 1u ? c >> 1 ^ 0x82f63b78u : c >> 1;
        table[i] = c;
    }
    return table;
}

std::uint32_t masked_crc(std::string_view text) {
    static constexpr auto table = make_crc_table();
    std::uint32_t c = 0xffffffffu;
    for (const char byte : text)
        c = table[(c ^ static_cast<unsigned char>(byte)) & 0xffu] ^ c >> 8;
    c = ~c;
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

template <class T> void put_little(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

// Field numbers with wire types 1 (8 bytes), 0 (varint), 2 (bytes), 5 (4 bytes).
void put_double(std::string& out, unsigned field, double value) {
    put_varint(out, field << 3 | 1u);
    put_little(out, std::bit_cast<std::uint64_t>(value));
}

void put_bytes(std::string& out, unsigned field, std::string_view text) {
    put_varint(out, field << 3 | 2u);
    put_varint(out, text.size());
    out += text;
}

void put_record(std::string& out, const std::string& event) {
    std::string length;
    put_little(length, static_cast<std::uint64_t>(event.size()));
    out += length;
    put_little(out, masked_crc(length));
    out += event;
    put_little(out, masked_crc(event));
}

double seconds_of(const std::string& time) {
    const double seconds = event_seconds(time);
    return std::isnan(seconds) ? 0 : seconds;
}

ordered_json log_entry(const StepEvent& step) {
    return {{"epoch", step.epoch},
            {"grad_norm", step.grad_norm},
            {"learning_rate", step.learning_rate},
            {"loss", step.loss},
            {"step", step.step}};
}

ordered_json trainer_state(const std::vector<TrainEvent>& events, const TrainConfig& config) {
    ordered_json history = ordered_json::array();
    std::int64_t step = 0, max_steps = 0, best_step = -1, tokens = 0;
    double epoch = 0, best = no_figure;
    for (const TrainEvent& event : events) {
        if (const auto* started = std::get_if<StartedEvent>(&event.body)) {
            max_steps = started->total_steps;
        } else if (const auto* s = std::get_if<StepEvent>(&event.body)) {
            history.push_back(log_entry(*s));
            step = s->step;
            epoch = s->epoch;
            tokens += s->tokens;
        } else if (const auto* e = std::get_if<EvaluationEvent>(&event.body)) {
            history.push_back({{"epoch", epoch}, {"eval_loss", e->loss}, {"step", e->step}});
            if (e->best) {
                best = e->loss;
                best_step = e->step;
            }
        }
    }
    return {{"best_global_step", best_step < 0 ? ordered_json(nullptr) : ordered_json(best_step)},
            {"best_metric", best},
            {"best_model_checkpoint",
             best_step < 0 ? ordered_json(nullptr)
                           : ordered_json("checkpoints/step-" + std::to_string(best_step))},
            {"epoch", epoch},
            {"eval_steps", config.eval_steps.value_or(0)},
            {"global_step", step},
            {"is_local_process_zero", true},
            {"is_world_process_zero", true},
            {"log_history", history},
            {"logging_steps", 1},
            {"max_steps", max_steps},
            {"num_input_tokens_seen", tokens},
            {"num_train_epochs", config.epochs},
            {"save_steps", config.save_steps.value_or(0)},
            {"total_flos", 0},
            {"train_batch_size", config.batch_size}};
}

std::vector<ScalarRecord> scalars(const std::vector<TrainEvent>& events) {
    std::vector<ScalarRecord> records;
    for (const TrainEvent& event : events) {
        const double time = seconds_of(event.time);
        const auto add = [&](std::int64_t step, const char* tag, double value) {
            if (!std::isnan(value))
                records.push_back({time, step, tag, static_cast<float>(value)});
        };
        if (const auto* s = std::get_if<StepEvent>(&event.body)) {
            add(s->step, "train/loss", s->loss);
            add(s->step, "train/nll", s->nll);
            add(s->step, "train/learning_rate", s->learning_rate);
            add(s->step, "train/grad_norm", s->grad_norm);
            add(s->step, "train/mean_confidence", s->mean_confidence);
            add(s->step, "train/sensitive_confidence", s->sensitive_confidence);
            add(s->step, "train/neutral_confidence", s->neutral_confidence);
            add(s->step, "train/mean_weight", s->mean_weight);
            add(s->step, "train/tokens_per_second", s->tokens_per_second);
        } else if (const auto* e = std::get_if<EvaluationEvent>(&event.body)) {
            add(e->step, "eval/loss", e->loss);
            add(e->step, "eval/mean_confidence", e->mean_confidence);
            add(e->step, "eval/sensitive_confidence", e->sensitive_confidence);
            add(e->step, "eval/neutral_confidence", e->neutral_confidence);
        }
    }
    return records;
}

} // namespace

std::string tensorboard_file(const std::vector<ScalarRecord>& records, double wall_time) {
    std::string out, first;
    put_double(first, 1, wall_time); // Event.wall_time
    put_bytes(first, 3, "brain.Event:2"); // Event.file_version
    put_record(out, first);
    for (const ScalarRecord& record : records) {
        std::string value, summary, event;
        put_bytes(value, 1, record.tag); // Summary.Value.tag
        put_varint(value, 2u << 3 | 5u); // Summary.Value.simple_value
        put_little(value, std::bit_cast<std::uint32_t>(record.value));
        put_bytes(summary, 1, value);
        put_double(event, 1, record.wall_time);
        put_varint(event, 2u << 3 | 0u); // Event.step
        put_varint(event, static_cast<std::uint64_t>(record.step));
        put_bytes(event, 5, summary);
        put_record(out, event);
    }
    return out;
}

void write_run_reports(const fs::path& folder, const TrainConfig& config) {
    const std::vector<TrainEvent> events = read_events(folder);
    write_file_atomically(folder / "trainer_state.json",
                          trainer_state(events, config).dump(2) + "\n");
    std::error_code error;
    fs::create_directories(folder / "tensorboard", error);
    if (error)
        throw Error(ErrorCode::disk, "cannot be made: " + error.message(),
                    (folder / "tensorboard").string());
    const double begin = events.empty() ? 0 : seconds_of(events.front().time);
    const std::string name =
        "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(begin)) + ".cuset";
    write_file_atomically(folder / "tensorboard" / name, tensorboard_file(scalars(events), begin));
}

std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

} // namespace cuset
