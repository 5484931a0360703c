// Precision and recall of the sensitive kinds on the hand-labelled set, counted in bytes that are
// no blanks.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/core/cuda/cuda_test_support.h"

namespace cuset {
namespace {

struct Score {
    long gold_spans = 0;
    long both = 0;
    long only_found = 0;
    long only_gold = 0;
    double precision() const {
        return both + only_found == 0 ? 1.0 : double(both) / double(both + only_found);
    }
    double recall() const {
        return both + only_gold == 0 ? 1.0 : double(both) / double(both + only_gold);
    }
};

std::vector<bool> cover(const std::vector<SensitiveSpan>& spans, SensitiveKind kind,
                        std::size_t size) {
    std::vector<bool> covered(size, false);
    for (const SensitiveSpan& span : spans)
        if (span.kind == kind)
            for (std::int32_t i = span.span.begin; i < span.span.end; ++i)
                covered.at(i) = true;
    return covered;
}

// Prints the lines of a snippet where gold and scanner differ, for whoever mends the rules.
void explain(const test::GoldSnippet& snippet, SensitiveKind kind, const std::vector<bool>& gold,
             const std::vector<bool>& found) {
    std::size_t at = 0;
    while (at < snippet.text.size()) {
        std::size_t end = snippet.text.find('\n', at);
        end = end == std::string::npos ? snippet.text.size() : end;
        std::string marks;
        bool differs = false;
        for (std::size_t i = at; i < end; ++i) {
            const bool blank = snippet.text[i] == ' ';
            marks += blank || gold[i] == found[i] ? ' ' : (gold[i] ? '-' : '+');
            differs = differs || marks.back() != ' ';
        }
        if (differs)
            std::printf("%s: %s\n  %s\n  %s\n", snippet.name.c_str(),
                        std::string(sensitive_kind_names[static_cast<std::size_t>(kind)]).c_str(),
                        snippet.text.substr(at, end - at).c_str(), marks.c_str());
        at = end + 1;
    }
}

TEST(Gold, PrecisionAndRecallByKind) {
    const auto snippets = test::read_gold();
    ASSERT_GE(snippets.size(), 40u);
    std::array<Score, sensitive_kind_count> scores;
    for (const test::GoldSnippet& snippet : snippets) {
        const CudaStructure structure = find_cuda_structure_in_source(snippet.text);
        for (int k = 0; k < sensitive_kind_count; ++k) {
            const auto kind = static_cast<SensitiveKind>(k);
            const auto gold = cover(snippet.spans, kind, snippet.text.size());
            const auto found = cover(structure.spans, kind, snippet.text.size());
            for (const SensitiveSpan& span : snippet.spans)
                scores[k].gold_spans += span.kind == kind;
            for (std::size_t i = 0; i < gold.size(); ++i) {
                if (snippet.text[i] == ' ' || snippet.text[i] == '\n')
                    continue;
                scores[k].both += gold[i] && found[i];
                scores[k].only_found += !gold[i] && found[i];
                scores[k].only_gold += gold[i] && !found[i];
            }
            explain(snippet, kind, gold, found);
        }
    }
    std::printf("%-18s %6s %9s %9s\n", "kind", "spans", "precision", "recall");
    for (int k = 0; k < sensitive_kind_count; ++k) {
        const Score& score = scores[k];
        std::printf("%-18s %6ld %9.4f %9.4f\n", std::string(sensitive_kind_names[k]).c_str(),
                    score.gold_spans, score.precision(), score.recall());
        EXPECT_GE(score.gold_spans, 15) << sensitive_kind_names[k];
        EXPECT_GE(score.precision(), 0.97) << sensitive_kind_names[k];
        EXPECT_GE(score.recall(), 0.97) << sensitive_kind_names[k];
    }
}

TEST(Gold, EverySpanHasARule) {
    for (const std::string& text : test::source_texts())
        for (const SensitiveSpan& span : find_cuda_structure_in_source(text).spans) {
            EXPECT_FALSE(span.rule.empty());
            EXPECT_LT(span.span.begin, span.span.end);
        }
}

} // namespace
} // namespace cuset
