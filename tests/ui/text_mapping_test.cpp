#include "ui/editor/text_mapping.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <gtest/gtest.h>

#include "ui/editor/code_view.h"

namespace cuset {
namespace {

// Field case: bytes, UTF-16 units and code points are three counts. The positions are worked out by
// hand: 2 bytes for each of ö, ß, é; 3 for an arrow or Han character; 4 bytes and 2 units for an
// emoji outside the first plane.
const std::string mixedText = "// Gr\u00f6\u00dfe \u2192 32\u00d733 \U0001f9ee\n\t/* \u8f6c\u7f6e "
                              "*/ __shared__ float s; // \U0001f469\u200d\U0001f4bb\u00e9\n"
                              "\t__syncthreads();\n";

TEST(TextMapping, CountsBytesAndUnits) {
    const TextMapping mapping(mixedText);
    const QString text =
        QString::fromUtf8(mixedText.data(), static_cast<qsizetype>(mixedText.size()));
    for (const char* word : {"__shared__", "__syncthreads", "float", "32"}) {
        const auto byte = static_cast<int>(mixedText.find(word));
        const auto unit = static_cast<int>(text.indexOf(QLatin1String(word)));
        EXPECT_EQ(mapping.utf16FromByte(byte), unit) << word;
        EXPECT_EQ(mapping.byteFromUtf16(unit), byte) << word;
    }
    EXPECT_EQ(mapping.utf16FromByte(static_cast<int>(mixedText.size())), text.size());
    EXPECT_EQ(mapping.byteFromUtf16(static_cast<int>(text.size())),
              static_cast<int>(mixedText.size()));
}

// Field case PF2: positions of each word, counted by another program.
TEST(TextMapping, ThreeWaysToCount) {
    const std::string folder = CUSET_TEST_DATA "/cases/PF2-three-ways-to-count/";
    std::ifstream source(folder + "positions.cu", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(source), {}};
    QFile expected(QString::fromStdString(folder + "expected.json"));
    ASSERT_TRUE(expected.open(QIODevice::ReadOnly));
    const QJsonArray positions = QJsonDocument::fromJson(expected.readAll()).array();
    ASSERT_EQ(positions.size(), 4);
    const TextMapping mapping(text);
    CodeView view;
    view.setResponse(text);
    for (const QJsonValue& value : positions) {
        const QJsonObject entry = value.toObject();
        const int bytes = entry[QStringLiteral("utf8")].toInt();
        const int units = entry[QStringLiteral("utf16")].toInt();
        const std::string word = entry[QStringLiteral("word")].toString().toStdString();
        ASSERT_EQ(text.substr(static_cast<std::size_t>(bytes), word.size()), word);
        EXPECT_EQ(mapping.utf16FromByte(bytes), units);
        EXPECT_EQ(mapping.byteFromUtf16(units), bytes);
        EXPECT_EQ(view.lineOfByte(bytes) + 1, entry[QStringLiteral("line")].toInt());
        const int end = bytes + static_cast<int>(word.size());
        view.selectBytes({bytes, end});
        EXPECT_EQ(view.selectedText().toStdString(), word);
        EXPECT_EQ(view.selectedBytes(), (ByteSpan{bytes, end}));
        const auto lead = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
        EXPECT_EQ(std::count_if(text.begin(), text.begin() + bytes, lead),
                  entry[QStringLiteral("code_points")].toInt());
    }
}

TEST(TextMapping, EveryPositionOfALongText) {
    std::string text;
    for (int i = 0; i < 400; ++i)
        text += i % 3 == 0 ? "\U0001f9ee" : i % 3 == 1 ? "\u8f6c" : "ab";
    const TextMapping mapping(text);
    for (int byte = 0, unit = 0; byte < static_cast<int>(text.size());) {
        const auto lead = static_cast<unsigned char>(text[static_cast<std::size_t>(byte)]);
        const int length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 1;
        for (int inside = 0; inside < length; ++inside)
            ASSERT_EQ(mapping.utf16FromByte(byte + inside), unit);
        ASSERT_EQ(mapping.byteFromUtf16(unit), byte);
        byte += length;
        unit += length == 4 ? 2 : 1;
    }
}

TEST(TextMapping, TokensThatHoldPartOfACharacter) {
    const std::string text = "a\U0001f9eeb"; // bytes 1..4 are one character
    const TextMapping mapping(text);
    EXPECT_EQ(mapping.paintSpan({0, 3}), (ByteSpan{0, 5})); // the first token paints all of it
    EXPECT_TRUE(mapping.paintSpan({3, 5}).empty());
    EXPECT_EQ(mapping.paintSpan({3, 6}), (ByteSpan{5, 6}));
}

TEST(TextMapping, InvalidBytesCountOneEach) {
    const std::string text = "\xff\xf0\x9f"
                             "a";
    const TextMapping mapping(text);
    EXPECT_EQ(mapping.utf16FromByte(3), 3);
    EXPECT_EQ(mapping.byteFromUtf16(3), 3);
    EXPECT_EQ(TextMapping{}.utf16FromByte(5), 0);
}

TEST(TextMapping, ControlsAreVisible) {
    EXPECT_EQ(visibleText("a\nb\tc"), QString::fromUtf8("a\u21b5b\u21e5c"));
    EXPECT_EQ(visibleText(std::string_view("\0\x1b", 2)), QString::fromUtf8("\u2400\u241b"));
    EXPECT_EQ(visibleText("x\u202ey"), QStringLiteral("x<U+202E>y"));
    EXPECT_EQ(visibleText(std::string(500, 'a'), 10).size(), 10);
    EXPECT_TRUE(plainToolTip(QStringLiteral("<b>&")).contains(QStringLiteral("&lt;b&gt;&amp;")));
}

TEST(CodeView, PositionsAreBytesOfTheText) {
    CodeView view;
    view.setResponse(mixedText);
    const auto byte = static_cast<int>(mixedText.find("__syncthreads"));
    EXPECT_EQ(view.lineOfByte(byte), 2);
    EXPECT_EQ(view.lineCount(), 4);
    view.SendScintilla(QsciScintillaBase::SCI_SETSEL, static_cast<unsigned long>(byte),
                       static_cast<long>(byte + 13));
    EXPECT_EQ(view.selectedText(), QStringLiteral("__syncthreads"));
    EXPECT_EQ(view.text().toUtf8().toStdString(), mixedText);
}

TEST(CodeView, KeepsNulAndInvalidBytes) {
    CodeView view;
    const std::string text("a\0b\xff z\r\n", 8);
    view.setResponse(text);
    EXPECT_EQ(view.SendScintilla(QsciScintillaBase::SCI_GETLENGTH), 8);
    EXPECT_TRUE(view.isReadOnly());
}

} // namespace
} // namespace cuset
