#include "core/train/train_event.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/train/flat_json.h"

namespace cuset {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// One description of the fields serves writing and reading: visit(name, member).
template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, StartedEvent> {
    visit("model", e.model);
    visit("objective", e.objective);
    visit("formula", e.formula);
    visit("method", e.method);
    visit("dtype", e.dtype);
    visit("device", e.device);
    visit("version", e.version);
    visit("total_steps", e.total_steps);
    visit("epochs", e.epochs);
    visit("samples", e.samples);
    visit("tokens", e.tokens);
    visit("cut_samples", e.cut_samples);
    visit("left_out_samples", e.left_out_samples);
    visit("validation_samples", e.validation_samples);
    visit("trainable_parameters", e.trainable_parameters);
    visit("resumed_from", e.resumed_from);
    visit("ranks", e.ranks);
    visit("unquantized_loss", e.unquantized_loss);
    visit("quantized_loss", e.quantized_loss);
}

template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, StepEvent> {
    visit("step", e.step);
    visit("epoch", e.epoch);
    visit("loss", e.loss);
    visit("learning_rate", e.learning_rate);
    visit("grad_norm", e.grad_norm);
    visit("tokens", e.tokens);
    visit("tokens_per_second", e.tokens_per_second);
    visit("confident_share", e.confident_share);
    visit("supervised_share", e.supervised_share);
    visit("mean_weight", e.mean_weight);
    visit("nll", e.nll);
    visit("mean_confidence", e.mean_confidence);
    visit("sensitive_confidence", e.sensitive_confidence);
    visit("neutral_confidence", e.neutral_confidence);
    visit("memory_bytes", e.memory_bytes);
    visit("eta_seconds", e.eta_seconds);
    visit("skipped", e.skipped);
}

template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, EvaluationEvent> {
    visit("step", e.step);
    visit("loss", e.loss);
    visit("mean_confidence", e.mean_confidence);
    visit("sensitive_confidence", e.sensitive_confidence);
    visit("neutral_confidence", e.neutral_confidence);
    visit("tokens", e.tokens);
    visit("best", e.best);
}

template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, CheckpointEvent> {
    visit("step", e.step);
    visit("path", e.path);
}

template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, LogEvent> {
    visit("level", e.level);
    visit("message", e.message);
}

template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, FinishedEvent> {
    visit("reason", e.reason);
    visit("step", e.step);
    visit("loss", e.loss);
    visit("best_step", e.best_step);
    visit("best_loss", e.best_loss);
    visit("skipped_steps", e.skipped_steps);
    visit("seconds", e.seconds);
    visit("logit_difference", e.logit_difference);
}

template <class E, class V>
void fields(E& e, V&& visit) requires std::is_same_v<std::remove_const_t<E>, FailedEvent> {
    visit("code", e.code);
    visit("message", e.message);
    visit("exit_code", e.exit_code);
    visit("step", e.step);
    visit("checkpoint", e.checkpoint);
}

constexpr const char* type_names[] = {"started", "step",     "evaluation", "checkpoint",
                                      "log",     "finished", "failed"};

void take(const json& from, double& to) {
    to = from.is_number() ? from.get<double>() : no_figure;
}
void take(const json& from, std::int64_t& to) {
    if (from.is_number_integer())
        to = from.get<std::int64_t>();
}
void take(const json& from, int& to) {
    if (from.is_number_integer())
        to = from.get<int>();
}
void take(const json& from, bool& to) {
    if (from.is_boolean())
        to = from.get<bool>();
}
void take(const json& from, std::string& to) {
    if (from.is_string())
        to = from.get<std::string>();
}

// A step whose line is as plain as we write it; most lines of a run are.
std::optional<TrainEvent> scan_step(std::string_view line) {
    StepEvent step;
    std::string_view type;
    TrainEvent event;
    FlatJson text(line);
    while (text.ok() && !text.key().empty()) {
        const std::string_view before = text.key();
        if (before == "v")
            text.skip();
        else if (before == "type")
            text.take(type);
        else if (before == "time")
            text.take(event.time);
        else // in the order in which they are written: one pass takes them all
            fields(step, [&](std::string_view name, auto& member) {
                if (text.key() == name)
                    text.take(member);
            });
        if (text.key() == before && text.key().data() == before.data())
            text.skip();
    }
    if (!text.at_end() || type != "step")
        return std::nullopt;
    event.body = step;
    return event;
}

template <class Body> TrainEvent read_body(const json& object) {
    Body body;
    fields(body, [&](const char* name, auto& member) {
        if (const auto found = object.find(name); found != object.end())
            take(*found, member);
    });
    return {object.value("time", std::string()), body};
}

} // namespace

std::string time_now() {
    const auto now = std::chrono::system_clock::now();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
    const std::time_t seconds = static_cast<std::time_t>(ms.count() / 1000);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(text + size, sizeof text - size, ".%03dZ", static_cast<int>(ms.count() % 1000));
    return text;
}

std::string to_json_line(const TrainEvent& event) {
    ordered_json line{{"v", 1}, {"type", type_names[event.body.index()]}, {"time", event.time}};
    std::visit(
        [&](const auto& body) {
            fields(body, [&](const char* name, const auto& member) { line[name] = member; });
        },
        event.body);
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

double event_seconds(std::string_view time) {
    std::tm utc{};
    double seconds = 0;
    const std::string text(time);
    if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lf", &utc.tm_year, &utc.tm_mon, &utc.tm_mday,
                    &utc.tm_hour, &utc.tm_min, &seconds)
        < 6)
        return no_figure;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    return static_cast<double>(timegm(&utc)) + seconds;
}

std::optional<TrainEvent> parse_event(std::string_view line) {
    if (auto step = scan_step(line))
        return step;
    const json object = json::parse(line, nullptr, false);
    if (!object.is_object() || !object.contains("type") || !object["type"].is_string()
        || (object.contains("time") && !object["time"].is_string()))
        return std::nullopt;
    const std::string type = object["type"].get<std::string>();
    if (type == "started")
        return read_body<StartedEvent>(object);
    if (type == "step")
        return read_body<StepEvent>(object);
    if (type == "evaluation")
        return read_body<EvaluationEvent>(object);
    if (type == "checkpoint")
        return read_body<CheckpointEvent>(object);
    if (type == "log")
        return read_body<LogEvent>(object);
    if (type == "finished")
        return read_body<FinishedEvent>(object);
    if (type == "failed")
        return read_body<FailedEvent>(object);
    return std::nullopt;
}

} // namespace cuset
