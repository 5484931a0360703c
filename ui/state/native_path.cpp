#include "ui/state/native_path.h"

#include <string>
#include <system_error>

#include <unistd.h>

#include "core/io/utf8_repair.h"

namespace cuset {
namespace {

constexpr char16_t firstEscape = 0xdc80, lastEscape = 0xdcff;

} // namespace

QString pathText(std::string_view bytes) {
    if (is_valid_utf8(bytes))
        return QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
    QString text;
    for (std::size_t at = 0; at < bytes.size();) {
        const Utf8Step step = utf8_step(bytes, at);
        if (step.valid)
            text += QString::fromUtf8(bytes.data() + at, static_cast<qsizetype>(step.size));
        else
            for (std::size_t i = at; i < at + step.size; ++i)
                text += QChar(static_cast<char16_t>(0xdc00 + static_cast<unsigned char>(bytes[i])));
        at += step.size;
    }
    return text;
}

std::filesystem::path nativePath(const QString& text) {
    std::string bytes;
    qsizetype from = 0; // of what is not converted yet
    for (qsizetype i = 0; i < text.size(); ++i) {
        const char16_t unit = text[i].unicode();
        const bool paired = i > from && text[i - 1].isHighSurrogate();
        if (unit < firstEscape || unit > lastEscape || paired)
            continue;
        bytes += text.mid(from, i - from).toStdString();
        bytes += static_cast<char>(unit - 0xdc00);
        from = i + 1;
    }
    bytes += text.mid(from).toStdString();
    return {bytes};
}

QString pathOfUrl(const QUrl& url) {
    if (!url.isLocalFile())
        return {};
    const QByteArray bytes =
        QByteArray::fromPercentEncoding(url.path(QUrl::FullyEncoded).toLatin1());
    return pathText({bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

bool pathExists(const QString& text) {
    std::error_code unknown; // what cannot be looked up is not there
    return std::filesystem::exists(nativePath(text), unknown);
}

bool isFolder(const QString& text) {
    std::error_code unknown;
    return std::filesystem::is_directory(nativePath(text), unknown);
}

bool isWritableFolder(const QString& text) {
    return isFolder(text) && ::access(nativePath(text).c_str(), W_OK) == 0;
}

} // namespace cuset
