#include "ui/editor/text_mapping.h"

#include <algorithm>

#include <QList>
#include <QLocale>

namespace cuset {
namespace {

constexpr int markDistance = 256; // bytes

bool isContinuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

int lengthFromLead(unsigned char lead) {
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    if (lead >= 0xf0 && lead < 0xf5)
        return 4;
    return 1;
}

bool isBidiControl(char32_t c) {
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e)
        || (c >= 0x2066 && c <= 0x2069);
}

QString visibleCharacter(char32_t c) {
    if (c == U'\n')
        return QStringLiteral("\u21b5");
    if (c == U'\t')
        return QStringLiteral("\u21e5");
    if (c < 0x20)
        return QString(QChar(static_cast<char16_t>(0x2400 + c)));
    if (c == 0x7f)
        return QStringLiteral("\u2421");
    if ((c >= 0x80 && c < 0xa0) || isBidiControl(c) || c == 0x2028 || c == 0x2029 || c == 0xfeff)
        return QStringLiteral("<U+%1>")
            .arg(static_cast<uint>(c), 4, 16, QLatin1Char('0'))
            .toUpper();
    return QString::fromUcs4(&c, 1);
}

} // namespace

TextMapping::TextMapping(std::string_view utf8)
    : text_(utf8) {
    int unit = 0;
    int next = 0;
    for (int byte = 0; byte < byteCount();) {
        if (byte >= next) {
            marks_.push_back({byte, unit});
            next = byte + markDistance;
        }
        const int length = characterLength(byte);
        unit += length == 4 ? 2 : 1;
        byte += length;
    }
    marks_.push_back({byteCount(), unit});
}

int TextMapping::characterLength(int byte) const {
    const int length =
        lengthFromLead(static_cast<unsigned char>(text_[static_cast<std::size_t>(byte)]));
    if (byte + length > byteCount())
        return 1;
    for (int i = 1; i < length; ++i)
        if (!isContinuation(text_[static_cast<std::size_t>(byte + i)]))
            return 1;
    return length;
}

int TextMapping::characterBegin(int byte) const {
    if (byte <= 0 || byte >= byteCount())
        return std::clamp(byte, 0, byteCount());
    for (int back = 0; back < 4 && byte - back >= 0; ++back) {
        if (isContinuation(text_[static_cast<std::size_t>(byte - back)]))
            continue;
        return characterLength(byte - back) > back ? byte - back : byte;
    }
    return byte;
}

int TextMapping::utf16FromByte(int byte) const {
    if (marks_.empty())
        return 0;
    const int wanted = characterBegin(byte);
    auto mark = std::upper_bound(marks_.begin(), marks_.end(), wanted,
                                 [](int value, const Mark& m) { return value < m.byte; });
    --mark;
    int unit = mark->unit;
    for (int at = mark->byte; at < wanted;) {
        const int length = characterLength(at);
        unit += length == 4 ? 2 : 1;
        at += length;
    }
    return unit;
}

int TextMapping::byteFromUtf16(int unit) const {
    if (marks_.empty() || unit <= 0)
        return 0;
    auto mark = std::upper_bound(marks_.begin(), marks_.end(), unit,
                                 [](int value, const Mark& m) { return value < m.unit; });
    --mark;
    int at = mark->byte;
    for (int counted = mark->unit; at < byteCount();) {
        const int length = characterLength(at);
        counted += length == 4 ? 2 : 1;
        if (counted > unit)
            break;
        at += length;
    }
    return at;
}

ByteSpan TextMapping::paintSpan(ByteSpan token) const {
    const auto boundaryAfter = [this](int byte) {
        const int begin = characterBegin(byte);
        return begin == byte ? byte : begin + characterLength(begin);
    };
    return {boundaryAfter(token.begin), boundaryAfter(token.end)};
}

QString visibleText(std::string_view utf8, int maxUnits) {
    // Four bytes a character at most: text far beyond the limit need not be converted.
    const std::string_view head = utf8.substr(0, static_cast<std::size_t>(maxUnits) * 4 + 4);
    const QString text = QString::fromUtf8(head.data(), static_cast<qsizetype>(head.size()));
    QString visible;
    for (const char32_t character : text.toUcs4()) {
        visible += visibleCharacter(character);
        if (visible.size() > maxUnits)
            return visible.left(maxUnits - 1) + QChar(0x2026);
    }
    return visible;
}

QString countText(std::int64_t value) {
    return QLocale().toString(static_cast<qlonglong>(value));
}

QString plainToolTip(const QString& text) {
    return QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(text.toHtmlEscaped());
}

const std::vector<std::pair<const char*, const char*>>& bidiRepresentations() {
    static const std::vector<std::pair<const char*, const char*>> table{
        {"\xd8\x9c", "ALM"},      {"\xe2\x80\x8e", "LRM"}, {"\xe2\x80\x8f", "RLM"},
        {"\xe2\x80\xaa", "LRE"},  {"\xe2\x80\xab", "RLE"}, {"\xe2\x80\xac", "PDF"},
        {"\xe2\x80\xad", "LRO"},  {"\xe2\x80\xae", "RLO"}, {"\xe2\x81\xa6", "LRI"},
        {"\xe2\x81\xa7", "RLI"},  {"\xe2\x81\xa8", "FSI"}, {"\xe2\x81\xa9", "PDI"},
        {"\xe2\x80\x8b", "ZWSP"}, {"\xef\xbb\xbf", "BOM"}};
    return table;
}

} // namespace cuset
