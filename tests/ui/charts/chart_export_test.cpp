#include "ui/charts/chart_export.h"

#include <cmath>
#include <functional>
#include <memory>

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QImageReader>
#include <QMenu>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chart_support.h"
#include "core/base/error.h"
#include "ui/charts/density_chart.h"
#include "ui/charts/heat_map_chart.h"
#include "ui/charts/loss_chart.h"
#include "ui/charts/sweep_chart.h"
#include "ui/charts/token_bar_chart.h"
#include "ui/charts/window_chart.h"
#include "ui/editor/color_scale.h"

namespace cuset {
namespace {

using namespace test;

std::unique_ptr<ChartPanel> filled(const std::string& kind) {
    if (kind == "density") {
        auto chart = std::make_unique<DensityChart>();
        chart->setDensities(bump(0.3), bump(0.8), {12, 0.45, 0.2}, {40, 0.75, 0.1},
                            {0.4, 0.01, -2});
        return chart;
    }
    if (kind == "window") {
        auto chart = std::make_unique<WindowChart>();
        chart->setWindowMeans({0.5f, 0.25f, 0.75f}, 0.6, 2, 1);
        return chart;
    }
    if (kind == "bars") {
        auto chart = std::make_unique<TokenBarChart>();
        chart->setTokens({{"=1+1", 0.5f, 4, 0}, {"a,\"<&>", 0.25f, 1, 1}, {"-", 1.0f, 0, 2}}, 0.6);
        return chart;
    }
    if (kind == "sweep") {
        auto chart = std::make_unique<SweepChart>();
        chart->setSweep({SweepPoint{}, SweepPoint{{0.5, 1, 256}, {}, 0.1, 0.2, 0.3}}, {});
        return chart;
    }
    if (kind == "heat") {
        auto chart = std::make_unique<HeatMapChart>();
        chart->setHeatMap({"x", "y", "v", {0, 1}, {0}, {10, 20}});
        return chart;
    }
    auto chart = std::make_unique<LossChart>();
    chart->addSeries("=run & <1>\x1b");
    chart->append(0, std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 1});
    return chart;
}

// The charts fill their curves when they are laid out; every test sees them shown.
struct EveryChart : testing::TestWithParam<std::string> {
    EveryChart()
        : chart(filled(GetParam())) {
        shown(*chart);
    }
    QString path(const QString& name) const { return folder.filePath(name); }
    std::unique_ptr<ChartPanel> chart;
    QTemporaryDir folder;
};

INSTANTIATE_TEST_SUITE_P(Charts, EveryChart,
                         testing::Values("density", "window", "bars", "sweep", "heat", "loss"),
                         [](const auto& test) { return test.param; });

TEST_P(EveryChart, ExportsAPngOfTwiceTheSize) {
    exportPng(*chart, path("chart.png"));
    const QImage picture(path("chart.png"));
    EXPECT_EQ(picture.size(), chart->chartSize() * 2);
    QSet<QRgb> colors;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            colors.insert(picture.pixel(x, y));
    EXPECT_GT(colors.size(), 8); // it shows something
}

TEST_P(EveryChart, ExportsAWellFormedSvgWithItsTexts) {
    exportSvg(*chart, path("chart.svg"));
    QFile file(path("chart.svg"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    QXmlStreamReader xml(&file);
    int texts = 0, shapes = 0;
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement) {
            texts += xml.name() == u"text";
            shapes += xml.name() == u"path" || xml.name() == u"polyline" || xml.name() == u"rect"
                || xml.name() == u"polygon";
        }
    EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
    EXPECT_GT(texts, 3);
    EXPECT_GT(shapes, 2);
}

TEST_P(EveryChart, ExportsCsvOfEqualRows) {
    exportCsv(*chart, path("chart.csv"));
    QFile file(path("chart.csv"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(QString::fromUtf8(file.readAll()), csvText(chart->table()));
    const ChartTable table = chart->table();
    EXPECT_FALSE(table.rows.empty());
    for (const QStringList& row : table.rows)
        EXPECT_EQ(row.size(), table.header.size());
}

TEST_P(EveryChart, FailingExportNamesTheFile) {
    const QString nowhere = path("no/such/folder/chart");
    for (const auto& write : std::vector<std::function<void()>>{
             [&] { exportPng(*chart, nowhere); }, [&] { exportSvg(*chart, nowhere); },
             [&] { exportCsv(*chart, nowhere); }})
        try {
            write();
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::disk);
            EXPECT_EQ(error.subject(), nowhere.toStdString());
        }
}

TEST_P(EveryChart, CopiesPictureAndData) {
    copyChart(*chart);
    EXPECT_EQ(QApplication::clipboard()->text(), csvText(chart->table()));
    EXPECT_FALSE(QApplication::clipboard()->image().isNull());
}

TEST_P(EveryChart, FollowsThePaletteAtOnce) {
    chart->setPalette(lightPalette());
    const QImage light = shown(*chart);
    chart->setPalette(darkPalette());
    const QImage dark = shown(*chart);
    const QPoint corner(light.width() - 2, light.height() - 2);
    EXPECT_EQ(light.pixelColor(corner), QColor(Qt::white));
    EXPECT_EQ(dark.pixelColor(corner), QColor(30, 30, 30));
}

TEST_P(EveryChart, FollowsTheFont) {
    const QSize before = chart->minimumSizeHint();
    QFont large = chart->font();
    large.setPointSizeF(large.pointSizeF() * 2);
    chart->setFont(large);
    EXPECT_GT(chart->minimumSizeHint().height(), before.height() * 3 / 2);
    shown(*chart);
}

TEST_P(EveryChart, HasAccessibleTexts) {
    EXPECT_FALSE(chart->accessibleName().isEmpty());
    EXPECT_NE(chart->accessibleDescription(), chart->emptyText());
    EXPECT_EQ(chart->focusPolicy(), Qt::StrongFocus);
}

TEST_P(EveryChart, OffersItsExportsInAMenu) {
    QMenu menu;
    addExportActions(menu, *chart);
    QStringList texts;
    for (const QAction* action : menu.actions()) {
        EXPECT_TRUE(action->isEnabled());
        texts << QString(action->text()).remove(u'&');
    }
    EXPECT_EQ(texts, (QStringList{"Export PNG...", "Export SVG...", "Export CSV...", "Copy"}));
}

TEST(ChartTheme, TextsKeepTheirContrast) {
    for (const QPalette& palette : {lightPalette(), darkPalette()}) {
        const ChartTheme theme = ChartTheme::fromPalette(palette);
        for (const QColor& color : {theme.text, theme.muted, theme.sensitive, theme.neutral,
                                    theme.line, theme.marker, theme.low})
            EXPECT_GE(contrastRatio(color, theme.background), 4.5) << color.name().toStdString();
        for (int i = 0; i < 6; ++i)
            EXPECT_GE(contrastRatio(theme.series(i), theme.background), 4.5) << i;
    }
}

TEST(Csv, QuotesWhatNeedsIt) {
    ChartTable table{{"a", "b,c"}, {{"x\"y", "two\nlines"}, {"plain", "-1.5e-3"}}};
    EXPECT_EQ(csvText(table), QString("a,\"b,c\"\n\"x\"\"y\",\"two\nlines\"\nplain,-1.5e-3\n"));
}

TEST(Csv, DisarmsFormulas) {
    for (const char* text : {"=1+1", "+cmd", "-x", "@SUM(A1)", "\tx"})
        EXPECT_EQ(csvText({{text}, {}}), "\"'" + QString(text) + "\"\n");
    for (const char* number : {"-1", "+2.5", "-3e-9"})
        EXPECT_EQ(csvText({{number}, {}}), QString(number) + "\n");
}

TEST(Csv, NumbersReadBackAsTheSame) {
    EXPECT_EQ(csvNumber(0.1f), QString("0.1"));
    EXPECT_EQ(csvNumber(1.0 / 3).toDouble(), 1.0 / 3);
    EXPECT_EQ(csvNumber(std::nan("")), QString());
}

} // namespace
} // namespace cuset
