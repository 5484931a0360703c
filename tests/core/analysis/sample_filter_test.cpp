#include "core/analysis/sample_filter.h"

#include <random>

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

const std::vector<std::string_view> names = {"a", "b", "kind.x"};

bool holds(std::string_view text, double a = 1, double b = 2, double x = 0.5) {
    const double values[] = {a, b, x};
    return SampleFilter::parse(text, names).matches(values);
}

std::string refusal(std::string_view text, ErrorCode code = ErrorCode::bad_value) {
    try {
        SampleFilter::parse(text, names);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code);
        return error.what();
    }
    return "";
}

TEST(SampleFilter, Comparisons) {
    EXPECT_TRUE(holds("a < b"));
    EXPECT_TRUE(holds("a<=1"));
    EXPECT_TRUE(holds("a >= 1.0"));
    EXPECT_FALSE(holds("a > 1"));
    EXPECT_TRUE(holds("a = 1 and a == 1"));
    EXPECT_TRUE(holds("a != 2"));
    EXPECT_TRUE(holds("kind.x = 50%"));
    EXPECT_TRUE(holds("a > -1e3 and -2.5 < a and .5 < b"));
    EXPECT_TRUE(holds("kind.x=0.1", 0, 0, static_cast<double>(0.1f))); // float32 like the table
    EXPECT_TRUE(holds("a < 1e300"));
}

TEST(SampleFilter, NotBindsTightestOrLoosest) {
    EXPECT_TRUE(holds("a = 1 or a = 2 and a = 3"));
    EXPECT_FALSE(holds("(a = 1 or a = 2) and a = 3"));
    EXPECT_FALSE(holds("not a = 1 or b = 3"));
    EXPECT_TRUE(holds("not (a = 1 and b = 3)"));
    EXPECT_TRUE(holds("!a=2&&!(b=1)||a=9"));
    EXPECT_TRUE(holds("not not a = 1"));
}

TEST(SampleFilter, NothingLetsEverythingPass) {
    EXPECT_TRUE(holds(""));
    EXPECT_TRUE(holds(" \t\n"));
}

TEST(SampleFilter, ErrorsSayWhatStandsWhere) {
    EXPECT_EQ(refusal("a >"), "filter: at character 4 stands the end, expected a name or a number");
    EXPECT_EQ(refusal("a 1"), "filter: at character 3 stands '1', expected one of < <= > >= = !=");
    EXPECT_EQ(refusal("(a > 1"), "filter: at character 7 stands the end, expected ')'");
    EXPECT_EQ(refusal("a > 1 b"),
              "filter: at character 7 stands 'b', expected 'and', 'or' or the end");
    EXPECT_EQ(refusal("kind.y > 1"),
              "filter: there is no 'kind.y', perhaps 'kind.x'; known are a, b, kind.x, "
              "tag, quarantined, noted");
    for (const std::string_view bad :
         {"and", "a > 1 and", "a > and", ")", "a > 1..2", "a > 1x", "a > -", "a > 0x10", "a > nan",
          "a => 1", "a ~ 1", "a > \"1\"", "a > 1e999"})
        EXPECT_NE(refusal(bad), "") << bad;
    EXPECT_NE(refusal(std::string(5000, ' '), ErrorCode::limit), "");
    EXPECT_NE(refusal(std::string(100, '(') + "a>1", ErrorCode::limit), "");
    EXPECT_NE(refusal(std::string(100, '!') + "a>1", ErrorCode::limit), "");
}

TEST(SampleFilter, TheDeepestAllowedNestingIsEvaluated) {
    std::string text, closing;
    for (int level = 0; level < 49; ++level) {
        text += "a=2 or b=2 and (";
        closing += ")";
    }
    EXPECT_TRUE(holds(text + "a=1" + closing));
    EXPECT_FALSE(holds(text + "a=3" + closing));
}

TEST(SampleFilter, RandomTextNeverDoesMoreThanThrow) {
    std::mt19937 random(12);
    const std::vector<std::string> words = {"a", "b", "<", ">=", "and", "or",   "not",
                                            "(", ")", "1", "%",  "-",   "\xff", " "};
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (auto i = random() % 12; i > 0; --i)
            text += words[random() % words.size()] + (random() % 2 == 0 ? " " : "");
        try {
            holds(text);
        } catch (const Error&) { }
    }
}

TEST(SampleFilter, OverACorpus) {
    RunControl control;
    const LabelBits shared = kernel_bit | kind_bit(SensitiveKind::shared_memory);
    CorpusAnalyzer analyzer(test::make_set({{{0.9f, 0.9f}, {shared, 0}},
                                            {{0.2f, 0.2f}, {0, shared}},
                                            {{0.1f}, {shared}},
                                            {{}, {}}}),
                            control);
    const SampleFields fields(analyzer);
    const auto matching = [&](std::string_view text) {
        return matching_samples(fields, SampleFilter::parse(text, SampleFields::names()), 4);
    };
    EXPECT_EQ(matching("weight > 0.7 and kind.shared_memory < 0.6"),
              (std::vector<std::int64_t>{1}));
    EXPECT_EQ(matching("tokens = 0 or difficulty > 80%"), (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(matching("confident_share = 1"), (std::vector<std::int64_t>{0, 1}));
    analyzer.update({.tau = 0.5}); // the fields follow the analyzer
    EXPECT_EQ(matching("confident_share = 1"), (std::vector<std::int64_t>{0}));
    EXPECT_EQ(matching("").size(), 4u);
}

bool marked(std::string_view text, const std::vector<std::string>& tags, bool quarantined = false,
            bool noted = false) {
    return SampleFilter::parse(text, names).matches({}, {tags, quarantined, noted});
}

TEST(SampleFilter, Marks) {
    EXPECT_TRUE(marked("tag == \"race\"", {"slow", "race"}));
    EXPECT_TRUE(marked("tag=\"a b\" or tag = \"and\"", {"and"}));
    EXPECT_FALSE(marked("tag = \"rac\"", {"race"}));
    EXPECT_TRUE(marked("tag != \"race\"", {"slow"}));
    EXPECT_FALSE(marked("tag != \"race\"", {"slow", "race"}));
    EXPECT_TRUE(marked("quarantined and not noted", {}, true));
    EXPECT_FALSE(marked("not quarantined", {}, true));
    EXPECT_TRUE(marked("(noted)", {}, false, true));
    EXPECT_FALSE(marked("quarantined or noted or tag = \"\"", {}));
}

TEST(SampleFilter, KnowsWhetherItNeedsValues) {
    EXPECT_FALSE(SampleFilter::parse("quarantined and tag = \"x\"", names).uses_values());
    EXPECT_TRUE(SampleFilter::parse("quarantined and a > 1", names).uses_values());
    EXPECT_FALSE(SampleFilter::parse("", names).uses_values());
}

TEST(SampleFilter, RefusesBrokenMarks) {
    EXPECT_NE(refusal("tag = race").find("double quotes"), std::string::npos);
    EXPECT_NE(refusal("tag = \"race").find("double quotes"), std::string::npos);
    EXPECT_NE(refusal("tag > \"race\"").find("after tag"), std::string::npos);
    EXPECT_NE(refusal("quarantined = 1").find("'and'"), std::string::npos);
    EXPECT_NE(refusal("quarantine").find("perhaps 'quarantined'"), std::string::npos);
    EXPECT_FALSE(refusal("a = \"x\"").empty());
}

} // namespace
} // namespace cuset
