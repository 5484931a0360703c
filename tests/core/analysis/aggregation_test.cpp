#include "core/analysis/aggregation.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/analysis/corpus_fixture.h"

namespace cuset {
namespace {

std::vector<std::string> texts(std::string_view text, const std::vector<ByteSpan>& spans) {
    std::vector<std::string> result;
    for (const ByteSpan span : spans)
        result.emplace_back(text.substr(static_cast<std::size_t>(span.begin),
                                        static_cast<std::size_t>(span.size())));
    return result;
}

using Texts = std::vector<std::string>;

TEST(Lines, EndsAreLeftOut) {
    const auto lines = [](std::string_view text) { return texts(text, line_spans(text)); };
    EXPECT_EQ(lines(""), Texts{""});
    EXPECT_EQ(lines("a"), Texts{"a"});
    EXPECT_EQ(lines("a\nb\n"), (Texts{"a", "b"}));
    EXPECT_EQ(lines("a\r\n\r\n\nb\rc"), (Texts{"a", "", "", "b\rc"}));
    EXPECT_EQ(lines("\n"), Texts{""});
}

TEST(Statements, OfAKernel) {
    const std::string_view text = R"cu(#include <cuda.h>
#define TWICE(x) \
    ((x); (x))
// a comment; with a sign
__global__ void k(float* x, int n) {
    /* another; */ int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < n; ++j)
        x[i] += ";{"[j] + ';';
    if (i < n) { x[i] = 1'000.0f; } else x[i] = 0;
}
int main() { k<<<dim3(1, 2), 256>>>(x, n); }
)cu";
    EXPECT_EQ(texts(text, statement_spans(text)),
              (Texts{"#include <cuda.h>", "#define TWICE(x) \\\n    ((x); (x))",
                     "__global__ void k(float* x, int n) {",
                     "int i = blockIdx.x * blockDim.x + threadIdx.x;",
                     "for (int j = 0; j < n; ++j)\n        x[i] += \";{\"[j] + ';';",
                     "if (i < n) {", "x[i] = 1'000.0f;", "}", "else x[i] = 0;", "}", "int main() {",
                     "k<<<dim3(1, 2), 256>>>(x, n);", "}"}));
}

TEST(Statements, CutOffAndBrokenTextIsTaken) {
    const auto cut = [](std::string_view text) { return texts(text, statement_spans(text)); };
    EXPECT_EQ(cut(""), Texts{});
    EXPECT_EQ(cut("  // only a comment"), Texts{});
    EXPECT_EQ(cut("a = f(b, "), Texts{"a = f(b,"});
    EXPECT_EQ(cut("s = \"open; \nb;"), (Texts{"s = \"open; \nb;"}));
    EXPECT_EQ(cut("s = R\"x(;{ )\" )x\"; b;"), (Texts{"s = R\"x(;{ )\" )x\";", "b;"}));
    EXPECT_EQ(cut("s = R\"x(; b;"), (Texts{"s = R\"x(; b;"}));
    EXPECT_EQ(cut("a; /* open; b;"), Texts{"a;"});
    EXPECT_EQ(cut("'"), Texts{"'"});
    EXPECT_EQ(cut("\"\\"), Texts{"\"\\"});
    EXPECT_EQ(cut("#"), Texts{"#"});
    EXPECT_EQ(cut("#\\"), Texts{"#\\"});
    EXPECT_EQ(cut(")]}a;"), (Texts{")]}", "a;"}));
}

TEST(Statements, AnyBytesGiveSpansInOrder) {
    std::mt19937 random(11);
    const std::string_view signs = "\"'\\/*#(){}[];\n\r aR0\0";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (auto i = random() % 60; i > 0; --i)
            text += signs[random() % signs.size()];
        std::int32_t end = 0;
        for (const ByteSpan span : statement_spans(text)) {
            ASSERT_LE(end, span.begin) << text;
            ASSERT_LT(span.begin, span.end) << text;
            end = span.end;
        }
        ASSERT_LE(end, static_cast<std::int32_t>(text.size()));
    }
}

TEST(Statements, HostileTextTakesLinearTime) {
    for (const std::string_view part :
         {"R\"", "/*", "#\\\n", "(", "'", "\"", "\\", "R\"(", "//\\\n"}) {
        std::string text;
        while (text.size() < 1000000)
            text += part;
        EXPECT_LE(statement_spans(text).size(), text.size());
    }
}

TEST(Aggregation, MeanAndMinimumOverTokensThatShareAByte) {
    // Line 1: bytes 0..4, line 2: 5..9. The token [3, 7) lies in both; the last has no text.
    const std::vector<ByteSpan> lines = {{0, 4}, {5, 9}, {9, 9}};
    const std::vector<ByteSpan> tokens = {{0, 3}, {3, 7}, {7, 9}, {9, 9}};
    const std::vector<float> c = {0.5f, 0.25f, 0.75f, 0.1f};
    const std::vector<LabelBits> labels = {0, kernel_bit, launch_bit, 0};
    const auto mean = aggregate(lines, tokens, c, labels, Aggregate::mean);
    ASSERT_EQ(mean.size(), 3u);
    EXPECT_EQ(mean[0].tokens, 2);
    EXPECT_EQ(mean[0].confidence, 0.375f);
    EXPECT_EQ(mean[1].confidence, 0.5f);
    EXPECT_EQ(mean[1].first_token, 1);
    EXPECT_EQ(mean[1].labels, kernel_bit | launch_bit);
    EXPECT_EQ(mean[2].tokens, 0);
    EXPECT_EQ(mean[2].confidence, 0);
    EXPECT_EQ(mean[2].first_token, -1);
    EXPECT_EQ(aggregate(lines, tokens, c, labels, Aggregate::minimum)[1].confidence, 0.25f);
    EXPECT_TRUE(aggregate({}, tokens, c, labels, Aggregate::mean).empty());
}

TEST(Aggregation, LowestRegionsOfACorpus) {
    // The fixture's responses are "xxx...": one line and one statement each.
    RunControl control;
    const CorpusAnalyzer analyzer(test::make_set({{{0.5f, 0.5f}, {0, 0}},
                                                  {{0.1f}, {0}},
                                                  {{}, {}},
                                                  {{0.3f, 0.1f}, {0, 0}},
                                                  {{0.2f, 0.2f}, {0, 0}}}),
                                  control);
    const auto lowest = [&](std::int32_t least, std::size_t most, Aggregate how) {
        std::vector<std::int64_t> samples;
        for (const LowRegion& region :
             lowest_regions(analyzer, TextUnit::line, how, least, most, control))
            samples.push_back(region.sample);
        return samples;
    };
    EXPECT_EQ(lowest(1, 2, Aggregate::mean), (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(lowest(2, 10, Aggregate::minimum), (std::vector<std::int64_t>{3, 4, 0}));
    EXPECT_TRUE(lowest(1, 0, Aggregate::mean).empty());
    EXPECT_EQ(aggregate_sample(analyzer, 4, TextUnit::statement, Aggregate::mean)[0].tokens, 2);
    control.request_stop();
    EXPECT_THROW(lowest(1, 1, Aggregate::mean), Cancelled);
}

} // namespace
} // namespace cuset
