#include "core/analysis/aggregation.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <tuple>

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

std::vector<SpanConfidence> aggregate(std::span<const ByteSpan> spans,
                                      std::span<const ByteSpan> token_spans,
                                      std::span<const float> confidence,
                                      std::span<const LabelBits> labels, Aggregate how) {
    assert(token_spans.size() == confidence.size() && labels.size() == confidence.size());
    std::vector<SpanConfidence> result;
    result.reserve(spans.size());
    std::size_t first = 0; // no token before it reaches the current span
    for (const ByteSpan span : spans) {
        SpanConfidence entry;
        entry.span = span;
        double sum = 0;
        float least = 2;
        while (first < token_spans.size() && token_spans[first].end <= span.begin)
            ++first;
        for (std::size_t t = first; t < token_spans.size() && token_spans[t].begin < span.end;
             ++t) {
            if (!token_spans[t].overlaps(span))
                continue;
            if (entry.tokens++ == 0)
                entry.first_token = static_cast<std::int32_t>(t);
            sum += static_cast<double>(confidence[t]);
            least = std::min(least, confidence[t]);
            entry.labels = static_cast<LabelBits>(entry.labels | labels[t]);
        }
        if (entry.tokens > 0)
            entry.confidence =
                how == Aggregate::minimum ? least : static_cast<float>(sum / entry.tokens);
        result.push_back(entry);
    }
    return result;
}

std::vector<SpanConfidence> aggregate_sample(const CorpusAnalyzer& analyzer, std::int64_t n,
                                             TextUnit unit, Aggregate how) {
    const ScoreSet& scores = *analyzer.scores();
    const std::string_view text = scores.response(n);
    const auto begin = static_cast<std::size_t>(scores.token_begin(n));
    const std::size_t tokens = static_cast<std::size_t>(scores.token_end(n)) - begin;
    std::vector<ByteSpan> token_spans(tokens);
    for (std::size_t t = 0; t < tokens; ++t)
        token_spans[t] = scores.span(static_cast<std::int64_t>(begin + t));
    return aggregate(unit == TextUnit::line ? line_spans(text) : statement_spans(text), token_spans,
                     analyzer.confidence().subspan(begin, tokens),
                     scores.columns().labels.subspan(begin, tokens), how);
}

std::vector<LowRegion> lowest_regions(const CorpusAnalyzer& analyzer, TextUnit unit, Aggregate how,
                                      std::int32_t least_tokens, std::size_t most,
                                      RunControl& control) {
    const std::int64_t samples = analyzer.scores()->sample_count();
    const auto lower = [](const LowRegion& a, const LowRegion& b) {
        return std::tuple(a.region.confidence, a.sample, a.region.span.begin)
            < std::tuple(b.region.confidence, b.sample, b.region.span.begin);
    };
    std::vector<LowRegion> heap; // the highest of the kept ones on top
    for (std::int64_t n = 0; n < samples && most > 0; ++n) {
        control.checkpoint({"looking for low regions", n, samples, "samples"});
        for (const SpanConfidence& region : aggregate_sample(analyzer, n, unit, how)) {
            const LowRegion candidate{n, region};
            if (region.tokens < std::max(1, least_tokens))
                continue;
            if (heap.size() == most) {
                if (!lower(candidate, heap.front()))
                    continue;
                std::pop_heap(heap.begin(), heap.end(), lower);
                heap.pop_back();
            }
            heap.push_back(candidate);
            std::push_heap(heap.begin(), heap.end(), lower);
        }
    }
    std::sort_heap(heap.begin(), heap.end(), lower);
    return heap;
}

} // namespace cuset
