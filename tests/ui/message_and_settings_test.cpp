#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "ui/shell/command_palette.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/settings.h"

namespace cuset {
namespace {

void writeFile(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

QByteArray readBytes(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

TEST(Settings, ComeBackAsTheyWere) {
    const QTemporaryDir folder;
    SettingsStore store(folder.filePath(QStringLiteral("deep/settings.json")));
    Settings written;
    written.geometry = QByteArray("\0\1\2", 3);
    written.recentFiles = {QStringLiteral("/a b/\u00fc.jsonl")};
    written.mask.tau = 0.25;
    written.mask.whole_if_short = true;
    written.colorBy = QStringLiteral("mask");
    ASSERT_TRUE(store.save(written));
    const Settings read = store.load();
    EXPECT_EQ(read.geometry, written.geometry);
    EXPECT_EQ(read.recentFiles, written.recentFiles);
    EXPECT_EQ(read.mask, written.mask);
    EXPECT_EQ(read.colorBy, written.colorBy);
    EXPECT_TRUE(store.message().isEmpty());
}

TEST(Settings, MissingFileGivesDefaultsInSilence) {
    const QTemporaryDir folder;
    SettingsStore store(folder.filePath(QStringLiteral("none.json")));
    EXPECT_EQ(store.load().mask, MaskSettings{});
    EXPECT_TRUE(store.message().isEmpty());
}

TEST(Settings, BrokenFileIsSetAsideAndSaid) {
    for (const QByteArray& broken :
         {QByteArray("{\"version\": 1, \"mask\""), QByteArray("[]"), QByteArray(),
          QByteArray("{\"version\": \"x\"}"), QByteArray("\xff\xfe\0", 3)}) {
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("settings.json"));
        writeFile(path, broken);
        SettingsStore store(path);
        EXPECT_EQ(store.load().mask, MaskSettings{});
        EXPECT_FALSE(store.message().isEmpty());
        const QStringList kept =
            QDir(folder.path()).entryList({QStringLiteral("settings.json.broken-*")});
        ASSERT_EQ(kept.size(), 1);
        EXPECT_EQ(readBytes(folder.filePath(kept.first())), broken);
    }
}

TEST(Settings, NewerFileIsKeptBesideAndUsed) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("settings.json"));
    const QByteArray newer = "{\"version\": 7, \"mask\": {\"tau\": 0.3}, \"future\": []}";
    writeFile(path, newer);
    SettingsStore store(path);
    EXPECT_DOUBLE_EQ(store.load().mask.tau, 0.3);
    EXPECT_TRUE(store.message().contains(QStringLiteral("newer")));
    EXPECT_EQ(readBytes(path + QStringLiteral(".version-7")), newer);
}

TEST(Settings, WildValuesAreBroughtIntoRange) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("settings.json"));
    writeFile(path,
              "{\"version\": 1, \"mask\": {\"tau\": 1e9, \"lambda\": -4, \"window\": -1}, "
              "\"top_k\": 9999, "
              "\"recent_files\": [1, null, \"x\"], \"geometry\": \"%%%\"}");
    const Settings read = SettingsStore(path).load();
    EXPECT_DOUBLE_EQ(read.mask.tau, 1);
    EXPECT_GT(read.mask.lambda, 0);
    EXPECT_EQ(read.mask.window, 1);
    EXPECT_EQ(read.topK, 64);
    EXPECT_EQ(read.recentFiles, QStringList{QStringLiteral("x")});
}

TEST(Settings, RecentFilesAreOnceEachAndFew) {
    QStringList recent;
    for (int i = 0; i < 40; ++i)
        Settings::remember(recent, QString::number(i % 20));
    EXPECT_EQ(recent.size(), 12);
    EXPECT_EQ(recent.first(), QStringLiteral("19"));
    EXPECT_EQ(recent.removeDuplicates(), 0);
}

TEST(MessageBar, KeepsErrorsReplacesInformationAndIsPlainText) {
    MessageBar bar;
    bar.show(MessageKind::Error, QStringLiteral("<b>bad</b>"));
    bar.show(MessageKind::Information, QStringLiteral("one"));
    bar.show(MessageKind::Information, QStringLiteral("two"));
    bar.show(MessageKind::Error, QStringLiteral("<b>bad</b>"));
    EXPECT_EQ(bar.texts(), (QStringList{QStringLiteral("two"), QStringLiteral("<b>bad</b>")}));
    bar.clear();
    EXPECT_TRUE(bar.texts().isEmpty());
    EXPECT_FALSE(bar.isVisibleTo(bar.parentWidget()));
}

TEST(CommandPalette, FindsByLettersInOrder) {
    EXPECT_EQ(CommandPalette::score(QStringLiteral("xyz"), QStringLiteral("Open samples")), 0);
    EXPECT_GT(CommandPalette::score(QStringLiteral("os"), QStringLiteral("Open samples")), 0);
    EXPECT_GT(CommandPalette::score(QStringLiteral("sam"), QStringLiteral("Open samples")),
              CommandPalette::score(QStringLiteral("sam"), QStringLiteral("So a maximum")));
}

} // namespace
} // namespace cuset
