#include "core/analysis/lowest_units.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <tuple>

#include "core/base/csv.h"

namespace cuset {
namespace {

constexpr std::int64_t chunk_samples = 32;
constexpr std::size_t csv_text_bytes = 500;

bool lower(const LowUnit& a, const LowUnit& b, Aggregate how) {
    const auto key = [how](const LowUnit& low) {
        return std::tuple(low.unit.confidence(how), low.sample, low.unit.span.begin,
                          low.unit.first_token, low.unit.labels);
    };
    return key(a) < key(b);
}

// Keeps the `most` lowest of what it is offered: a heap with the highest of them on top.
class LowestKept {
public:
    LowestKept(std::size_t most, Aggregate how)
        : most_(most)
        , how_(how) { }

    void offer(const LowUnit& candidate) {
        const auto order = [this](const LowUnit& a, const LowUnit& b) { return lower(a, b, how_); };
        if (heap_.size() == most_) {
            if (!order(candidate, heap_.front()))
                return;
            std::pop_heap(heap_.begin(), heap_.end(), order);
            heap_.pop_back();
        }
        heap_.push_back(candidate);
        std::push_heap(heap_.begin(), heap_.end(), order);
    }
    std::vector<LowUnit>& units() { return heap_; }

private:
    std::size_t most_;
    Aggregate how_;
    std::vector<LowUnit> heap_;
};

bool is_wanted(const SpanConfidence& unit, const LowestQuery& query) {
    return unit.tokens >= std::max(1, query.least_tokens)
        && (query.labels == 0 || (unit.labels & query.labels) != 0);
}

// look(first sample, one past the last) for parts of the corpus, on the analyzer's threads.
void for_samples(const CorpusAnalyzer& analyzer, RunControl& control,
                 const std::function<void(std::int64_t, std::int64_t)>& look) {
    const std::int64_t samples = analyzer.scores()->sample_count();
    std::atomic<std::int64_t> done{0};
    analyzer.parallel_for()((samples + chunk_samples - 1) / chunk_samples, [&](std::int64_t chunk) {
        control.throw_if_stopped();
        const std::int64_t begin = chunk * chunk_samples;
        const std::int64_t end = std::min(samples, begin + chunk_samples);
        look(begin, end);
        control.checkpoint({"looking for the lowest", done += end - begin, samples, "samples"});
    });
}

std::int32_t line_number(std::string_view text, std::int32_t byte) {
    const auto before = text.substr(0, static_cast<std::size_t>(byte));
    return static_cast<std::int32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
}

std::string decimal(float value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6f", static_cast<double>(value));
    return text.data();
}

} // namespace

std::int32_t default_least_tokens(TextUnit unit) {
    return unit == TextUnit::line || unit == TextUnit::statement ? 3 : 1;
}

std::vector<LowUnit> lowest_units(const CorpusAnalyzer& analyzer, const LowestQuery& query,
                                  RunControl& control) {
    if (query.most == 0)
        return {};
    std::mutex mutex;
    LowestKept kept(query.most, query.how);
    for_samples(analyzer, control, [&](std::int64_t begin, std::int64_t end) {
        LowestKept own(query.most, query.how);
        for (std::int64_t n = begin; n < end; ++n)
            for (const SpanConfidence& unit :
                 unit_confidences(analyzer, n, query.unit, query.window))
                if (is_wanted(unit, query))
                    own.offer({n, 0, unit});
        const std::lock_guard lock(mutex);
        for (const LowUnit& unit : own.units())
            kept.offer(unit);
    });
    std::vector<LowUnit> units = std::move(kept.units());
    std::sort(units.begin(), units.end(),
              [&](const LowUnit& a, const LowUnit& b) { return lower(a, b, query.how); });
    for (LowUnit& unit : units)
        unit.line = line_number(analyzer.scores()->response(unit.sample), unit.unit.span.begin);
    return units;
}

std::vector<SpanConfidence> lowest_of_samples(const CorpusAnalyzer& analyzer,
                                              const LowestQuery& query, RunControl& control) {
    std::vector<SpanConfidence> lowest(static_cast<std::size_t>(analyzer.scores()->sample_count()));
    for_samples(analyzer, control, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) {
            LowestKept kept(1, query.how);
            for (const SpanConfidence& unit :
                 unit_confidences(analyzer, n, query.unit, query.window))
                if (is_wanted(unit, query))
                    kept.offer({n, 0, unit});
            if (!kept.units().empty())
                lowest[static_cast<std::size_t>(n)] = kept.units().front().unit;
        }
    });
    return lowest;
}

std::string_view unit_text(const ScoreSet& scores, const LowUnit& unit, std::size_t most_bytes) {
    const ByteSpan span = unit.unit.span;
    std::string_view text =
        scores.response(unit.sample)
            .substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.size()));
    if (text.size() <= most_bytes)
        return text;
    std::size_t end = most_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    return text.substr(0, end);
}

LabelBits bits_of(SensitiveKind kind) {
    return static_cast<LabelBits>(kind_bit(kind)
                                  | (kind == SensitiveKind::launch_config ? launch_bit : 0));
}

std::vector<std::string_view> label_names(LabelBits labels) {
    std::vector<std::string_view> names;
    if ((labels & kernel_bit) != 0)
        names.push_back("kernel");
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if ((labels & bits_of(static_cast<SensitiveKind>(kind))) != 0)
            names.push_back(sensitive_kind_names[static_cast<std::size_t>(kind)]);
    return names;
}

std::string joined_label_names(LabelBits labels) {
    std::string joined;
    for (const std::string_view name : label_names(labels)) {
        if (!joined.empty())
            joined += ' ';
        joined += name;
    }
    return joined;
}

std::string lowest_units_csv(const ScoreSet& scores, std::span<const LowUnit> units) {
    std::string csv = "id,line,begin,end,tokens,mean_confidence,minimum_confidence,labels,text\r\n";
    for (const LowUnit& low : units) {
        csv += csv_cell(scores.id(low.sample)) + ',' + std::to_string(low.line);
        for (const std::int32_t value : {low.unit.span.begin, low.unit.span.end, low.unit.tokens})
            csv += ',' + std::to_string(value);
        csv += ',' + decimal(low.unit.mean) + ',' + decimal(low.unit.minimum) + ','
            + csv_cell(joined_label_names(low.unit.labels)) + ','
            + csv_cell(unit_text(scores, low, csv_text_bytes)) + "\r\n";
    }
    return csv;
}

} // namespace cuset
