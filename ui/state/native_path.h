// Paths of files as QString. A path is bytes, and need not be UTF-8: bytes that are not become lone
// surrogates, U+DC80 to U+DCFF for 0x80 to 0xff (PEP 383), and come back as they were.
#pragma once

#include <filesystem>
#include <string_view>

#include <QString>
#include <QUrl>

namespace cuset {

QString pathText(std::string_view bytes);
std::filesystem::path nativePath(const QString& text);
// Of a file: URL, as dropped; "" for another.
QString pathOfUrl(const QUrl& url);

bool pathExists(const QString& text);
bool isFolder(const QString& text);
bool isWritableFolder(const QString& text);

} // namespace cuset
