// The pieces below sample_reader: UTF-8 repair, JSON text, lines.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/json_lines.h"
#include "core/io/json_records.h"
#include "core/io/json_text.h"
#include "core/io/utf8_repair.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

using namespace std::string_literals;

std::string repaired(std::string text) {
    repair_utf8(text);
    return text;
}

// Expected strings: Python's bytes.decode("utf-8", "replace"); R stands for U+FFFD.
TEST(Utf8Repair, ReplacesMaximalSubparts) {
    const std::string r(replacement_utf8);
    EXPECT_EQ(repaired("plain"), "plain");
    EXPECT_EQ(repaired("\xc3\xa9\xf0\x9f\xa7\xae"), "\xc3\xa9\xf0\x9f\xa7\xae");
    EXPECT_EQ(repaired("\xc0\xaf"), r + r);
    EXPECT_EQ(repaired("\xe0\x80\xaf"), r + r + r);
    EXPECT_EQ(repaired("\xed\xa0\x80"), r + r + r);
    EXPECT_EQ(repaired("\xf0\x90\x80"), r);
    EXPECT_EQ(repaired("\xf4\x90\x80\x80"), r + r + r + r);
    EXPECT_EQ(repaired("\xf1\x80\x41"), r + "A");
    EXPECT_EQ(repaired("a\x80z"), "a" + r + "z");
    EXPECT_EQ(repaired("\xe2\x82"), r);
}

TEST(JsonText, RepairsSurrogatesInStringsOnly) {
    EXPECT_EQ(parse_json_text(R"("\ud83e\uddee")").value, "\xf0\x9f\xa7\xae");
    EXPECT_FALSE(parse_json_text(R"("\ud83e\uddee")").repaired);
    EXPECT_EQ(parse_json_text(R"("\ud83e\ud83e\uddee")").value, "\xef\xbf\xbd\xf0\x9f\xa7\xae");
    EXPECT_EQ(parse_json_text(R"("\uDCB2")").value, "\xef\xbf\xbd");
    EXPECT_TRUE(parse_json_text(R"("\uDCB2")").repaired);
    EXPECT_EQ(parse_json_text(R"("\\ud83e")").value, "\\ud83e");
    EXPECT_EQ(parse_json_text(R"("\ud83e)"
                              "\xff\"")
                  .value,
              "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(JsonText, PythonsNotANumberIsNull) {
    const auto value =
        parse_json_text(R"({"a": NaN, "b": [-Infinity, Infinity], "c": "NaN", "d": -1})").value;
    EXPECT_TRUE(value["a"].is_null());
    EXPECT_TRUE(value["b"][0].is_null());
    EXPECT_EQ(value["c"], "NaN");
    EXPECT_EQ(value["d"], -1);
}

TEST(JsonText, RefusesWhatIsNotJson) {
    for (const char* text : {"", "{", "[1,", "\"a", "\"\\", "\"\\u12", "{\"a\": 1,}", "{} x", "nul",
                             "'a'", "1e999", "\"a\nb\"", "]", "}{", "\"\\x\""})
        EXPECT_THROW(parse_json_text(text), Error) << text;
    const std::string nested = std::string(128, '[') + std::string(128, ']');
    EXPECT_NO_THROW(parse_json_text(nested));
    EXPECT_THROW(parse_json_text("[" + nested + "]"), Error);
}

std::vector<std::string> lines_of(std::string_view text, std::size_t limit) {
    TemporaryFolder folder;
    RunControl control;
    TextSource source(folder.write("f", text), control);
    LineReader reader(source, limit);
    std::vector<std::string> lines;
    while (const auto line = reader.next())
        lines.push_back(std::to_string(line->number) + ":"
                        + (line->too_long ? "too long" : std::string(line->text)));
    return lines;
}

TEST(LineReader, EndsAndLimits) {
    using ::testing::ElementsAre;
    EXPECT_THAT(lines_of("", 10), ElementsAre());
    EXPECT_THAT(lines_of("a\nb", 10), ElementsAre("1:a", "2:b"));
    EXPECT_THAT(lines_of("a\r\n\nb\n", 10), ElementsAre("1:a", "2:", "3:b"));
    EXPECT_THAT(lines_of("abcd\nabcde\nx", 4), ElementsAre("1:abcd", "2:too long", "3:x"));
    EXPECT_THAT(lines_of("abcdef", 4), ElementsAre("1:too long"));
    const std::string big(1'000'000, 'x'); // longer than a chunk
    EXPECT_THAT(lines_of(big + "\ny\n" + big, 1 << 20), ElementsAre("1:" + big, "2:y", "3:" + big));
    EXPECT_THAT(lines_of(big + "\ny", 1000), ElementsAre("1:too long", "2:y"));
}

std::vector<std::string> pieces_of(std::string_view text, std::size_t limit = 1 << 20) {
    TemporaryFolder folder;
    RunControl control;
    TextSource source(folder.write("f", text), control);
    JsonPieceReader reader(source, limit);
    std::vector<std::string> pieces;
    while (const auto piece = reader.next())
        pieces.push_back(std::to_string(piece->line) + ":"
                         + (piece->too_long ? "too long" : std::string(piece->text)));
    return pieces;
}

TEST(JsonPieceReader, ElementsAndValues) {
    using ::testing::ElementsAre;
    EXPECT_THAT(pieces_of("[]"), ElementsAre());
    EXPECT_THAT(pieces_of("[{\"a\": \"]}\\\"\"},\n{}]"),
                ElementsAre("1:{\"a\": \"]}\\\"\"}", "2:{}"));
    EXPECT_THAT(pieces_of("{\n}\n{\n}"), ElementsAre("1:{\n}", "3:{\n}"));
    EXPECT_THAT(pieces_of("[1, \"a,]\", null]"), ElementsAre("1:1", "1:\"a,]\"", "1:null"));
    EXPECT_THAT(pieces_of("[{\"a\": [{}]}, {\"b"), ElementsAre("1:{\"a\": [{}]}", "1:{\"b"));
    EXPECT_THAT(pieces_of("[{}] x"), ElementsAre("1:{}", "1:x"));
    EXPECT_THAT(pieces_of("{}]}"), ElementsAre("1:{}", "1:]", "1:}"));
    EXPECT_THAT(pieces_of("[\"abcdefgh\",\n{}]", 5), ElementsAre("1:too long", "2:{}"));
    const std::string big = "[" + std::string(600'000, '1') + "]";
    EXPECT_THAT(pieces_of("[" + big + "," + big + "]"), ElementsAre("1:" + big, "1:" + big));
}

} // namespace
} // namespace cuset
