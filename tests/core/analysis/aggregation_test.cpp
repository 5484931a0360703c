#include "core/analysis/aggregation.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/analysis/lowest_units.h"
#include "core/analysis/worker_pool.h"
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
    const auto entries = aggregate(lines, {tokens, c, labels});
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].tokens, 2);
    EXPECT_EQ(entries[0].mean, 0.375f);
    EXPECT_EQ(entries[1].mean, 0.5f);
    EXPECT_EQ(entries[1].minimum, 0.25f);
    EXPECT_EQ(entries[1].confidence(Aggregate::minimum), 0.25f);
    EXPECT_EQ(entries[1].first_token, 1);
    EXPECT_EQ(entries[1].labels, kernel_bit | launch_bit);
    EXPECT_EQ(entries[2].tokens, 0);
    EXPECT_EQ(entries[2].mean, 0);
    EXPECT_EQ(entries[2].minimum, 0);
    EXPECT_EQ(entries[2].first_token, -1);
    EXPECT_TRUE(aggregate({}, {tokens, c, labels}).empty());
}

// One-byte tokens.
struct Tokens {
    explicit Tokens(std::vector<float> values, std::vector<LabelBits> bits = {})
        : confidence(std::move(values))
        , labels(std::move(bits)) {
        labels.resize(confidence.size());
        for (std::int32_t t = 0; t < static_cast<std::int32_t>(confidence.size()); ++t)
            spans.push_back({t, t + 1});
    }
    TokenColumns columns() const { return {spans, confidence, labels}; }

    std::vector<ByteSpan> spans;
    std::vector<float> confidence;
    std::vector<LabelBits> labels;
};

TEST(Units, TokensAndLines) {
    const Tokens tokens({0.5f, 0.25f, 1, 0.75f});
    const auto each = unit_confidences("ab\nc", tokens.columns(), TextUnit::token, 1);
    ASSERT_EQ(each.size(), 4u);
    EXPECT_EQ(each[1].mean, 0.25f);
    EXPECT_EQ(each[1].minimum, 0.25f);
    EXPECT_EQ(each[1].span, (ByteSpan{1, 2}));
    const auto lines = unit_confidences("ab\nc", tokens.columns(), TextUnit::line, 1);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].mean, 0.375f);
    EXPECT_EQ(lines[1].mean, 0.75f);
    EXPECT_TRUE(unit_confidences("", {}, TextUnit::token, 1).empty());
    EXPECT_TRUE(unit_confidences("", {}, TextUnit::window, 1).empty());
    EXPECT_TRUE(unit_confidences("", {}, TextUnit::region, 1).empty());
}

TEST(Units, RegionsAreRunsOfOneLabel) {
    const LabelBits atomic = kind_bit(SensitiveKind::atomic);
    const LabelBits config = kind_bit(SensitiveKind::launch_config);
    const Tokens tokens({0.5f, 0.25f, 0.75f, 1, 0.5f, 0.5f, 0.125f},
                        {kernel_bit, static_cast<LabelBits>(kernel_bit | atomic), kernel_bit, 0,
                         launch_bit, static_cast<LabelBits>(launch_bit | config), atomic});
    const auto regions = unit_confidences("abcdefg", tokens.columns(), TextUnit::region, 1);
    ASSERT_EQ(regions.size(), 4u);
    EXPECT_EQ(regions[0].span, (ByteSpan{0, 3})); // the kernel's body
    EXPECT_EQ(regions[0].labels, kernel_bit);
    EXPECT_EQ(regions[0].mean, 0.5f);
    EXPECT_EQ(regions[0].minimum, 0.25f);
    EXPECT_EQ(regions[1].span, (ByteSpan{1, 2}));
    EXPECT_EQ(regions[1].labels, atomic);
    EXPECT_EQ(regions[2].span, (ByteSpan{4, 6})); // launch bit and launch kind are one region
    EXPECT_EQ(regions[2].labels, launch_bit | config);
    EXPECT_EQ(regions[3].span, (ByteSpan{6, 7}));
}

// Begins of the windows that are lower than all they overlap, by comparing all pairs.
std::vector<std::int32_t> naive_lowest_windows(const std::vector<float>& c, std::int32_t length) {
    const auto count = static_cast<std::int32_t>(c.size());
    length = std::min(length, count);
    const auto sum = [&](std::int32_t begin) {
        double total = 0;
        for (std::int32_t t = begin; t < begin + length; ++t)
            total += static_cast<double>(c[static_cast<std::size_t>(t)]);
        return total;
    };
    std::vector<std::int32_t> begins;
    for (std::int32_t a = 0; count > 0 && a + length <= count; ++a) {
        bool lowest = true;
        for (std::int32_t b = std::max(0, a - length + 1);
             b < a + length && b + length <= count && lowest; ++b)
            lowest = b == a || sum(a) < sum(b) || (sum(a) == sum(b) && a < b);
        if (lowest)
            begins.push_back(a);
    }
    return begins;
}

TEST(Units, WindowsAreTheLowestOfThoseThatOverlap) {
    std::mt19937 random(5);
    for (int round = 0; round < 400; ++round) {
        std::vector<float> c;
        for (auto n = random() % 40; n > 0; --n)
            c.push_back(0.125f * static_cast<float>(random() % 9)); // sums are exact, ties common
        const Tokens tokens(c);
        for (const std::int32_t window : {1, 2, 3, 7, 39, 40, 1000}) {
            std::vector<std::int32_t> begins;
            for (const SpanConfidence& unit :
                 unit_confidences("", tokens.columns(), TextUnit::window, window)) {
                begins.push_back(unit.first_token);
                EXPECT_EQ(unit.tokens,
                          std::min<std::int32_t>(window, static_cast<std::int32_t>(c.size())));
            }
            ASSERT_EQ(begins, naive_lowest_windows(c, window)) << round << ' ' << window;
        }
    }
}

TEST(Units, ALineShowsTheLowestUnitOnIt) {
    const std::string_view text = "a;b;\n\ncd\ne;";
    //                             0123 4 5 67 8 9
    const Tokens tokens({0.5f, 1, 0.25f, 1, 1, 1, 0.75f, 0.5f, 1, 0.25f, 1},
                        {0, 0, 0, 0, 0, 0, kernel_bit, 0, 0, 0, 0});
    MaskSettings settings;
    const auto lines = [&](TextUnit unit, Aggregate how) {
        std::vector<float> values;
        for (const SpanConfidence& line :
             line_confidences(text, tokens.columns(), unit, how, settings))
            values.push_back(line.tokens > 0 ? line.confidence(how) : -1.0f);
        return values;
    };
    using F = std::vector<float>;
    EXPECT_EQ(lines(TextUnit::token, Aggregate::mean), (F{0.25f, -1, 0.5f, 0.25f}));
    EXPECT_EQ(lines(TextUnit::line, Aggregate::mean), (F{2.75f / 4, -1, 0.625f, 0.625f}));
    EXPECT_EQ(lines(TextUnit::line, Aggregate::minimum), (F{0.25f, -1, 0.5f, 0.25f}));
    // "cd\ne;" is one statement: 0.75, 0.5, 1, 0.25, 1.
    EXPECT_EQ(lines(TextUnit::statement, Aggregate::mean), (F{0.625f, -1, 0.7f, 0.7f}));
    EXPECT_EQ(lines(TextUnit::region, Aggregate::mean), (F{-1, -1, 0.75f, -1}));
    settings.window = 1; // windows are the tokens
    EXPECT_EQ(lines(TextUnit::window, Aggregate::mean), (F{0.25f, -1, 0.5f, 0.25f}));
    settings.window = 1000;
    const auto whole =
        line_confidences(text, tokens.columns(), TextUnit::window, Aggregate::mean, settings);
    EXPECT_EQ(whole[0].tokens, 11);
    EXPECT_EQ(whole[0].minimum, 0.25f);
}

TEST(LowestUnits, OfACorpus) {
    // The fixture's responses are "xxx...": one line and one statement each.
    RunControl control;
    const CorpusAnalyzer analyzer(test::make_set({{{0.5f, 0.5f}, {0, 0}},
                                                  {{0.1f}, {0}},
                                                  {{}, {}},
                                                  {{0.3f, 0.1f}, {0, 0}},
                                                  {{0.2f, 0.2f}, {0, 0}}}),
                                  control);
    const auto lowest = [&](std::int32_t least, std::size_t most, Aggregate how) {
        LowestQuery query;
        query.unit = TextUnit::line;
        query.how = how;
        query.least_tokens = least;
        query.most = most;
        std::vector<std::int64_t> samples;
        for (const LowUnit& low : lowest_units(analyzer, query, control))
            samples.push_back(low.sample);
        return samples;
    };
    EXPECT_EQ(lowest(1, 2, Aggregate::mean), (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(lowest(2, 10, Aggregate::minimum), (std::vector<std::int64_t>{3, 4, 0}));
    EXPECT_TRUE(lowest(1, 0, Aggregate::mean).empty());
    EXPECT_EQ(unit_confidences(analyzer, 4, TextUnit::statement, 1)[0].tokens, 2);
    control.request_stop();
    EXPECT_THROW(lowest(1, 1, Aggregate::mean), Cancelled);
}

TEST(LowestUnits, AreThoseOfASortOverAllWithAnyNumberOfThreads) {
    std::mt19937 random(3);
    const auto set = test::make_set(test::random_samples(random, 200, 60));
    RunControl control;
    WorkerPool pool(2);
    const CorpusAnalyzer one(set, control), two(set, control, pool.parallel_for());
    for (const TextUnit unit : {TextUnit::token, TextUnit::window, TextUnit::region})
        for (const LabelBits labels : {LabelBits{0}, kernel_bit}) {
            LowestQuery query;
            query.unit = unit;
            query.window = 8;
            query.least_tokens = 2;
            query.labels = labels;
            query.most = 50;
            if (unit == TextUnit::token)
                query.least_tokens = 1;
            std::vector<float> all;
            for (std::int64_t n = 0; n < set->sample_count(); ++n)
                for (const SpanConfidence& entry : unit_confidences(one, n, unit, query.window))
                    if (entry.tokens >= query.least_tokens
                        && (labels == 0 || (entry.labels & labels) != 0))
                        all.push_back(entry.mean);
            std::ranges::sort(all);
            all.resize(std::min(all.size(), query.most));
            const auto alone = lowest_units(one, query, control);
            const auto shared = lowest_units(two, query, control);
            ASSERT_EQ(alone.size(), all.size());
            ASSERT_EQ(shared.size(), all.size());
            for (std::size_t i = 0; i < all.size(); ++i) {
                EXPECT_EQ(alone[i].unit.mean, all[i]);
                EXPECT_EQ(alone[i].sample, shared[i].sample);
                EXPECT_EQ(alone[i].unit.span, shared[i].unit.span);
            }
        }
}

TEST(LowestUnits, OfEachSampleAreThoseOfTheSampleAlone) {
    std::mt19937 random(4);
    const auto set = test::make_set(test::random_samples(random, 120, 40));
    RunControl control;
    WorkerPool pool(2);
    const CorpusAnalyzer analyzer(set, control, pool.parallel_for());
    for (const TextUnit unit :
         {TextUnit::token, TextUnit::line, TextUnit::window, TextUnit::region})
        for (const Aggregate how : {Aggregate::mean, Aggregate::minimum}) {
            LowestQuery query;
            query.unit = unit;
            query.how = how;
            query.window = 8;
            query.least_tokens = 2;
            query.most = 1'000'000;
            std::vector<SpanConfidence> expected(static_cast<std::size_t>(set->sample_count()));
            std::vector<LowUnit> all = lowest_units(analyzer, query, control);
            std::reverse(all.begin(), all.end()); // the lowest is written last
            for (const LowUnit& low : all)
                expected[static_cast<std::size_t>(low.sample)] = low.unit;
            query.most = 1;
            const auto found = lowest_of_samples(analyzer, query, control);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t n = 0; n < found.size(); ++n) {
                EXPECT_EQ(found[n].tokens, expected[n].tokens);
                EXPECT_EQ(found[n].span, expected[n].span);
                EXPECT_EQ(found[n].confidence(how), expected[n].confidence(how));
            }
        }
    control.request_stop();
    EXPECT_THROW(lowest_of_samples(analyzer, {}, control), Cancelled);
}

TEST(LowestUnits, CsvKeepsHostileTextInItsField) {
    ScoreSetBuilder builder({}, 0);
    ScoredSample scored;
    scored.sample.id = "=cmd|' /C calc'!A0";
    scored.sample.response = "x\n\"q\",\n-1\xc3\xa9";
    scored.encoding.ids = {1, 2, 3};
    scored.encoding.spans = {{0, 1}, {2, 6}, {7, 11}};
    scored.scores.log_prob = {0, -1, -2};
    scored.scores.entropy = scored.scores.entropy_top20 = {0, 0, 0};
    scored.scores.rank = {0, 0, 0};
    scored.labels = {0, launch_bit, static_cast<LabelBits>(kernel_bit | 4)};
    builder.add(scored);
    RunControl control;
    const CorpusAnalyzer analyzer(builder.snapshot(), control);
    LowestQuery query;
    query.unit = TextUnit::line;
    query.least_tokens = 1;
    const auto units = lowest_units(analyzer, query, control);
    EXPECT_EQ(lowest_units_csv(*analyzer.scores(), units),
              "id,line,begin,end,tokens,mean_confidence,minimum_confidence,labels,text\r\n"
              "\"'=cmd|' /C calc'!A0\",3,7,11,1,0.135335,0.135335,kernel "
              "memory_access,\"'-1\xc3\xa9\"\r\n"
              "\"'=cmd|' /C calc'!A0\",2,2,6,1,0.367879,0.367879,launch_config,\"\"\"q\"\",\"\r\n"
              "\"'=cmd|' /C calc'!A0\",1,0,1,1,1.000000,1.000000,,x\r\n");
    EXPECT_EQ(unit_text(*analyzer.scores(), units[0], 3), "-1"); // cut between characters
}

} // namespace
} // namespace cuset
