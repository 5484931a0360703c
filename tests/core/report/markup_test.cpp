#include "core/report/markup.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/report/report_style.h"
#include "core/report/svg_chart.h"

namespace cuset {
namespace {

TEST(Markup, EscapesMarkupAndShowsWhatIsInvisible) {
    EXPECT_EQ(markup::escaped("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
    EXPECT_EQ(markup::escaped("a\x1b[31m\r\n\t"), "a\\x1b[31m\\r\\n\\t");
    EXPECT_EQ(markup::escaped("\u202eevil\u2066 \u200b \ufeff \u2028 \u00ad"),
              "\\u202eevil\\u2066 \\u200b \\ufeff \\u2028 \\u00ad");
    EXPECT_EQ(markup::escaped("\uffff \U000e0041 gr\u00f6\u00dfe \U0001f9ee"),
              "\\uffff \\ue0041 gr\u00f6\u00dfe \U0001f9ee");
    EXPECT_EQ(markup::escaped("\xff\xc3(\xed\xa0\x80"), "\\xff\\xc3(\\xed\\xa0\\x80");
    EXPECT_EQ(markup::escaped(std::string(300, '<'), 10).size(), 10 * 4 + 3u);
}

TEST(Markup, CodeKeepsItsLinesAndMarksItsEscapes) {
    EXPECT_EQ(markup::escaped_code("if (a < b)\n\tc();\r\n"), "if (a &lt; b)\n\tc();<i>\\r</i>\n");
    EXPECT_EQ(markup::escaped_code("\\r \xe2\x82 \u202e"), "\\r <i>\\xe2\\x82</i> <i>\\u202e</i>");
}

TEST(Markup, NumbersAreFiniteAndHaveNoNegativeZero) {
    EXPECT_EQ(markup::number(1.25, 1), "1.2");
    EXPECT_EQ(markup::number(-0.00001, 3), "0.000");
    EXPECT_EQ(markup::number(-0.5, 2), "-0.50");
    EXPECT_EQ(markup::number(std::nan(""), 2), "-");
    EXPECT_EQ(markup::number(-std::numeric_limits<double>::infinity(), 2), "-");
    EXPECT_EQ(markup::number(1e300, 0).size(), 301u);
    EXPECT_EQ(markup::percent(0.8125), "81.2 %");
}

TEST(Style, TheHashIsThatOfAPolicy) {
    // FIPS 180-4's digest of the empty text, in base64.
    EXPECT_EQ(policy_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

double luminance(Rgb color) {
    double sum = 0;
    const double factors[]{0.2126, 0.7152, 0.0722};
    for (std::size_t c = 0; c < 3; ++c) {
        const double v = color[c] / 255.0;
        sum += factors[c] * (v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

TEST(Style, CodeKeepsItsContrastOnEveryColour) {
    for (const bool dark : {false, true})
        for (int step = 0; step < confidence_steps; ++step) {
            const double a = luminance(text_color(dark)), b = luminance(step_color(step, dark));
            EXPECT_GE((std::max(a, b) + 0.05) / (std::min(a, b) + 0.05), 4.5)
                << step << (dark ? " dark" : " light");
        }
}

TEST(Style, StepsCoverZeroToOneAndTakeAnyNumber) {
    EXPECT_EQ(confidence_step(0), 0);
    EXPECT_EQ(confidence_step(1), confidence_steps - 1);
    EXPECT_EQ(confidence_step(std::numeric_limits<float>::quiet_NaN()), 0);
    EXPECT_EQ(confidence_step(7), confidence_steps - 1);
}

TEST(SvgChart, TicksAreRoundAndInside) {
    EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
    EXPECT_TRUE(round_ticks(1, 1, 5).empty());
    for (const double tick : round_ticks(3, 977, 5))
        EXPECT_EQ(tick, 200 * std::round(tick / 200));
}

TEST(SvgChart, AnAxisWithoutExtentIsDrawn) {
    SvgChart chart("<label>", {.low = 2, .high = 2, .title = "x"}, {.title = "y & z"});
    chart.line({{2, 0.5}}, "plain");
    const std::string svg = chart.markup();
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_NE(svg.find("aria-label=\"&lt;label&gt;\""), std::string::npos);
    EXPECT_NE(svg.find("y &amp; z"), std::string::npos);
}

} // namespace
} // namespace cuset
