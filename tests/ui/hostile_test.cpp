// Names, tokens and paths that try to be markup: wherever the window shows them, they are text.
#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QLabel>
#include <QTemporaryDir>
#include <QToolTip>

#include <gtest/gtest.h>

#include "core/io/score_file.h"
#include "tests/ui/synthetic_scores.h"
#include "ui/charts/chart_panel.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::kernelText;
using test::labelledSample;
using test::waitFor;

constexpr const char* attack =
    "</b><script>alert(1)</script><img src=x onerror=alert(1)>\xe2\x80\xae\x1b[2J";

// What Qt would take for markup holds none of the attack's elements.
void expectText(const QString& text, const std::string& where) {
    if (!Qt::mightBeRichText(text))
        return;
    EXPECT_FALSE(text.contains(QLatin1String("<script"))) << where << ": " << text.toStdString();
    EXPECT_FALSE(text.contains(QLatin1String("<img"))) << where << ": " << text.toStdString();
}

// Neither the escape character nor the one that turns the direction of writing.
void expectVisible(const QString& text, const std::string& where) {
    EXPECT_FALSE(text.contains(QChar(0x1b)) || text.contains(QChar(0x202e)))
        << where << ": " << text.toStdString();
}

// Returns how many cells show a part of the attack.
int expectCellsAreText(const QAbstractItemView& view) {
    int attacked = 0;
    const QAbstractItemModel& model = *view.model();
    const std::string where = view.accessibleName().toStdString();
    for (int row = 0; row < std::min(model.rowCount(), 20); ++row)
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex index = model.index(row, column);
            const QString shown = index.data().toString();
            attacked += shown.contains(QLatin1String("alert(1)")) ? 1 : 0;
            expectVisible(shown, where);
            expectText(index.data(Qt::ToolTipRole).toString(), where + ", tooltip");
        }
    return attacked;
}

class HostileText : public ::testing::Test {
protected:
    HostileText() {
        ScoredSample sample = labelledSample(attack, attack + kernelText());
        sample.sample.prompt = attack;
        ScoreProvenance provenance;
        provenance.model = attack;
        ScoreSetBuilder builder(provenance, 2, [](std::int32_t) { return std::string(attack); });
        builder.add(sample);
        builder.add(labelledSample("other", kernelText()));
        write_score_file(folder.filePath(name).toStdString(), *builder.snapshot());
        window.resize(1400, 900);
        window.show();
        window.openPaths({folder.filePath(name)});
        EXPECT_TRUE(waitFor([this] { return window.isSettled(); }));
        EXPECT_NE(window.analysis()->figures(), nullptr)
            << window.messages()->texts().join(QLatin1Char('\n')).toStdString();
    }

    const QString name = QStringLiteral("<img src=x>.scores.safetensors");
    QTemporaryDir folder;
    MainWindow window{folder.filePath(QStringLiteral("settings.json"))};
};

TEST_F(HostileText, IsTextInTablesLabelsAndTooltips) {
    for (const char* view : {"regions", "lowest", "samples", "objectives", "notes", "seen"}) {
        ASSERT_TRUE(window.showView(QString::fromLatin1(view)));
        ASSERT_TRUE(waitFor([this] { return window.isSettled(); }));
    }
    window.selection()->setToken(3);
    // A path that is not there, in the message bar.
    window.openPaths({folder.filePath(QStringLiteral("<script>none</script>.jsonl"))});
    ASSERT_TRUE(waitFor([this] { return window.isSettled(); }));
    ASSERT_FALSE(window.messages()->texts().isEmpty());
    int attacked = 0;
    for (const auto* view : window.findChildren<QAbstractItemView*>())
        attacked += view->model() ? expectCellsAreText(*view) : 0;
    EXPECT_GE(attacked, 2) << "the sample table and the list of the lowest show it";
    for (const auto* label : window.findChildren<QLabel*>())
        if (label->textFormat() != Qt::PlainText)
            expectText(label->text(), "label " + label->accessibleName().toStdString());
    for (const auto* widget : window.findChildren<QWidget*>())
        expectText(widget->toolTip(), "tooltip of " + widget->accessibleName().toStdString());
    expectVisible(window.windowTitle(), "title");
}

TEST_F(HostileText, IsTextInTheTooltipsOfCharts) {
    int shown = 0;
    window.selection()->setToken(3); // so that the bars are those of the attack
    QApplication::processEvents();
    for (auto* chart : window.findChildren<ChartPanel*>()) {
        if (!chart->isVisible())
            continue;
        for (int x = 5; x < chart->width(); x += 12) {
            const QPoint at(x, chart->height() / 2);
            QHelpEvent help(QEvent::ToolTip, at, chart->mapToGlobal(at));
            QApplication::sendEvent(chart, &help);
            shown += QToolTip::text().contains(QLatin1String("script")) ? 1 : 0;
            expectText(QToolTip::text(), chart->accessibleName().toStdString());
        }
    }
    EXPECT_GE(shown, 1) << "a token in the chart of bars";
}

} // namespace
} // namespace cuset
