#include "core/base/csv.h"

#include <gtest/gtest.h>

namespace cuset {
namespace {

TEST(CsvCell, QuotesWhatWouldBreakTheLine) {
    EXPECT_EQ(csv_cell(""), "");
    EXPECT_EQ(csv_cell("a b"), "a b");
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
    EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
    EXPECT_EQ(csv_cell("a\rb"), "\"a\rb\"");
    EXPECT_EQ(csv_cell(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(CsvCell, NothingRunsAsAFormula) {
    EXPECT_EQ(csv_cell("=1+1"), "\"'=1+1\"");
    EXPECT_EQ(csv_cell("@SUM(A1)"), "\"'@SUM(A1)\"");
    EXPECT_EQ(csv_cell("-cmd|'/c calc'!A0"), "\"'-cmd|'/c calc'!A0\"");
    EXPECT_EQ(csv_cell("\tx"), "\"'\tx\"");
    EXPECT_EQ(csv_cell("-"), "\"'-\"");
    EXPECT_EQ(csv_cell("+-1"), "\"'+-1\"");
    EXPECT_EQ(csv_cell("-inf"), "\"'-inf\"");
}

TEST(CsvCell, NumbersStay) {
    for (const char* number : {"-1", "-0.5", "+2", "-1.5e-39", "12"})
        EXPECT_EQ(csv_cell(number), number);
    EXPECT_EQ(csv_cell("-1-1"), "\"'-1-1\"");
    EXPECT_EQ(csv_cell("+1+cmd"), "\"'+1+cmd\"");
}

} // namespace
} // namespace cuset
