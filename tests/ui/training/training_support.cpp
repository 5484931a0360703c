#include "tests/ui/training/training_support.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/ui/synthetic_scores.h"

namespace cuset::test {

QString tinyModel() {
    return QStringLiteral(CUSET_TEST_DATA "/models/llama");
}

QString writeSamples(const QTemporaryDir& folder) {
    const QString path = folder.filePath(QStringLiteral("set.jsonl"));
    std::string text = kernelText();
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
        text.replace(at, 1, "\\n");
    std::ofstream out(path.toStdString());
    for (int n = 0; n < 6; ++n)
        out << R"({"id":"s)" << n << R"(","prompt":"Scale an array.","response":")" << text << "// "
            << n << "\"}\n";
    return path;
}

TrainConfig tinyConfig(const QTemporaryDir& folder, const QString& name) {
    TrainConfig config;
    config.model = tinyModel().toStdString();
    config.data = {writeSamples(folder).toStdString()};
    config.output = folder.filePath(name).toStdString();
    config.validation_share = 0.2;
    config.gradient_accumulation = 2;
    config.max_steps = 8;
    config.eval_steps = 4;
    config.save_steps = 1;
    config.max_length = 160;
    config.dtype = "float32";
    config.device = "cpu";
    config.threads = 1;
    config.learning_rate = 2e-3;
    return config;
}

StepEvent madeUpStep(std::int64_t step, std::int64_t total) {
    const double share = static_cast<double>(step) / static_cast<double>(total);
    StepEvent event;
    event.step = step;
    event.epoch = share * 3;
    event.loss = 2 * std::exp(-3 * share) + 0.1 * std::sin(static_cast<double>(step));
    event.nll = event.loss * 1.2;
    event.learning_rate = 1e-4 * (1 - share);
    event.grad_norm = 1 + 0.3 * std::cos(static_cast<double>(step) * 0.7);
    event.tokens = 900;
    event.tokens_per_second = 1500;
    event.confident_share = 0.6 + 0.2 * share;
    event.supervised_share = 0.8;
    event.mean_weight = 0.7 - 0.2 * share;
    event.mean_confidence = 0.5 + 0.3 * share;
    event.neutral_confidence = 0.6 + 0.2 * share;
    event.sensitive_confidence = 0.4 + 0.4 * share;
    event.memory_bytes = std::int64_t{3} << 30;
    event.eta_seconds = static_cast<double>(total - step) * 0.5;
    return event;
}

QString writeRun(const QTemporaryDir& folder, const QString& name, std::int64_t steps,
                 std::int64_t total) {
    namespace fs = std::filesystem;
    const TrainConfig config = tinyConfig(folder, name);
    fs::create_directories(config.output);
    std::ofstream(config.output + "/config.json") << train_config_json(config);
    StartedEvent started;
    started.model = config.model;
    started.objective = "cuset";
    started.formula = formula_text(config.objective);
    started.total_steps = total;
    std::ofstream out(config.output + "/events.jsonl");
    out << to_json_line({"2026-12-01T10:00:00.000Z", started}) << '\n';
    for (std::int64_t step = 1; step <= steps; ++step) {
        out << to_json_line({"2026-12-01T10:00:10.000Z", madeUpStep(step, total)}) << '\n';
        if (step % 10 == 0) {
            EvaluationEvent evaluation;
            evaluation.step = step;
            evaluation.loss = madeUpStep(step, total).loss * 1.3;
            out << to_json_line({"2026-12-01T10:00:10.000Z", evaluation}) << '\n';
        }
    }
    return QString::fromStdString(config.output);
}

void appendText(const QString& run, const std::string& text) {
    std::ofstream(run.toStdString() + "/events.jsonl", std::ios::app | std::ios::binary) << text;
}

void appendEvent(const QString& run, const TrainEvent& event) {
    appendText(run, to_json_line(event) + "\n");
}

void writeLock(const QString& run, const LockHolder& holder) {
    std::ofstream(run.toStdString() + "/lock")
        << "{\"pid\":" << holder.pid << ",\"start_time\":\"" << holder.start_time
        << "\",\"host\":\"" << holder.host << "\"}\n";
}

} // namespace cuset::test
