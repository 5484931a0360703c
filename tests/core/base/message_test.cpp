#include "core/base/message.h"

#include <gtest/gtest.h>

#include <array>

namespace cuset {
namespace {

TEST(Printable, LeavesTextAlone) {
    EXPECT_EQ(printable("a < b && c > d"), "a < b && c > d");
    EXPECT_EQ(printable("Größe 轉置 🧮"), "Größe 轉置 🧮");
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
    EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
    EXPECT_EQ(printable("line\r\n\ttab"), "line\\r\\n\\ttab");
    EXPECT_EQ(printable("x\u202ey"), "x\\u202ey");
    EXPECT_EQ(printable("\u0085"), "\\x85");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("\xe2\x96"), "\\xe2\\x96"); // half a character
    EXPECT_EQ(printable("\xed\xb2\xb2"), "\\xed\\xb2\\xb2"); // a surrogate
    EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80"); // overlong
}

TEST(Printable, CutsBetweenCharacters) {
    EXPECT_EQ(printable("abcdef", 3), "abc...");
    EXPECT_EQ(printable("ab\xe2\x96\x81", 4), "ab...");
    EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(FormatBytes, PicksAUnit) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
    EXPECT_EQ(format_bytes(16ull << 30), "16.0 GiB");
}

TEST(FormatCount, GroupsByThree) {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1000), "1,000");
    EXPECT_EQ(format_count(1234567), "1,234,567");
    EXPECT_EQ(format_count(-123456), "-123,456");
}

TEST(NearestName, FindsATypingError) {
    const std::array<std::string, 3> names{"learning_rate", "lambda", "window"};
    EXPECT_EQ(nearest_name("learning_rte", names.data(), names.size()), "learning_rate");
    EXPECT_EQ(nearest_name("lamda", names.data(), names.size()), "lambda");
    EXPECT_EQ(nearest_name("quantize", names.data(), names.size()), "");
    EXPECT_EQ(nearest_name("tau", names.data(), 0), "");
}

} // namespace
} // namespace cuset
