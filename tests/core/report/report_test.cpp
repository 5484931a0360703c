#include "core/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/report/markup.h"
#include "core/report/report_style.h"
#include "tests/core/analysis/corpus_fixture.h"
#include "tests/core/report/page_checker.h"

namespace cuset {
namespace {

using test::CorpusSample;
using testing::HasSubstr;
using testing::Not;

std::string page_of(std::shared_ptr<const ScoreSet> set, const ReportOptions& options = {}) {
    RunControl control;
    CorpusAnalyzer analyzer(std::move(set), control);
    return render_report(analyzer, options, control);
}

std::size_t count_of(std::string_view page, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = page.find(part); at != page.npos; at = page.find(part, at + 1))
        ++count;
    return count;
}

std::shared_ptr<const ScoreSet> random_set(int count, int most) {
    std::mt19937 random(3);
    return test::make_set(test::random_samples(random, count, most));
}

// Everything a file decides, hostile: ids, provenance, prompt, response, token texts.
constexpr const char* attack = "</pre></title></style><script>alert(1)</script><img src=x "
                               "onerror=alert(1)>\" onmouseover=\"alert(2)' \u202e\x1b[2J]]>";

std::shared_ptr<const ScoreSet> hostile_set() {
    ScoreProvenance provenance{.created_by = attack,
                               .model = attack,
                               .model_sha256 = attack,
                               .tokenizer_sha256 = attack,
                               .adapter = attack,
                               .chat_template = std::string(attack) + attack,
                               .dtype = attack,
                               .device = attack};
    ScoreSetBuilder builder(provenance, 1, [](std::int32_t id) {
        return id == 0 ? std::string(attack) : std::string("\xff<b>");
    });
    ScoredSample scored;
    scored.sample.id = attack;
    scored.sample.prompt = attack;
    // A character of four bytes and one of no UTF-8, both cut between tokens.
    scored.sample.response = std::string(attack) + "\xf0\x9f\xa7\xae\xff\r\n";
    const auto size = static_cast<std::int32_t>(scored.sample.response.size());
    for (std::int32_t at = 0; at <= size; ++at) {
        scored.encoding.ids.push_back(at % 2);
        scored.encoding.spans.push_back({at, std::min(at + 1, size)});
        scored.scores.log_prob.push_back(-0.1f * static_cast<float>(at % 7));
        scored.scores.entropy.push_back(1);
        scored.scores.entropy_top20.push_back(1);
        scored.scores.rank.push_back(at);
        scored.scores.top_ids.push_back((at + 1) % 2);
        scored.scores.top_log_probs.push_back(-0.5f);
        scored.labels.push_back(static_cast<LabelBits>(at * 5 & 0x3ff));
    }
    scored.scores.top_k = 1;
    builder.add(scored);
    return builder.snapshot();
}

TEST(Report, IsWellFormedAndAsksForNothing) {
    const std::string page = page_of(random_set(8, 300));
    EXPECT_EQ(test::fault_of_page(page), "");
    const std::size_t begin = page.find("<style>") + 7;
    const std::string css = page.substr(begin, page.find("</style>") - begin);
    EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src '" + policy_hash(css) + "'; "));
    for (const char* part : {"<script", "<img", "<link", "<iframe", " style=", " src=", "url(",
                             "@import", " onclick", "https:"})
        EXPECT_THAT(page, Not(HasSubstr(part)));
    EXPECT_EQ(count_of(page, "http:"), count_of(page, "xmlns=\"http:"));
}

TEST(Report, HostileTextIsShownAsText) {
    const std::string page =
        page_of(hostile_set(), {.program = attack, .source = attack, .date = attack});
    EXPECT_EQ(test::fault_of_page(page), "");
    for (const char* part :
         {"<script", "<img", "<b>al", "\x1b", "\u202e", "\" onmouseover", "\xff", "\r"})
        EXPECT_THAT(page, Not(HasSubstr(part)));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
    EXPECT_THAT(page, HasSubstr("\\u202e\\x1b[2J"));
    EXPECT_THAT(page, HasSubstr("\U0001f9ee")); // whole, with the token that begins it
}

TEST(Report, ItsNumbersAreTheSummarys) {
    RunControl control;
    CorpusAnalyzer analyzer(random_set(20, 400), control);
    MaskSettings settings{.tau = 0.35, .lambda = 1.5, .window = 31};
    analyzer.update(settings);
    const std::string page = render_report(analyzer, {}, control);
    EXPECT_EQ(analyzer.summary().settings, settings); // sweeps put it back
    const CorpusSummary& s = analyzer.summary();
    for (const Moments& m : {s.confidence.sensitive, s.confidence.neutral, s.confidence.all}) {
        EXPECT_THAT(page, HasSubstr("<td>" + format_count(m.count) + "</td>"));
        EXPECT_THAT(
            page,
            HasSubstr("<td>" + markup::number(m.mean, 4) + "</td><td>" + markup::number(m.std, 4)));
    }
    EXPECT_THAT(page, HasSubstr(format_count(s.tokens) + " response tokens"));
    EXPECT_THAT(page,
                HasSubstr("KS D " + markup::number(s.confidence.ks.statistic, 4) + ", log10 p "
                          + markup::number(s.confidence.ks.log10_p, 1)));
    for (const double share : {s.mask.supervised_share, s.low_confidence.samples_share,
                               s.low_confidence.windows_share, s.low_confidence.sensitive_share})
        EXPECT_THAT(page, HasSubstr(markup::percent(share)));
    for (const Moments& m : s.confidence.by_kind)
        EXPECT_THAT(
            page,
            HasSubstr("<td>" + markup::number(m.mean, 4) + "</td><td>" + markup::number(m.std, 4)));
    for (const SampleSummary& row : analyzer.samples()) {
        if (row.tokens > 0) {
            EXPECT_THAT(page,
                        HasSubstr("<td>" + markup::number(static_cast<double>(row.difficulty), 4)
                                  + "</td><td>"
                                  + markup::number(static_cast<double>(row.weight), 4)));
        }
    }
    EXPECT_EQ(page, render_report(analyzer, {}, control));
}

TEST(Report, EmptyCorporaAndSingleTokensGiveAPage) {
    for (const std::vector<CorpusSample>& samples : {std::vector<CorpusSample>{},
                                                     {{{}, {}}},
                                                     {{{0.5f}, {0}}},
                                                     {{{0.0f}, {kernel_bit}}},
                                                     {{{1.0f, 1.0f}, {4, 4}}},
                                                     {{{}, {}}, {{0.25f}, {8}}}}) {
        const std::string page = page_of(test::make_set(samples));
        EXPECT_EQ(test::fault_of_page(page), "");
        for (const char* part : {">nan", " nan", "\"nan", "Mnan", "Lnan", "-nan", "inf\"", ">inf"})
            EXPECT_THAT(page, Not(HasSubstr(part)));
    }
}

TEST(Report, LongSamplesAreCutAroundTheirLowestWindow) {
    CorpusSample sample;
    for (int t = 0; t < 5000; ++t) {
        sample.confidence.push_back(t >= 4000 && t < 4100 ? 0.1f : 0.9f);
        sample.labels.push_back(t % 9 == 0 ? 4 : 0);
    }
    const std::string page = page_of(test::make_set({sample}), {.tokens_per_sample = 300});
    EXPECT_EQ(count_of(page, "\" title=\""), 300u);
    EXPECT_THAT(page, HasSubstr("of 5,000 are shown"));
    EXPECT_GT(count_of(page, "c 0.1000, rank"), 99u);
    EXPECT_LT(page.size(), 250'000u);
}

TEST(Report, SamplesAndRowsAreLimited) {
    const std::string page = page_of(random_set(30, 40), {.samples = 3, .table_rows = 5});
    EXPECT_EQ(count_of(page, "<article>"), 3u);
    EXPECT_EQ(count_of(page, "href=\"#sample-"), 3u);
    EXPECT_THAT(page, HasSubstr("Hardest first, 5 of "));
}

TEST(Report, OptionsOutOfRangeAreRefusedAndStopWorks) {
    const auto set = random_set(2, 10);
    for (const ReportOptions& options :
         {ReportOptions{.samples = -1}, ReportOptions{.tokens_per_sample = 0},
          ReportOptions{.table_rows = 100'001}}) {
        try {
            page_of(set, options);
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_value);
        }
    }
    RunControl control;
    CorpusAnalyzer analyzer(set, control);
    control.request_stop();
    EXPECT_THROW(render_report(analyzer, {}, control), Cancelled);
}

} // namespace
} // namespace cuset
