// A large corpus in the window: how long a score file of it takes to the first painting and to the
// corpus' figures, and the frames of slider moves: from the moved threshold to the finished
// painting of code, charts, table and figures. By the clock, and in processor time of the GUI
// thread, which holds on a busy machine. Offscreen unless QT_QPA_PLATFORM says otherwise. usage:
// bench_frames [TOKENS [SAMPLE_TOKENS [LIMIT_MS]]]; prints one line of JSON. Ends with 1 if 95 of
// 100 frames of a drag cost the GUI thread more than LIMIT_MS.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <QApplication>
#include <QElapsedTimer>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "core/io/score_file.h"
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

// Milliseconds from the request to the first painting of table and sample, and to the figures.
void openFile(MainWindow& window, const QString& path) {
    QElapsedTimer timer;
    timer.start();
    window.openPaths({path});
    while (!window.analysis()->figures() && timer.elapsed() < 60000)
        QApplication::processEvents(QEventLoop::AllEvents, 1);
    QApplication::processEvents(); // what waits to be painted
    const auto painted = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    test::waitFor([&] { return window.analysis()->corpus() != nullptr; }, 60000);
    const auto analysed = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    test::waitFor([&] { return window.isSettled(); }, 60000);
    std::printf("\"open\": {\"first_paint_ms\": %.1f, \"figures_ms\": %.1f, \"settled_ms\": %.1f}",
                painted, analysed, static_cast<double>(timer.nsecsElapsed()) / 1e6);
}

// One drag; the processor time of the GUI thread that 95 of 100 frames stay below.
template <typename Move> double drag(MainWindow& window, const char* what, const Move& move) {
    constexpr int steps = 60;
    FrameMeter* meter = window.frameMeter();
    meter->clear();
    window.maskSettings()->beginGesture(QStringLiteral("bench"));
    for (int step = 0; step < steps; ++step) {
        const std::size_t before = meter->frames().size();
        MaskSettings settings = window.maskSettings()->settings();
        move(settings, step);
        window.maskSettings()->set(settings, QStringLiteral("bench"));
        test::waitFor([&] { return meter->frames().size() > before; }, 5000);
    }
    window.maskSettings()->endGesture();
    const auto work = [meter](double share) {
        return meter->quantile(share, &FrameMeter::Frame::work);
    };
    std::printf(", \"%s\": {\"median_ms\": %.2f, \"p95_ms\": %.2f, \"worst_ms\": %.2f, "
                "\"work_median_ms\": %.2f, \"work_p95_ms\": %.2f, \"work_worst_ms\": %.2f}",
                what, meter->quantile(0.5), meter->quantile(0.95), meter->quantile(1), work(0.5),
                work(0.95), work(1));
    return work(0.95);
}

} // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QStandardPaths::setTestModeEnabled(true);
    QApplication application(argc, argv);
    QApplication::setStyle(QStringLiteral("Fusion"));
    const std::int64_t tokens = argc > 1 ? std::atoll(argv[1]) : 5'000'000;
    const std::int64_t sampleTokens = argc > 2 ? std::atoll(argv[2]) : 1'000;
    const double limit = argc > 3 ? std::atof(argv[3]) : 1e9;
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("large.scores.safetensors"));
    write_score_file(path.toStdString(), *corpus(tokens, sampleTokens));
    MainWindow window(folder.filePath(QStringLiteral("settings.json")));
    window.resize(1600, 1000);
    window.show();
    QApplication::processEvents();
    std::printf("{\"bench\": \"frames\", \"platform\": \"%s\", \"tokens\": %lld, "
                "\"sample_tokens\": %lld, ",
                qPrintable(QApplication::platformName()), static_cast<long long>(tokens),
                static_cast<long long>(sampleTokens));
    openFile(window, path);
    window.frameMeter()->setShown(true);
    double worst = 0;
    const auto measure = [&](const char* what, const auto& move) {
        worst = std::max(worst, drag(window, what, move));
    };
    measure("tau", [](MaskSettings& s, int step) { s.tau = 0.1 + step * 0.01; });
    measure("lambda", [](MaskSettings& s, int step) { s.lambda = 0.5 + step * 0.05; });
    measure("window", [](MaskSettings& s, int step) { s.window = 64 + step * 4; });
    std::printf("}\n");
    return worst <= limit ? 0 : 1;
}
