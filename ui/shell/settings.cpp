#include "ui/shell/settings.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>

#include "ui/state/mask_settings_state.h"

namespace cuset {
namespace {

constexpr qint64 maxBytes = 4 << 20;
constexpr int maxRecent = 12;
constexpr int maxRoots = 50;

QStringList toStrings(const QJsonValue& value, int most = maxRecent) {
    QStringList strings;
    const QJsonArray array = value.toArray();
    for (const QJsonValue& item : array)
        if (item.isString() && strings.size() < most)
            strings += item.toString();
    return strings;
}

QByteArray toBytes(const QJsonValue& value) {
    return QByteArray::fromBase64(value.toString().toLatin1());
}

QJsonObject maskToJson(const MaskSettings& mask) {
    return {{QStringLiteral("tau"), mask.tau},
            {QStringLiteral("lambda"), mask.lambda},
            {QStringLiteral("window"), mask.window},
            {QStringLiteral("confidence_mask"), mask.confidence_mask},
            {QStringLiteral("cuda_mask"), mask.cuda_mask},
            {QStringLiteral("region_weight"), mask.region_weight},
            {QStringLiteral("whole_if_short"), mask.whole_if_short}};
}

MaskSettings maskFromJson(const QJsonObject& json) {
    MaskSettings mask;
    mask.tau = json[QStringLiteral("tau")].toDouble(mask.tau);
    mask.lambda = json[QStringLiteral("lambda")].toDouble(mask.lambda);
    mask.window = json[QStringLiteral("window")].toInt(mask.window);
    mask.confidence_mask = json[QStringLiteral("confidence_mask")].toBool(mask.confidence_mask);
    mask.cuda_mask = json[QStringLiteral("cuda_mask")].toBool(mask.cuda_mask);
    mask.region_weight = json[QStringLiteral("region_weight")].toBool(mask.region_weight);
    mask.whole_if_short = json[QStringLiteral("whole_if_short")].toBool(mask.whole_if_short);
    return MaskSettingsState::clamped(mask);
}

Settings fromJson(const QJsonObject& json) {
    Settings s;
    s.geometry = toBytes(json[QStringLiteral("geometry")]);
    s.layout = toBytes(json[QStringLiteral("layout")]);
    s.recentFiles = toStrings(json[QStringLiteral("recent_files")]);
    s.recentModels = toStrings(json[QStringLiteral("recent_models")]);
    s.runRoots = toStrings(json[QStringLiteral("run_roots")], maxRoots);
    s.colorBy = json[QStringLiteral("color_by")].toString(s.colorBy);
    s.colorMap = json[QStringLiteral("color_map")].toString(s.colorMap);
    s.gutter = json[QStringLiteral("gutter")].toString(s.gutter);
    s.appearance = json[QStringLiteral("appearance")].toString(s.appearance);
    s.device = json[QStringLiteral("device")].toString(s.device);
    s.dtype = json[QStringLiteral("dtype")].toString(s.dtype);
    s.chatTemplate = json[QStringLiteral("template")].toString(s.chatTemplate);
    s.response = json[QStringLiteral("response")].toString(s.response);
    s.topK = qBound(0, json[QStringLiteral("top_k")].toInt(s.topK), 64);
    s.maxLength = qBound(1, json[QStringLiteral("max_length")].toInt(s.maxLength), 1 << 20);
    s.fontDelta = qBound(-6, json[QStringLiteral("font_delta")].toInt(s.fontDelta), 24);
    s.shownKinds = static_cast<LabelBits>(json[QStringLiteral("shown_kinds")].toInt(s.shownKinds));
    s.mask = maskFromJson(json[QStringLiteral("mask")].toObject());
    return s;
}

} // namespace

void Settings::remember(QStringList& recent, const QString& path) {
    if (!path.isValidUtf16())
        return; // JSON cannot hold a path that is not UTF-8
    recent.removeAll(path);
    recent.prepend(path);
    while (recent.size() > maxRecent)
        recent.removeLast();
}

SettingsStore::SettingsStore(const QString& path)
    : path_(path.isEmpty() ? QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation)
                    + QStringLiteral("/settings.json")
                           : path) { }

void SettingsStore::setAside(const QString& suffix, const QString& what) {
    const QString aside = path_ + suffix;
    const bool kept = QFile::copy(path_, aside);
    message_ = kept
        ? QObject::tr("%1 The file is kept as %2.").arg(what, QDir::toNativeSeparators(aside))
        : what;
}

Settings SettingsStore::load() {
    message_.clear();
    QFile file(path_);
    if (!file.exists())
        return {};
    if (!file.open(QIODevice::ReadOnly)) {
        message_ = QObject::tr("%1: the settings cannot be read (%2); defaults are used.")
                       .arg(path_, file.errorString());
        return {};
    }
    const QJsonDocument document = QJsonDocument::fromJson(file.read(maxBytes));
    file.close();
    const QJsonValue found = document.object()[QStringLiteral("version")];
    if (!document.isObject() || !found.isDouble()) {
        const QString stamp =
            QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
        setAside(QStringLiteral(".broken-") + stamp,
                 QObject::tr("%1: the settings file is damaged; defaults are used.").arg(path_));
        return {};
    }
    if (found.toInt() > Settings::version)
        setAside(QStringLiteral(".version-%1").arg(found.toInt()),
                 QObject::tr(
                     "%1: the settings are of a newer version (%2); what is known of them is used.")
                     .arg(path_)
                     .arg(found.toInt()));
    return fromJson(document.object());
}

bool SettingsStore::save(const Settings& s) const {
    const QJsonObject json{
        {QStringLiteral("version"), Settings::version},
        {QStringLiteral("geometry"), QString::fromLatin1(s.geometry.toBase64())},
        {QStringLiteral("layout"), QString::fromLatin1(s.layout.toBase64())},
        {QStringLiteral("recent_files"), QJsonArray::fromStringList(s.recentFiles)},
        {QStringLiteral("recent_models"), QJsonArray::fromStringList(s.recentModels)},
        {QStringLiteral("run_roots"), QJsonArray::fromStringList(s.runRoots)},
        {QStringLiteral("color_by"), s.colorBy},
        {QStringLiteral("color_map"), s.colorMap},
        {QStringLiteral("gutter"), s.gutter},
        {QStringLiteral("appearance"), s.appearance},
        {QStringLiteral("device"), s.device},
        {QStringLiteral("dtype"), s.dtype},
        {QStringLiteral("template"), s.chatTemplate},
        {QStringLiteral("response"), s.response},
        {QStringLiteral("top_k"), s.topK},
        {QStringLiteral("max_length"), s.maxLength},
        {QStringLiteral("font_delta"), s.fontDelta},
        {QStringLiteral("shown_kinds"), s.shownKinds},
        {QStringLiteral("mask"), maskToJson(s.mask)}};
    QDir().mkpath(QFileInfo(path_).absolutePath());
    QSaveFile file(path_);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    file.write(QJsonDocument(json).toJson());
    return file.commit();
}

} // namespace cuset
