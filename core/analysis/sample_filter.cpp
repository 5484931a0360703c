#include "core/analysis/sample_filter.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <functional>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

constexpr std::size_t most_bytes = 4096;
constexpr int most_levels = 50;
// A level of nesting holds back at most an `or` and an `and`.
constexpr std::size_t stack_size = 3 * (most_levels + 1);

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

} // namespace

class SampleFilter::Parser {
public:
    Parser(std::string_view text, std::span<const std::string_view> names)
        : text_(text)
        , names_(names) {
        advance();
    }

    std::vector<Instruction> parse() {
        if (word_.empty())
            return {};
        parse_or();
        if (!word_.empty())
            expected("'and', 'or' or the end");
        return std::move(program_);
    }

private:
    void parse_or() {
        parse_and();
        while (word_ == "or" || word_ == "||") {
            advance();
            parse_and();
            program_.push_back({Action::logical_or, {}, {}, {}});
        }
    }

    void parse_and() {
        parse_not();
        while (word_ == "and" || word_ == "&&") {
            advance();
            parse_not();
            program_.push_back({Action::logical_and, {}, {}, {}});
        }
    }

    void parse_not() {
        if (++level_ > most_levels)
            throw Error(ErrorCode::limit,
                        "nests deeper than " + std::to_string(most_levels) + " levels", "filter");
        if (word_ == "not" || word_ == "!") {
            advance();
            parse_not();
            program_.push_back({Action::logical_not, {}, {}, {}});
        } else if (word_ == "(") {
            advance();
            parse_or();
            if (word_ != ")")
                expected("')'");
            advance();
        } else if (!parse_mark()) {
            parse_comparison();
        }
        --level_;
    }

    bool parse_mark() {
        if (word_ == "quarantined" || word_ == "noted") {
            program_.push_back(
                {word_ == "noted" ? Action::is_noted : Action::is_quarantined, {}, {}, {}});
            advance();
            return true;
        }
        if (word_ != "tag")
            return false;
        advance();
        const bool other = word_ == "!=";
        if (word_ != "=" && word_ != "==" && !other)
            expected("= or != after tag");
        advance();
        if (word_.size() < 2 || word_.front() != '"' || word_.back() != '"')
            expected("a tag in double quotes");
        program_.push_back(
            {Action::has_tag, {}, {}, std::string(word_.substr(1, word_.size() - 2))});
        if (other)
            program_.push_back({Action::logical_not, {}, {}, {}});
        advance();
        return true;
    }

    void parse_comparison() {
        Instruction comparison;
        comparison.left = parse_operand();
        comparison.action = parse_operator();
        comparison.right = parse_operand();
        program_.push_back(comparison);
    }

    Action parse_operator() {
        static constexpr std::pair<std::string_view, Action> operators[] = {
            {"<", Action::less},           {"<=", Action::less_equal}, {">", Action::greater},
            {">=", Action::greater_equal}, {"=", Action::equal},       {"==", Action::equal},
            {"!=", Action::not_equal}};
        for (const auto& [sign, action] : operators)
            if (word_ == sign) {
                advance();
                return action;
            }
        expected("one of < <= > >= = !=");
    }

    Operand parse_operand() {
        Operand operand;
        if (word_.empty() || is_keyword()) {
            expected("a name or a number");
        } else if (is_name_start(word_.front())) {
            const auto found = std::find(names_.begin(), names_.end(), word_);
            if (found == names_.end())
                unknown_name();
            operand.field = static_cast<std::int32_t>(found - names_.begin());
        } else {
            operand.number = parse_number();
        }
        advance();
        return operand;
    }

    double parse_number() const {
        std::string_view digits = word_;
        const bool percent = digits.ends_with('%');
        if (percent)
            digits.remove_suffix(1);
        double number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc() || end != digits.data() + digits.size())
            expected("a name or a number");
        // As float32, like the table's values: 0.1 equals 0.1.
        constexpr double most = std::numeric_limits<float>::max();
        number = std::clamp(percent ? number / 100 : number, -most, most);
        return static_cast<double>(static_cast<float>(number));
    }

    bool is_keyword() const { return word_ == "and" || word_ == "or" || word_ == "not"; }

    // The next word: a name, a number, or a sign; empty at the end.
    void advance() {
        at_ += word_.size();
        while (at_ < text_.size() && is_blank(text_[at_]))
            ++at_;
        word_ = text_.substr(at_, word_length());
    }

    std::size_t word_length() const {
        const std::string_view rest = text_.substr(at_);
        if (rest.empty())
            return 0;
        std::size_t length = 1;
        if (is_name_start(rest[0])) {
            while (
                length < rest.size()
                && (is_name_start(rest[length]) || is_digit(rest[length]) || rest[length] == '.'))
                ++length;
        } else if (is_digit(rest[0]) || rest[0] == '.' || rest[0] == '-') {
            while (length < rest.size()
                   && (is_digit(rest[length]) || is_name_start(rest[length]) || rest[length] == '.'
                       || ((rest[length] == '-' || rest[length] == '+')
                           && (rest[length - 1] == 'e' || rest[length - 1] == 'E'))))
                ++length;
            if (length < rest.size() && rest[length] == '%')
                ++length;
        } else if (rest[0] == '"') {
            const std::size_t close = rest.find('"', 1);
            return close == std::string_view::npos ? rest.size() : close + 1;
        } else if (rest.size() > 1) {
            for (const std::string_view pair : {"<=", ">=", "==", "!=", "&&", "||"})
                if (rest.starts_with(pair))
                    return 2;
        }
        return length;
    }

    [[noreturn]] void expected(std::string_view what) const {
        const std::string found = word_.empty() ? "the end" : "'" + printable(word_, 40) + "'";
        throw Error(ErrorCode::bad_value,
                    "at character " + std::to_string(at_ + 1) + " stands " + found + ", expected "
                        + std::string(what),
                    "filter");
    }

    [[noreturn]] void unknown_name() const {
        std::string known;
        std::vector<std::string> candidates;
        std::vector<std::string_view> all(names_.begin(), names_.end());
        all.insert(all.end(), mark_names.begin(), mark_names.end());
        for (const std::string_view name : all) {
            known += (known.empty() ? "" : ", ") + std::string(name);
            candidates.emplace_back(name);
        }
        const std::string near = nearest_name(word_, candidates.data(), candidates.size());
        throw Error(ErrorCode::bad_value,
                    "there is no '" + printable(word_, 40) + "'"
                        + (near.empty() ? "" : ", perhaps '" + near + "'") + "; known are " + known,
                    "filter");
    }

    std::string_view text_;
    std::span<const std::string_view> names_;
    std::size_t at_ = 0;
    std::string_view word_;
    int level_ = 0;
    std::vector<Instruction> program_;
};

SampleFilter SampleFilter::parse(std::string_view text, std::span<const std::string_view> names) {
    if (text.size() > most_bytes)
        throw Error(ErrorCode::limit,
                    "has " + std::to_string(text.size()) + " bytes, at most "
                        + std::to_string(most_bytes) + " are read",
                    "filter");
    SampleFilter filter;
    filter.program_ = Parser(text, names).parse();
    return filter;
}

bool SampleFilter::uses_values() const {
    return std::any_of(program_.begin(), program_.end(), [](const Instruction& step) {
        return step.left.field >= 0 || step.right.field >= 0;
    });
}

bool SampleFilter::matches(std::span<const double> values, const SampleMarks& marks) const {
    std::array<bool, stack_size> stack;
    std::size_t top = 0;
    const auto value = [&](const Operand& operand) {
        assert(operand.field < static_cast<std::int32_t>(values.size()));
        return operand.field < 0 ? operand.number : values[static_cast<std::size_t>(operand.field)];
    };
    for (const Instruction& step : program_) {
        const auto compare = [&](auto relation) {
            assert(top < stack.size());
            stack[top++] = relation(value(step.left), value(step.right));
        };
        switch (step.action) {
        case Action::less:
            compare(std::less{});
            break;
        case Action::less_equal:
            compare(std::less_equal{});
            break;
        case Action::greater:
            compare(std::greater{});
            break;
        case Action::greater_equal:
            compare(std::greater_equal{});
            break;
        case Action::equal:
            compare(std::equal_to{});
            break;
        case Action::not_equal:
            compare(std::not_equal_to{});
            break;
        case Action::has_tag:
            stack[top++] =
                std::find(marks.tags.begin(), marks.tags.end(), step.text) != marks.tags.end();
            break;
        case Action::is_quarantined:
            stack[top++] = marks.quarantined;
            break;
        case Action::is_noted:
            stack[top++] = marks.noted;
            break;
        case Action::logical_not:
            stack[top - 1] = !stack[top - 1];
            break;
        case Action::logical_and:
            --top;
            stack[top - 1] = stack[top - 1] && stack[top];
            break;
        case Action::logical_or:
            --top;
            stack[top - 1] = stack[top - 1] || stack[top];
            break;
        }
    }
    return top == 0 || stack[0];
}

SampleFields::SampleFields(const CorpusAnalyzer& analyzer)
    : analyzer_(&analyzer) {
    const ScoreSet& scores = *analyzer.scores();
    kind_shares_.resize(static_cast<std::size_t>(scores.sample_count()));
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        auto& shares = kind_shares_[static_cast<std::size_t>(n)];
        shares = {};
        std::array<std::int64_t, sensitive_kind_count> counts{};
        for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t)
            for (std::size_t kind = 0; kind < counts.size(); ++kind)
                counts[kind] +=
                    scores.columns().labels[static_cast<std::size_t>(t)] >> (kind + 2) & 1;
        const std::int64_t tokens = scores.token_end(n) - scores.token_begin(n);
        for (std::size_t kind = 0; kind < counts.size() && tokens > 0; ++kind)
            shares[kind] =
                static_cast<float>(static_cast<double>(counts[kind]) / static_cast<double>(tokens));
    }
}

std::span<const std::string_view> SampleFields::names() {
    static constexpr std::array<std::string_view, count> all = {"tokens",
                                                                "mean_confidence",
                                                                "difficulty",
                                                                "weight",
                                                                "min_window_begin",
                                                                "confident_share",
                                                                "cuda_share",
                                                                "supervised_share",
                                                                "mean_mask",
                                                                "kind.memory_access",
                                                                "kind.shared_memory",
                                                                "kind.thread_index",
                                                                "kind.synchronization",
                                                                "kind.launch_config",
                                                                "kind.atomic",
                                                                "kind.warp_intrinsic",
                                                                "kind.memory_management"};
    return all;
}

std::array<double, SampleFields::count> SampleFields::values(std::int64_t n) const {
    const SampleSummary& row = analyzer_->samples()[static_cast<std::size_t>(n)];
    std::array<double, count> all = {
        static_cast<double>(row.tokens),           static_cast<double>(row.mean_confidence),
        static_cast<double>(row.difficulty),       static_cast<double>(row.weight),
        static_cast<double>(row.min_window_begin), static_cast<double>(row.confident_share),
        static_cast<double>(row.cuda_share),       static_cast<double>(row.supervised_share),
        static_cast<double>(row.mean_mask)};
    const auto& shares = kind_shares_[static_cast<std::size_t>(n)];
    std::copy(shares.begin(), shares.end(), all.end() - sensitive_kind_count);
    return all;
}

std::vector<std::int64_t> matching_samples(const SampleFields& fields, const SampleFilter& filter,
                                           std::int64_t samples, const MarksOf& marks) {
    std::vector<std::int64_t> matching;
    for (std::int64_t n = 0; n < samples; ++n)
        if (filter.matches(fields.values(n), marks ? marks(n) : SampleMarks{}))
            matching.push_back(n);
    return matching;
}

} // namespace cuset
