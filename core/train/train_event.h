// TrainEvent: one line of a run's events.jsonl. Readers ignore types and fields that they do not
// know.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cuset {

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN(); // null in JSON

struct StartedEvent {
    std::string model, objective, formula, method, dtype, device, version;
    std::int64_t total_steps = 0, epochs = 0, samples = 0, tokens = 0, cut_samples = 0,
                 left_out_samples = 0, validation_samples = 0, trainable_parameters = 0;
    std::int64_t resumed_from = -1; // a step, or -1
    int ranks = 1;
    // Plain NLL in nats a token of the untrained model, if the base is quantised, on some samples.
    double unquantized_loss = no_figure, quantized_loss = no_figure;
};

struct StepEvent {
    std::int64_t step = 0; // from 1
    double epoch = 0; // epochs done after this step
    double loss = 0; // of the objective, reduced
    double learning_rate = 0;
    double grad_norm = 0; // before clipping
    std::int64_t tokens = 0; // response tokens of the step
    double tokens_per_second = 0; // of the whole sequences
    double confident_share = no_figure, supervised_share = no_figure; // of the response tokens
    double mean_weight = no_figure; // of w_n, over samples
    double nll = no_figure; // plain mean of -ln p_t
    double mean_confidence = no_figure, sensitive_confidence = no_figure,
           neutral_confidence = no_figure;
    std::int64_t memory_bytes = 0;
    double eta_seconds = 0;
    bool skipped = false; // loss or gradient was not finite: no update
};

struct EvaluationEvent {
    std::int64_t step = 0;
    double loss = 0; // plain NLL, mean over response tokens
    double mean_confidence = no_figure, sensitive_confidence = no_figure,
           neutral_confidence = no_figure;
    std::int64_t tokens = 0;
    bool best = false;
};

struct CheckpointEvent {
    std::int64_t step = 0;
    std::string path; // relative to the run folder
};

struct LogEvent {
    std::string level; // "info", "warning", "error"
    std::string message;
};

struct FinishedEvent {
    std::string reason; // "completed", "early_stopping", "stopped"
    std::int64_t step = 0;
    double loss = no_figure; // of the last step
    std::int64_t best_step = -1;
    double best_loss = no_figure;
    std::int64_t skipped_steps = 0;
    double seconds = 0;
    double logit_difference = no_figure; // largest, of the saved model against the trained one
};

struct FailedEvent {
    std::string code; // error_code_name
    std::string message;
    int exit_code = 1;
    std::int64_t step = 0;
    std::string checkpoint; // the last good one, or ""
};

struct TrainEvent {
    std::string time; // ISO 8601, UTC
    std::variant<StartedEvent, StepEvent, EvaluationEvent, CheckpointEvent, LogEvent, FinishedEvent,
                 FailedEvent>
        body;
};

std::string time_now(); // "2026-12-01T08:55:12.345Z"
// Seconds since 1970 of such a time; NaN if it is none.
double event_seconds(std::string_view time);
// One line without its end. Text that is no UTF-8 becomes U+FFFD.
std::string to_json_line(const TrainEvent& event);
// Nothing for a line that is not an event we know, e.g. one that was cut off.
std::optional<TrainEvent> parse_event(std::string_view line);

} // namespace cuset
