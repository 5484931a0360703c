// The badge says what verification found, in words, number and tooltip; the window verifies on
// request and when a model with a reference is loaded to score.
#include <filesystem>
#include <fstream>

#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/synthetic_scores.h"
#include "ui/shell/main_window.h"
#include "ui/shell/proof_badge.h"

namespace cuset {
namespace {

using test::waitFor;

Verification verification(Verdict verdict, double largest) {
    Verification v;
    v.verdict = verdict;
    v.reason = "largest difference of a log-probability, over 413 tokens of transformers 5.24.0";
    v.reference = "m/cuset-reference.json";
    v.texts = v.equal_texts = 3;
    DtypeDifference d;
    d.dtype = "float32";
    d.largest = largest;
    d.verdict = verdict;
    v.dtypes.push_back(d);
    return v;
}

ModelInfo info(const std::string& path) {
    ModelInfo model;
    model.path = path;
    return model;
}

TEST(ProofBadge, SaysTheVerdictAndTheNumber) {
    Workspace workspace;
    ProofBadge badge(&workspace);
    EXPECT_TRUE(badge.isHidden());
    workspace.setModel(info("m"));
    EXPECT_FALSE(badge.isHidden());
    EXPECT_TRUE(badge.text().contains(QStringLiteral("Unproven")));
    workspace.setVerification(verification(Verdict::proven, 1.25e-5));
    EXPECT_TRUE(badge.text().contains(QStringLiteral("Proven: 1.2e-05 in float32"))
                || badge.text().contains(QStringLiteral("Proven: 1.3e-05 in float32")))
        << badge.text().toStdString();
    const auto* label = badge.findChild<QLabel*>();
    EXPECT_TRUE(label->toolTip().contains(QStringLiteral("transformers 5.24.0")));
    EXPECT_TRUE(label->toolTip().contains(QStringLiteral("3 of 3 texts")));
    EXPECT_FALSE(label->accessibleDescription().isEmpty());
    workspace.setVerification(verification(Verdict::failed, 0.5));
    EXPECT_TRUE(badge.text().contains(QStringLiteral("Failed: 0.5")));
    workspace.setModel(info("m")); // the same model once more: what was shown stands
    EXPECT_TRUE(badge.text().contains(QStringLiteral("Failed")));
    workspace.setModel(info("other"));
    EXPECT_TRUE(badge.text().contains(QStringLiteral("Unproven")));
}

TEST(ProofBadge, TheWindowVerifiesOnRequest) {
    const QTemporaryDir folder;
    const std::filesystem::path model = folder.filePath(QStringLiteral("model")).toStdString();
    std::filesystem::copy(std::filesystem::path(CUSET_TEST_DATA) / "models" / "smollm3", model,
                          std::filesystem::copy_options::recursive);
    MainWindow window(folder.filePath(QStringLiteral("settings.ini")));
    auto* badge = window.findChild<ProofBadge*>();
    ASSERT_NE(badge, nullptr);
    EXPECT_FALSE(badge->findChild<QPushButton*>()->isEnabled());
    window.openModel(QString::fromStdString(model.string()));
    ASSERT_TRUE(waitFor([&] { return window.workspace()->model().has_value(); }, 30000));
    ASSERT_TRUE(waitFor([&] { return badge->findChild<QPushButton*>()->isEnabled(); }, 30000));
    badge->findChild<QPushButton*>()->click();
    ASSERT_TRUE(waitFor([&] { return window.workspace()->verification().has_value(); }, 60000));
    EXPECT_EQ(window.workspace()->verification()->verdict, Verdict::proven);
    EXPECT_TRUE(badge->text().contains(QStringLiteral("Proven")));
    EXPECT_TRUE(waitFor([&] { return badge->findChild<QPushButton*>()->isEnabled(); }, 10000));
}

TEST(ProofBadge, AModelWithAReferenceIsVerifiedWhenItIsLoadedToScore) {
    const QTemporaryDir folder;
    const std::filesystem::path model = folder.filePath(QStringLiteral("model")).toStdString();
    std::filesystem::copy(std::filesystem::path(CUSET_TEST_DATA) / "models" / "smollm3", model,
                          std::filesystem::copy_options::recursive);
    const QString data = folder.filePath(QStringLiteral("set.jsonl"));
    std::ofstream(data.toStdString())
        << R"({"id":"a","prompt":"x","response":"__global__ void k() {}"})" << '\n';
    MainWindow window(folder.filePath(QStringLiteral("settings.ini")));
    window.openPaths({data});
    window.openModel(QString::fromStdString(model.string()));
    ASSERT_TRUE(waitFor([&] { return window.isSettled(); }, 30000));
    window.score();
    ASSERT_TRUE(waitFor([&] { return window.workspace()->scoredCount() > 0; }, 60000));
    ASSERT_TRUE(waitFor([&] { return window.workspace()->verification().has_value(); }, 10000));
    EXPECT_EQ(window.workspace()->verification()->verdict, Verdict::proven);
}

} // namespace
} // namespace cuset
