#include "core/analysis/aggregation.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <limits>
#include <string>

#include "core/analysis/window.h"
#include "core/analysis/window_sums.h"
#include "core/base/error.h"

namespace cuset {
namespace {

void require_short(std::string_view text) {
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw Error(ErrorCode::limit, "has more than 2^31 - 1 bytes", "text");
}

ByteSpan to_span(std::size_t begin, std::size_t end) {
    return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
}

bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Cuts C-like text into statements; see statement_spans.
class StatementCutter {
public:
    explicit StatementCutter(std::string_view text)
        : text_(text) { }

    std::vector<ByteSpan> cut() {
        while (at_ < text_.size())
            step();
        finish(text_.size());
        return std::move(spans_);
    }

private:
    static constexpr std::size_t none = std::string_view::npos;

    void step() {
        const char c = text_[at_];
        if (skip_comment())
            return;
        if (c == '\n')
            line_is_empty_ = true;
        if (is_blank(c)) {
            ++at_;
            return;
        }
        if (c == '#' && line_is_empty_) {
            take_directive();
            return;
        }
        line_is_empty_ = false;
        if (begin_ == none)
            begin_ = at_;
        if (c == '"' || (c == '\'' && !in_number()))
            skip_literal(c);
        else
            take_sign(c);
    }

    void take_sign(char c) {
        ++at_;
        if (c == '(' || c == '[') {
            ++depth_;
        } else if (c == ')' || c == ']') {
            depth_ = std::max<std::int64_t>(0, depth_ - 1);
        } else if (c == '{' || c == '}') {
            depth_ = 0; // a lambda's body in an argument, or a bracket that was never closed
            finish(at_);
        } else if (c == ';' && depth_ == 0) {
            finish(at_);
        }
    }

    bool skip_comment() {
        const std::string_view rest = text_.substr(at_);
        if (rest.starts_with("//")) {
            at_ = line_end();
        } else if (rest.starts_with("/*")) {
            const std::size_t end = text_.find("*/", at_ + 2);
            at_ = end == none ? text_.size() : end + 2;
        } else {
            return false;
        }
        return true;
    }

    void skip_literal(char quote) {
        if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R' && skip_raw_string())
            return;
        for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
            if (text_[at_] == '\\')
                ++at_;
        at_ = std::min(at_, text_.size());
        if (at_ < text_.size() && text_[at_] == quote)
            ++at_; // a literal that is not closed ends with its line
    }

    // R"delimiter( ... )delimiter"
    bool skip_raw_string() {
        constexpr std::size_t longest_delimiter = 16;
        const std::size_t length = text_.substr(at_ + 1, longest_delimiter + 1).find('(');
        if (length == none)
            return false;
        const std::string closing = ")" + std::string(text_.substr(at_ + 1, length)) + "\"";
        const std::size_t end = text_.find(closing, at_ + 1 + length);
        at_ = end == none ? text_.size() : end + closing.size();
        return true;
    }

    // The apostrophe of 1'000'000.
    bool in_number() const {
        const auto is_digit = [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        };
        return at_ > 0 && at_ + 1 < text_.size() && is_digit(text_[at_ - 1])
            && is_digit(text_[at_ + 1]);
    }

    // End of the line at at_, with the lines that a backslash joins to it.
    std::size_t line_end() const {
        std::size_t end = text_.find('\n', at_);
        while (end != none && end > at_) {
            const std::size_t last = text_[end - 1] == '\r' && end - 1 > at_ ? end - 2 : end - 1;
            if (text_[last] != '\\')
                break;
            end = text_.find('\n', end + 1);
        }
        return end == none ? text_.size() : end;
    }

    void take_directive() {
        finish(at_);
        begin_ = at_;
        at_ = line_end();
        finish(at_);
    }

    void finish(std::size_t end) {
        if (begin_ == none)
            return;
        while (end > begin_ && is_blank(text_[end - 1]))
            --end;
        spans_.push_back(to_span(begin_, end));
        begin_ = none;
        depth_ = 0;
    }

    std::string_view text_;
    std::vector<ByteSpan> spans_;
    std::size_t at_ = 0;
    std::size_t begin_ = none; // of the open statement
    std::int64_t depth_ = 0; // open parentheses and brackets
    bool line_is_empty_ = true;
};

// Tokens of one stretch, one after another.
struct TokenRun {
    double sum = 0;
    float least = 2; // above any confidence
    std::int32_t tokens = 0;
    std::int32_t first = -1;
    LabelBits labels = 0;

    void add(const TokenColumns& columns, std::size_t t) {
        if (tokens++ == 0)
            first = static_cast<std::int32_t>(t);
        sum += static_cast<double>(columns.confidence[t]);
        least = std::min(least, columns.confidence[t]);
        labels = static_cast<LabelBits>(labels | columns.labels[t]);
    }
    SpanConfidence entry(ByteSpan span) const {
        if (tokens == 0)
            return {.span = span};
        return {span, static_cast<float>(sum / tokens), least, tokens, first, labels};
    }
};

// Tokens [begin, end), begin < end.
SpanConfidence run_of(const TokenColumns& tokens, std::size_t begin, std::size_t end) {
    TokenRun run;
    for (std::size_t t = begin; t < end; ++t)
        run.add(tokens, t);
    return run.entry({tokens.spans[begin].begin, tokens.spans[end - 1].end});
}

std::vector<SpanConfidence> runs_of_one(const TokenColumns& tokens) {
    std::vector<SpanConfidence> result;
    result.reserve(tokens.spans.size());
    for (std::size_t t = 0; t < tokens.spans.size(); ++t)
        result.push_back(run_of(tokens, t, t + 1));
    return result;
}

// Windows that are the lowest of all that overlap them. A window is compared with those that begin
// up to length - 1 tokens before and after it: the smallest of each such stretch of begins is kept
// at the front of a queue.
std::vector<SpanConfidence> lowest_windows(const TokenColumns& tokens, std::int32_t window) {
    assert(window >= 1);
    std::vector<SpanConfidence> result;
    const std::size_t count = tokens.confidence.size();
    if (count == 0)
        return result;
    const std::size_t length = std::min(static_cast<std::size_t>(window), count);
    std::vector<double> sums(count + 1);
    prefix_sums(tokens.confidence, sums);
    const std::size_t windows = count - length + 1;
    const auto sum_at = [&](std::size_t begin) { return sums[begin + length] - sums[begin]; };
    std::deque<std::size_t> queue; // begins; their sums rise
    std::size_t next = 0; // the first begin that is not in the queue yet
    for (std::size_t begin = 0; begin < windows; ++begin) {
        for (; next < std::min(windows, begin + length); ++next) {
            while (!queue.empty() && sum_at(queue.back()) > sum_at(next))
                queue.pop_back();
            queue.push_back(next);
        }
        while (queue.front() + length <= begin)
            queue.pop_front();
        if (queue.front() == begin)
            result.push_back(run_of(tokens, begin, begin + length));
    }
    return result;
}

// The launch bit and the kind of launch configurations mark the same thing.
constexpr LabelBits launch_bits = launch_bit | kind_bit(SensitiveKind::launch_config);

// Longest runs of tokens with one of the bits in common.
void add_label_runs(const TokenColumns& tokens, LabelBits bits,
                    std::vector<SpanConfidence>& result) {
    for (std::size_t t = 0; t < tokens.labels.size();) {
        std::size_t end = t;
        while (end < tokens.labels.size() && (tokens.labels[end] & bits) != 0)
            ++end;
        if (end > t) {
            SpanConfidence run = run_of(tokens, t, end);
            run.labels = static_cast<LabelBits>(run.labels & bits);
            result.push_back(run);
        }
        t = end + 1;
    }
}

std::vector<SpanConfidence> label_runs(const TokenColumns& tokens) {
    std::vector<SpanConfidence> result;
    add_label_runs(tokens, kernel_bit, result);
    add_label_runs(tokens, launch_bits, result);
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (static_cast<SensitiveKind>(kind) != SensitiveKind::launch_config)
            add_label_runs(tokens, kind_bit(static_cast<SensitiveKind>(kind)), result);
    std::stable_sort(result.begin(), result.end(),
                     [](const SpanConfidence& a, const SpanConfidence& b) {
                         return a.first_token < b.first_token;
                     });
    return result;
}

// For each line the lowest window around one of its tokens. `lines` are the lines' own entries.
std::vector<SpanConfidence> windows_of_lines(std::vector<SpanConfidence> lines,
                                             const TokenColumns& tokens,
                                             const MaskSettings& settings) {
    const auto count = static_cast<std::int32_t>(tokens.confidence.size());
    std::vector<float> means(tokens.confidence.size());
    window_means(tokens.confidence, settings.window, settings.whole_if_short, means);
    for (SpanConfidence& line : lines) {
        if (line.tokens == 0)
            continue;
        const auto first = means.begin() + line.first_token;
        const auto lowest = std::min_element(first, first + line.tokens);
        const WindowRange range = window_at(static_cast<std::int32_t>(lowest - means.begin()),
                                            count, settings.window, settings.whole_if_short);
        line = run_of(tokens, static_cast<std::size_t>(range.begin),
                      static_cast<std::size_t>(range.end));
        line.mean = *lowest;
    }
    return lines;
}

} // namespace

std::vector<ByteSpan> line_spans(std::string_view text) {
    require_short(text);
    std::vector<ByteSpan> lines;
    std::size_t begin = 0;
    while (begin < text.size() || lines.empty()) {
        const std::size_t found = text.find('\n', begin);
        const std::size_t next = found == std::string_view::npos ? text.size() : found + 1;
        std::size_t end = found == std::string_view::npos ? text.size() : found;
        if (found != std::string_view::npos && end > begin && text[end - 1] == '\r')
            --end;
        lines.push_back(to_span(begin, end));
        begin = next;
    }
    return lines;
}

std::vector<ByteSpan> statement_spans(std::string_view text) {
    require_short(text);
    return StatementCutter(text).cut();
}

std::vector<SpanConfidence> aggregate(std::span<const ByteSpan> spans, const TokenColumns& tokens) {
    assert(tokens.spans.size() == tokens.confidence.size()
           && tokens.labels.size() == tokens.confidence.size());
    std::vector<SpanConfidence> result;
    result.reserve(spans.size());
    std::size_t first = 0; // no token before it reaches the current span
    for (const ByteSpan span : spans) {
        while (first < tokens.spans.size() && tokens.spans[first].end <= span.begin)
            ++first;
        TokenRun run;
        for (std::size_t t = first; t < tokens.spans.size() && tokens.spans[t].begin < span.end;
             ++t)
            if (tokens.spans[t].overlaps(span))
                run.add(tokens, t);
        result.push_back(run.entry(span));
    }
    return result;
}

std::vector<SpanConfidence> unit_confidences(std::string_view text, const TokenColumns& tokens,
                                             TextUnit unit, std::int32_t window) {
    switch (unit) {
    case TextUnit::token:
        return runs_of_one(tokens);
    case TextUnit::line:
        return aggregate(line_spans(text), tokens);
    case TextUnit::statement:
        return aggregate(statement_spans(text), tokens);
    case TextUnit::window:
        return lowest_windows(tokens, window);
    case TextUnit::region:
        break;
    }
    return label_runs(tokens);
}

std::vector<SpanConfidence> unit_confidences(const CorpusAnalyzer& analyzer, std::int64_t n,
                                             TextUnit unit, std::int32_t window) {
    const ScoreSet& scores = *analyzer.scores();
    const auto begin = static_cast<std::size_t>(scores.token_begin(n));
    const std::size_t count = static_cast<std::size_t>(scores.token_end(n)) - begin;
    std::vector<ByteSpan> spans(count);
    for (std::size_t t = 0; t < count; ++t)
        spans[t] = scores.span(static_cast<std::int64_t>(begin + t));
    return unit_confidences(scores.response(n),
                            {spans, analyzer.confidence().subspan(begin, count),
                             scores.columns().labels.subspan(begin, count)},
                            unit, window);
}

std::vector<SpanConfidence> line_confidences(std::string_view text, const TokenColumns& tokens,
                                             TextUnit unit, Aggregate how,
                                             const MaskSettings& settings) {
    const std::vector<ByteSpan> lines = line_spans(text);
    if (unit == TextUnit::window)
        return windows_of_lines(aggregate(lines, tokens), tokens, settings);
    std::vector<SpanConfidence> lowest(lines.size());
    for (const SpanConfidence& entry : unit_confidences(text, tokens, unit, settings.window)) {
        if (entry.tokens == 0)
            continue;
        auto line = std::ranges::upper_bound(lines, entry.span.begin, {}, &ByteSpan::end);
        for (; line != lines.end() && line->begin < entry.span.end; ++line) {
            SpanConfidence& kept = lowest[static_cast<std::size_t>(line - lines.begin())];
            if (line->overlaps(entry.span)
                && (kept.tokens == 0 || entry.confidence(how) < kept.confidence(how)))
                kept = entry;
        }
    }
    return lowest;
}

} // namespace cuset
