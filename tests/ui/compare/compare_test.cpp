// Comparing in the window, offscreen on tiny models: adapter, checkpoints of a real run, the slider
// over them, and the same figures as `cuset compare`.
#include <fstream>

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSortFilterProxyModel>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/compare/compare_panel.h"
#include "ui/compare/data_map_chart.h"
#include "ui/shell/compare_controller.h"
#include "ui/shell/main_window.h"
#include "ui/shell/theme.h"

namespace cuset {
namespace {

using test::kernelText;
using test::scoredSample;
using test::scoreSet;
using test::waitFor;

const QString testData = QStringLiteral(CUSET_TEST_DATA);

QByteArray cuset(const QStringList& arguments, int code = 0) {
    QProcess process;
    process.start(QStringLiteral(CUSET_PROGRAM), arguments);
    EXPECT_TRUE(process.waitForFinished(240000));
    EXPECT_EQ(process.exitCode(), code) << process.readAllStandardError().toStdString();
    return process.readAllStandardOutput();
}

QJsonObject cusetJson(const QStringList& arguments) {
    return QJsonDocument::fromJson(cuset(arguments)).object();
}

class Compare : public ::testing::Test {
protected:
    Compare() {
        Settings settings;
        settings.dtype = QStringLiteral("float32");
        settings.device = QStringLiteral("cpu");
        settings.chatTemplate = QStringLiteral("none");
        SettingsStore(file("settings.json")).save(settings);
        QFile data(file("set.jsonl"));
        EXPECT_TRUE(data.open(QFile::WriteOnly));
        for (int n = 0; n < 3; ++n)
            data.write(
                QJsonDocument(QJsonObject{{QStringLiteral("id"), QStringLiteral("s%1").arg(n)},
                                          {QStringLiteral("prompt"), QStringLiteral("Scale.")},
                                          {QStringLiteral("response"),
                                           QString::fromStdString(kernelText()).repeated(n + 1)}})
                    .toJson(QJsonDocument::Compact)
                + '\n');
    }
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    // Opened and scored with the tiny model.
    void openScored(MainWindow& window, const char* model) const {
        window.resize(1280, 800);
        window.show();
        window.openPaths({file("set.jsonl")});
        window.openModel(testData + QStringLiteral("/models/") + QString::fromLatin1(model));
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
        window.score();
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 120000));
        ASSERT_EQ(window.workspace()->scoredCount(), 3)
            << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    }
    // Three steps of LoRA on the samples, a checkpoint for each.
    QString trainedRun() const {
        const QJsonObject config{
            {QStringLiteral("model"), testData + QStringLiteral("/models/llama")},
            {QStringLiteral("data"), QJsonArray{file("set.jsonl")}},
            {QStringLiteral("output"), file("run")},
            {QStringLiteral("template"), QStringLiteral("none")},
            {QStringLiteral("gradient_accumulation"), 1},
            {QStringLiteral("epochs"), 1},
            {QStringLiteral("save_steps"), 1},
            {QStringLiteral("keep_checkpoints"), 10},
            {QStringLiteral("dtype"), QStringLiteral("float32")},
            {QStringLiteral("device"), QStringLiteral("cpu")},
            {QStringLiteral("threads"), 1},
            {QStringLiteral("learning_rate"), 0.02}};
        QFile out(file("run.json"));
        EXPECT_TRUE(out.open(QFile::WriteOnly));
        out.write(QJsonDocument(config).toJson());
        out.close();
        cuset({QStringLiteral("train"), file("run.json")});
        return file("run");
    }
    static void scoreMissing(MainWindow& window) {
        ASSERT_TRUE(window.comparing()->canScore());
        window.comparing()->scoreMissing();
        ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 120000));
    }
    static void expectEqual(const MeanChange& ours, const QJsonValue& theirs) {
        EXPECT_EQ(ours.count, theirs[QStringLiteral("count")].toInteger());
        EXPECT_DOUBLE_EQ(ours.log_prob, theirs[QStringLiteral("log_prob")].toDouble());
        EXPECT_DOUBLE_EQ(ours.confidence, theirs[QStringLiteral("confidence")].toDouble());
        EXPECT_DOUBLE_EQ(ours.confidence_after,
                         theirs[QStringLiteral("confidence_after")].toDouble());
    }
    static void expectEqual(const Comparison& ours, const QJsonObject& theirs) {
        expectEqual(ours.all, theirs[QStringLiteral("all")]);
        expectEqual(ours.sensitive, theirs[QStringLiteral("sensitive")]);
        expectEqual(ours.neutral, theirs[QStringLiteral("neutral")]);
        for (std::size_t k = 0; k < sensitive_kind_names.size(); ++k)
            expectEqual(ours.by_kind[k],
                        theirs[QStringLiteral("by_kind")][QString::fromLatin1(
                            sensitive_kind_names[k].data(),
                            static_cast<qsizetype>(sensitive_kind_names[k].size()))]);
        const QJsonArray samples = theirs[QStringLiteral("samples")].toArray();
        ASSERT_EQ(static_cast<qsizetype>(ours.samples.size()), samples.size());
        for (qsizetype n = 0; n < samples.size(); ++n) {
            const SampleChange& sample = ours.samples[static_cast<std::size_t>(n)];
            EXPECT_EQ(QString::fromStdString(sample.id),
                      samples[n][QStringLiteral("id")].toString());
            expectEqual(sample.change, samples[n]);
        }
    }

    QTemporaryDir folder;
};

TEST_F(Compare, AnAdapterIsScoredBesideTheOpenScores) {
    MainWindow window(file("settings.json"));
    openScored(window, "qwen2");
    const std::shared_ptr<const ScoreSet> before = window.workspace()->scores();
    window.compareWith(testData + QStringLiteral("/adapter/plain"));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    ASSERT_EQ(window.comparison()->stages().size(), 2u);
    EXPECT_EQ(window.comparison()->missingCount(), 1) << "the base is scored already";
    EXPECT_FALSE(window.analysis()->figures()->isCompared());
    scoreMissing(window);
    EXPECT_EQ(window.workspace()->scores(), before) << "and is not scored again";
    const auto figures = window.comparison()->figures();
    ASSERT_NE(figures, nullptr);
    expectEqual(figures->comparison,
                cusetJson({QStringLiteral("compare"), file("set.scores.safetensors"),
                           file("set.plain.scores.safetensors"), QStringLiteral("--json")}));
    EXPECT_EQ(window.outcome(), ExitCode::ok);

    // The code follows: colours by change, and nothing else is painted as "no change".
    auto* editor = window.findChild<EditorPanel*>();
    EXPECT_EQ(editor->colorBy(), ColorBy::Change);
    const auto token = window.analysis()->figures();
    ASSERT_TRUE(token->isCompared());
    float largest = 0;
    for (int t = 0; t < token->count(); ++t)
        largest = std::max(largest, std::abs(token->change(t)));
    EXPECT_GT(largest, 0.001f);

    // A second window finds the adapter's scores and needs no model.
    MainWindow second(file("settings.json"));
    second.openPaths({file("set.jsonl")});
    ASSERT_TRUE(waitFor([&] { return second.isSettled(); }));
    second.compareWith(testData + QStringLiteral("/adapter/plain"));
    ASSERT_TRUE(waitFor([&] { return second.isSettled(); }));
    EXPECT_EQ(second.comparison()->missingCount(), 0);
    ASSERT_NE(second.comparison()->figures(), nullptr);
    EXPECT_EQ(second.comparison()->figures()->comparison.all.confidence,
              figures->comparison.all.confidence);
}

TEST_F(Compare, TheSliderGoesOverARunsCheckpoints) {
    const QString run = trainedRun();
    MainWindow window(file("settings.json"));
    openScored(window, "llama");
    window.compareWith(run);
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    CompareState* state = window.comparison();
    ASSERT_EQ(state->stages().size(), 4u) << "base and three checkpoints";
    EXPECT_EQ(state->stages()[0].title, QStringLiteral("base"));
    EXPECT_EQ(state->missingCount(), 3);

    // A stop keeps what was scored; going on makes the rest.
    window.comparing()->scoreMissing();
    window.modelLane()->stop();
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 120000));
    const int left = state->missingCount();
    EXPECT_GE(left, 1);
    scoreMissing(window);
    EXPECT_EQ(state->readyCount(), 4);
    for (const char* name : {"base", "step-1", "step-2", "step-3"})
        EXPECT_TRUE(QFile::exists(
            QStringLiteral("%1/scores/%2.scores.safetensors").arg(run, QLatin1String(name))))
            << name;

    auto* slider = window.findChild<StageSlider*>();
    ASSERT_EQ(slider->maximum(), 3);
    auto* density = window.findChild<DensityChart*>();
    slider->setValue(0);
    const auto base = window.analysis()->figures();
    ASSERT_TRUE(base->isCompared());
    for (int t = 0; t < base->count(); ++t)
        ASSERT_EQ(base->change(t), 0) << "the base beside itself";
    EXPECT_TRUE(density->hasAfter());
    QElapsedTimer timer;
    timer.start();
    for (int step = 1; step <= 3; ++step) {
        slider->setValue(step);
        EXPECT_EQ(state->current(), step);
        EXPECT_EQ(window.analysis()->figures()->comparedScores(),
                  state->stages()[static_cast<std::size_t>(step)].scores);
    }
    EXPECT_LT(timer.elapsed() / 3, 100) << "a step of the slider computes nothing anew";
    expectEqual(state->figures()->comparison,
                cusetJson({QStringLiteral("compare"), file("set.scores.safetensors"),
                           run + QStringLiteral("/scores/step-3.scores.safetensors"),
                           QStringLiteral("--json")}));

    // The slider by mouse and keys.
    QTest::mouseClick(slider, Qt::LeftButton, {}, slider->dotOf(1).toPoint());
    EXPECT_EQ(state->current(), 1);
    QTest::keyClick(slider, Qt::Key_Right);
    EXPECT_EQ(state->current(), 2);
}

TEST_F(Compare, TheDataMapIsTheCommandLines) {
    const QString run = trainedRun();
    cuset({QStringLiteral("score"), testData + QStringLiteral("/models/llama"), file("set.jsonl"),
           QStringLiteral("--run"), run, QStringLiteral("--template"), QStringLiteral("none"),
           QStringLiteral("--dtype"), QStringLiteral("float32")});
    MainWindow window(file("settings.json"));
    window.resize(1280, 800);
    window.show();
    window.compareWith(run); // its samples and its scores are opened with it
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    EXPECT_EQ(window.workspace()->sampleCount(), 3);
    EXPECT_EQ(window.comparison()->readyCount(), 4)
        << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    ASSERT_TRUE(window.showView(QStringLiteral("datamap")));
    ASSERT_TRUE(waitFor([&] { return window.comparison()->dataMap() != nullptr; }));
    auto* chart = window.findChild<DataMapChart*>();
    ASSERT_FALSE(chart->isEmpty());
    const QJsonArray theirs =
        cusetJson({QStringLiteral("compare"), run, QStringLiteral("--data-map"),
                   QStringLiteral("--json")})[QStringLiteral("samples")]
            .toArray();
    const DataMap& map = *window.comparison()->dataMap();
    ASSERT_EQ(theirs.size(), static_cast<qsizetype>(map.samples.size()));
    for (qsizetype n = 0; n < theirs.size(); ++n) {
        const DataMapPoint& point = map.samples[static_cast<std::size_t>(n)];
        EXPECT_DOUBLE_EQ(point.confidence, theirs[n][QStringLiteral("confidence")].toDouble());
        EXPECT_DOUBLE_EQ(point.variability, theirs[n][QStringLiteral("variability")].toDouble());
        EXPECT_DOUBLE_EQ(point.correctness, theirs[n][QStringLiteral("correctness")].toDouble());
    }
    const DataMapPoint& last = map.samples.back();
    const QPointF place = chart->toPosition(last.variability, last.confidence);
    QTest::mouseClick(chart->plotWidget(), Qt::LeftButton, {}, place.toPoint());
    const int at = chart->pointAt(place.toPoint());
    ASSERT_GE(at, 0);
    EXPECT_EQ(window.workspace()->scoredIndex(window.selection()->sample()),
              map.samples[static_cast<std::size_t>(at)].index);
    exportCsv(*chart, file("map.csv"));
    exportPng(*chart, file("map.png"));
    exportSvg(*chart, file("map.svg"));
    for (const char* name : {"map.csv", "map.png", "map.svg"})
        EXPECT_GT(QFileInfo(file(name)).size(), 20) << name;
}

TEST_F(Compare, WhatDiffersIsSaid) {
    const auto set = [&](const char* name, const std::vector<ScoredSample>& samples,
                         const char* dtype) {
        ScoreProvenance provenance;
        provenance.dtype = dtype;
        ScoreSetBuilder builder(provenance, 2);
        for (const ScoredSample& sample : samples)
            builder.add(sample);
        write_score_file(file(name).toStdString(), *builder.snapshot());
        return file(name);
    };
    const auto one = scoredSample("<b>one</b>", "", kernelText());
    const auto two = scoredSample("two", "", "int x = 1;");
    MainWindow window(file("settings.json"));
    window.show();
    window.openPaths({set("a.scores.safetensors", {one, two}, "float32")});
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    window.compareWith(
        set("b.scores.safetensors", {one, scoredSample("three", "", "int y;")}, "bfloat16"));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    ASSERT_EQ(window.messages()->texts().size(), 1);
    const QString text = window.messages()->texts().first();
    for (const char* part : {"Compared 1 samples", "1 samples are only before: two",
                             "1 samples are only after: three", "dtype differs"})
        EXPECT_TRUE(text.contains(QLatin1String(part))) << text.toStdString();
    auto* table = window.findChild<ComparePanel*>()->sampleTable();
    ASSERT_EQ(table->model()->rowCount(), 1);
    EXPECT_EQ(table->model()->index(0, 0).data().toString(), QStringLiteral("<b>one</b>"));

    // Nothing in common, and what is no comparison at all, leave the open scores alone.
    window.messages()->clear();
    window.compareWith(set("c.scores.safetensors", {scoredSample("four", "", "x")}, "float32"));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    EXPECT_EQ(window.comparison()->figures(), nullptr);
    ASSERT_EQ(window.messages()->texts().size(), 1);
    window.compareWith(folder.path());
    EXPECT_EQ(window.messages()->texts().size(), 2);
    EXPECT_EQ(window.workspace()->sampleCount(), 2);
    window.comparing()->close();
    EXPECT_TRUE(window.comparison()->stages().empty());
    EXPECT_EQ(window.findChild<EditorPanel*>()->colorBy(), ColorBy::Confidence);
}

TEST_F(Compare, TablesFollowAndGoToTheSample) {
    std::vector<ScoredSample> before, after;
    for (int n = 0; n < 4; ++n) {
        before.push_back(scoredSample("s" + std::to_string(n), "", kernelText()));
        after.push_back(before.back());
        for (float& log_prob : after.back().scores.log_prob)
            log_prob = std::min(0.0f, log_prob + 0.1f * static_cast<float>(n - 1));
    }
    write_score_file(file("a.scores.safetensors").toStdString(), *scoreSet(before));
    MainWindow window(file("settings.json"));
    window.show();
    window.openPaths({file("a.scores.safetensors")});
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    auto* panel = window.findChild<ComparePanel*>();
    auto* samples = static_cast<QSortFilterProxyModel*>(panel->sampleTable()->model());
    auto* kinds = static_cast<QSortFilterProxyModel*>(panel->kindTable()->model());
    using Mode = QAbstractItemModelTester::FailureReportingMode;
    const QAbstractItemModelTester first(samples->sourceModel(), Mode::Fatal);
    const QAbstractItemModelTester second(kinds->sourceModel(), Mode::Fatal);
    write_score_file(file("b.scores.safetensors").toStdString(), *scoreSet(after));
    window.compareWith(file("b.scores.safetensors"));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }));
    ASSERT_EQ(samples->rowCount(), 4);
    const auto id = [&](int row) { return samples->index(row, 0).data().toString(); };
    EXPECT_EQ(id(0), QStringLiteral("s3")) << "most improved first";
    EXPECT_EQ(id(3), QStringLiteral("s0"));
    panel->sampleTable()->sortByColumn(SampleChangeModel::Change, Qt::AscendingOrder);
    EXPECT_EQ(id(0), QStringLiteral("s0")) << "most hurt first";
    panel->sampleTable()->setCurrentIndex(samples->index(1, 0));
    EXPECT_EQ(window.workspace()->sampleId(window.selection()->sample()), id(1));
    window.selection()->setSample(2);
    EXPECT_EQ(panel->sampleTable()->currentIndex().data().toString(),
              window.workspace()->sampleId(2));
    panel->kindTable()->selectRow(3 + static_cast<int>(SensitiveKind::thread_index));
    EXPECT_EQ(window.selection()->kinds(), kind_bit(SensitiveKind::thread_index));
    for (const char* name : {"samples.csv", "kinds.csv"}) {
        panel->exportTo(file(name));
        EXPECT_TRUE(QFile::exists(file(name)));
        panel->tabs()->setCurrentIndex(1);
    }
    window.comparing()->close(); // models are emptied under the testers
    EXPECT_EQ(samples->rowCount(), 0);
}

TEST(ChangeColours, NoChangeIsNoColourAndTextStaysReadable) {
    for (const QPalette& palette : {lightPalette(), darkPalette()}) {
        const QColor paper = palette.color(QPalette::Base);
        const std::vector<QColor> texts{palette.color(QPalette::Text)};
        ColorScale scale = colorScaleFor(ColorBy::Change, ColorMap::Cividis, {}, 1);
        EXPECT_EQ(scale.map(), ColorMap::Diverging);
        scale.setPaper(paper, readableStrength(scale.map(), paper, texts, 0.62));
        EXPECT_EQ(scale.color(0), paper);
        for (int step = -100; step <= 100; ++step)
            for (const QColor& text : texts)
                EXPECT_GE(contrastRatio(text, scale.color(step / 100.0)), 4.45);
        EXPECT_GT(scale.color(-1).red(), scale.color(-1).blue()) << "worse is orange";
        EXPECT_GT(scale.color(1).blue(), scale.color(1).red()) << "better is blue";
    }
    EXPECT_DOUBLE_EQ(changePosition(-0.25), -0.5);
    EXPECT_EQ(changeText(-0.5), QStringLiteral("\u22120.500"));
}

} // namespace
} // namespace cuset
