// Frames of slider moves over a large corpus, offscreen: from the moved threshold to the finished
// painting of code, charts, table and figures. Not a test.
// usage: bench_frames [TOKENS [SAMPLE_TOKENS]]; prints one line of JSON.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <QApplication>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "tests/ui/synthetic_scores.h"
#include "ui/shell/main_window.h"

namespace {

using namespace cuset;

std::shared_ptr<const ScoreSet> corpus(std::int64_t tokens, std::int64_t sampleTokens) {
    std::string text;
    while (static_cast<std::int64_t>(text.size()) < sampleTokens * 4)
        text += test::kernelText();
    ScoredSample sample = test::labelledSample("", text);
    const auto count = static_cast<std::size_t>(
        std::min<std::int64_t>(sampleTokens, sample.encoding.response_tokens()));
    ScoreSetBuilder builder({}, 2);
    sample.encoding.spans.resize(count);
    sample.encoding.ids.resize(count);
    sample.labels.resize(count);
    for (auto* column :
         {&sample.scores.log_prob, &sample.scores.entropy, &sample.scores.entropy_top20})
        column->resize(count);
    sample.scores.rank.resize(count);
    sample.scores.top_ids.resize(2 * count);
    sample.scores.top_log_probs.resize(2 * count);
    std::uint32_t state = 1;
    for (std::int64_t done = 0; done < tokens; done += static_cast<std::int64_t>(count)) {
        sample.sample.id = "s" + std::to_string(done);
        for (float& value : sample.scores.log_prob) {
            state = state * 1664525u + 1013904223u;
            value = std::log((static_cast<float>(state >> 8) + 1.0f) / 16777217.0f);
        }
        builder.add(sample);
    }
    return builder.snapshot();
}

void report(const char* what, const FrameMeter& meter, bool last) {
    std::printf("\"%s\": {\"median_ms\": %.2f, \"p95_ms\": %.2f, \"worst_ms\": %.2f}%s", what,
                meter.quantile(0.5), meter.quantile(0.95), meter.quantile(1), last ? "" : ", ");
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QStandardPaths::setTestModeEnabled(true);
    QApplication application(argc, argv);
    QApplication::setStyle(QStringLiteral("Fusion"));
    const std::int64_t tokens = argc > 1 ? std::atoll(argv[1]) : 5'000'000;
    const std::int64_t sampleTokens = argc > 2 ? std::atoll(argv[2]) : 500;
    QTemporaryDir folder;
    MainWindow window(folder.filePath(QStringLiteral("settings.json")));
    window.resize(1600, 1000);
    window.show();
    window.workspace()->setScores(corpus(tokens, sampleTokens), {});
    if (!test::waitFor([&] { return window.isSettled(); }, 300000))
        return 1;
    FrameMeter* meter = window.frameMeter();
    meter->setShown(true);
    const auto drag = [&](const char* what, bool last, const auto& move) {
        meter->clear();
        for (int step = 0; step < 60; ++step) {
            const std::size_t before = meter->frames().size();
            move(step);
            test::waitFor([&] { return meter->frames().size() > before; }, 5000);
        }
        report(what, *meter, last);
    };
    std::printf("{\"tokens\": %lld, \"sample_tokens\": %lld, ", static_cast<long long>(tokens),
                static_cast<long long>(sampleTokens));
    const auto set = [&](const auto& change) {
        MaskSettings settings = window.maskSettings()->settings();
        change(settings);
        window.maskSettings()->set(settings, QStringLiteral("bench"));
    };
    window.maskSettings()->beginGesture(QStringLiteral("bench"));
    drag("tau", false, [&](int step) { set([&](MaskSettings& s) { s.tau = 0.1 + step * 0.01; }); });
    drag("lambda", false,
         [&](int step) { set([&](MaskSettings& s) { s.lambda = 0.5 + step * 0.05; }); });
    drag("window", true,
         [&](int step) { set([&](MaskSettings& s) { s.window = 64 + step * 4; }); });
    window.maskSettings()->endGesture();
    std::printf("}\n");
    return 0;
}
