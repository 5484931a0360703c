// Settings: what comes back after a restart, in one JSON file with a version. A broken file is set
// aside, one of a newer program is kept beside; both are said.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "core/data/mask_settings.h"
#include "core/data/token_labels.h"

namespace cuset {

struct Settings {
    static constexpr int version = 1;

    QByteArray geometry;
    QByteArray layout; // QMainWindow::saveState
    QStringList recentFiles; // data and score files, newest first
    QStringList recentModels; // newest first
    QStringList runRoots; // folders that hold training runs, newest first
    QString colorBy = QStringLiteral("confidence");
    QString colorMap = QStringLiteral("cividis");
    QString gutter = QStringLiteral("line-mean");
    QString appearance = QStringLiteral("system"); // system, light, dark
    QString device = QStringLiteral("auto");
    QString dtype = QStringLiteral("auto");
    QString chatTemplate = QStringLiteral("auto");
    QString response = QStringLiteral("whole"); // whole, answer, code
    int topK = 5;
    int maxLength = 4096;
    int fontDelta = 0;
    LabelBits shownKinds = 0x3fc;
    MaskSettings mask;

    // Puts `path` in front, each once, at most a dozen.
    static void remember(QStringList& recent, const QString& path);
};

class SettingsStore {
public:
    // "" uses the user's configuration folder.
    explicit SettingsStore(const QString& path = {});

    // Never fails: what cannot be read has its default. `message()` says what was wrong, "" if
    // nothing.
    Settings load();
    // False if the file could not be written; the old one stays.
    bool save(const Settings& settings) const;

    const QString& message() const { return message_; }
    const QString& path() const { return path_; }

private:
    void setAside(const QString& suffix, const QString& what);

    QString path_;
    QString message_;
};

} // namespace cuset
