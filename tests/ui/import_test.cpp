// The import dialog and "what the model sees", offscreen.
#include <fstream>

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTemporaryDir>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "ui/import/import_dialog.h"
#include "ui/import/seen_panel.h"
#include "ui/shell/main_window.h"

namespace cuset {
namespace {

using test::waitFor;
using ::testing::ElementsAre;

const QString tinyModel = QStringLiteral(CUSET_TEST_DATA "/models/qwen2");

class Import : public ::testing::Test {
protected:
    QString write(const char* name, const std::string& text) const {
        const QString path = folder.filePath(QString::fromLatin1(name));
        std::ofstream(path.toStdString(), std::ios::binary) << text;
        return path;
    }
    QString archive() const {
        return write(
            "archive.jsonl",
            R"({"task": "add <b>", "kernel.cu": "__global__ void a() {}", "Correct": true})"
            "\n"
            R"({"task": "sub", "kernel.cu": "__global__ void b() {}", "Correct": false})"
            "\n"
            R"({"task": "mul", "kernel.cu": null, "Correct": true})"
            "\n{broken\n");
    }
    JobRunner pool{2};
    QTemporaryDir folder;
};

TEST_F(Import, FieldsAndFilterDecideWhatIsRead) {
    ImportDialog dialog({archive()}, {}, {}, &pool);
    QAbstractItemModelTester tester(dialog.previewModel(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    ASSERT_TRUE(waitFor([&] { return dialog.isSettled(); }));
    ASSERT_EQ(dialog.previewModel()->rowCount(), 3);
    EXPECT_EQ(dialog.previewModel()->headerData(0, Qt::Vertical, Qt::DisplayRole).toInt(), 1);
    EXPECT_TRUE(dialog.resultText().contains(QStringLiteral("no usable record")));

    dialog.setFields(QStringLiteral("task"), QStringLiteral("kernel.cu"));
    ASSERT_TRUE(waitFor([&] { return dialog.isSettled(); }));
    EXPECT_TRUE(dialog.resultText().startsWith(QStringLiteral("2 samples, 2 bad records")))
        << dialog.resultText().toStdString();
    ASSERT_EQ(dialog.problems().size(), 2);
    EXPECT_TRUE(dialog.problems()[0].startsWith(QStringLiteral("archive.jsonl:3: ")));
    EXPECT_TRUE(dialog.problems()[1].startsWith(QStringLiteral("archive.jsonl:4: ")));

    dialog.setFilter(QStringLiteral("Correct"), QStringLiteral("True"));
    ASSERT_TRUE(waitFor([&] { return dialog.isSettled(); }));
    EXPECT_TRUE(dialog.resultText().startsWith(
        QStringLiteral("1 samples, 1 left out by the filter, 2 bad records")))
        << dialog.resultText().toStdString();
    const ReadOptions options = dialog.options();
    EXPECT_EQ(options.prompt_field, "task");
    EXPECT_EQ(options.response_field, "kernel.cu");
    EXPECT_THAT(options.filters,
                ElementsAre(std::pair<const std::string, std::string>("Correct", "True")));
}

TEST_F(Import, AModelCountsWhatWouldBeCut) {
    PromptOptions prompt;
    prompt.chat_template = "none";
    prompt.max_length = 8;
    ImportDialog dialog({write("d.jsonl",
                               R"({"prompt": "x", "response": "int a = b + c; // long"})"
                               "\n")},
                        tinyModel, prompt, &pool);
    ASSERT_TRUE(waitFor([&] { return dialog.isSettled(); }));
    EXPECT_TRUE(dialog.resultText().contains(QStringLiteral("at 8 tokens 1 samples are cut")))
        << dialog.resultText().toStdString();
}

TEST_F(Import, UnknownFieldsOpenTheDialogAndItsChoiceOpensTheData) {
    MainWindow window(folder.filePath(QStringLiteral("settings.json")));
    window.show();
    window.openPaths({archive()});
    ImportDialog* dialog = nullptr;
    ASSERT_TRUE(waitFor([&] {
        dialog = window.findChild<ImportDialog*>();
        return dialog != nullptr && dialog->isSettled();
    }));
    dialog->setFields(QStringLiteral("task"), QStringLiteral("kernel.cu"));
    ASSERT_TRUE(waitFor([&] { return dialog->isSettled(); }));
    for (QPushButton* button : dialog->findChildren<QPushButton*>())
        if (button->isDefault())
            button->click();
    ASSERT_TRUE(waitFor([&] { return window.workspace()->sampleCount() == 2; }));
    EXPECT_EQ(window.workspace()->prompt(0), "add <b>");
}

TEST_F(Import, WhatTheModelSeesMarksControlTokensAndScoredOnes) {
    Workspace workspace;
    SelectionState selection;
    PromptOptions prompt;
    SeenPanel panel(&workspace, &selection, &pool, [&] { return prompt; });
    panel.show();
    EXPECT_TRUE(panel.summary().contains(QStringLiteral("Open a model")));
    auto dataset = std::make_shared<Dataset>();
    Sample sample;
    sample.id = "s";
    sample.prompt = "Write <kernel>";
    sample.response = "```cuda\n__global__ void k() {}\n```\nDone.";
    dataset->samples = {sample};
    workspace.setDataset(dataset, {});
    workspace.setModel(inspect_model(tinyModel.toStdString()));
    selection.setSample(0);
    ASSERT_TRUE(waitFor([&] { return panel.text().contains(QStringLiteral("Done.")); }))
        << panel.summary().toStdString();
    EXPECT_TRUE(panel.text().contains(QStringLiteral("Write <kernel>")));
    const QString whole = panel.summary();

    prompt.response = ResponseChoice::code;
    panel.refresh();
    ASSERT_TRUE(waitFor([&] { return panel.summary() != whole && !panel.text().isEmpty(); }));
    EXPECT_FALSE(panel.text().contains(QStringLiteral("Done.")));
    EXPECT_TRUE(panel.text().contains(QStringLiteral("__global__ void k() {}")));
}

} // namespace
} // namespace cuset
