// Filter expressions over the sample table, such as `difficulty > 0.7 and kind.shared_memory <
// 0.4`.
//
//   expression: comparison | mark | not expression | expression and expression
//               | expression or expression | ( expression )
//   comparison: operand < <= > >= = == != operand
//   operand:    a name, or a number such as 0.7, -1, 1e-3 or 70%
//   mark:       quarantined | noted | tag = "text" | tag != "text"
// `not` binds tightest, `or` loosest; && || ! are other spellings. tag = "text" holds if one of the
// sample's tags is that text.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/corpus_summary.h"

namespace cuset {

// What a person said of a sample, for filters.
struct SampleMarks {
    std::span<const std::string> tags = {};
    bool quarantined = false;
    bool noted = false; // there is a note
};

class SampleFilter {
public:
    // An empty or blank `text` lets everything pass. Throws Error(bad_value) that says what stands
    // where and what was expected, and names the known names for an unknown one; Error(limit)
    // beyond 4,096 bytes or 50 levels of nesting.
    static SampleFilter parse(std::string_view text, std::span<const std::string_view> names);

    // `values` in the order of the names that parse() was given; they may be empty unless
    // uses_values().
    bool matches(std::span<const double> values, const SampleMarks& marks = {}) const;
    // True if a name stands in the expression, so that values are needed to tell.
    bool uses_values() const;
    // The words that stand for marks.
    static constexpr std::array<std::string_view, 3> mark_names{"tag", "quarantined", "noted"};

private:
    enum class Action : std::uint8_t {
        less,
        less_equal,
        greater,
        greater_equal,
        equal,
        not_equal,
        has_tag,
        is_quarantined,
        is_noted,
        logical_not,
        logical_and,
        logical_or
    };
    struct Operand {
        std::int32_t field = -1; // -1: the number
        double number = 0;
    };
    struct Instruction {
        Action action = Action::less;
        Operand left, right; // of a comparison
        std::string text = {}; // of a tag
    };
    class Parser;

    std::vector<Instruction> program_; // in postfix order
};

// The numbers of a sample that a filter may name: those of SampleSummary, and for each kind the
// share of the sample's tokens that have it, as kind.NAME.
class SampleFields {
public:
    // O(tokens): counts the kinds. Keeps a pointer to the analyzer.
    explicit SampleFields(const CorpusAnalyzer& analyzer);

    static constexpr int count = 9 + sensitive_kind_count;
    static std::span<const std::string_view> names();
    // Of sample n at the analyzer's settings now.
    std::array<double, count> values(std::int64_t n) const;

private:
    const CorpusAnalyzer* analyzer_;
    std::vector<std::array<float, sensitive_kind_count>> kind_shares_; // [N]
};

// The marks of sample n; empty: there are none.
using MarksOf = std::function<SampleMarks(std::int64_t)>;

// The samples that match, in order. At the analyzer's settings now.
std::vector<std::int64_t> matching_samples(const SampleFields& fields, const SampleFilter& filter,
                                           std::int64_t samples, const MarksOf& marks = {});

} // namespace cuset
