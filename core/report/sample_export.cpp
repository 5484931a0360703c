#include "core/report/sample_export.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/analysis/mask.h"

namespace cuset {
namespace {

using Json = nlohmann::ordered_json;

MaskedSample masked_sample(const CorpusAnalyzer& analyzer, std::int64_t n) {
    const ScoreSet& scores = *analyzer.scores();
    const auto begin = static_cast<std::size_t>(scores.token_begin(n));
    const auto count = static_cast<std::size_t>(scores.token_end(n)) - begin;
    return mask_sample(analyzer.confidence().subspan(begin, count),
                       scores.columns().labels.subspan(begin, count), analyzer.summary().settings);
}

Json messages_record(const ScoreSet& scores, std::int64_t n, const MaskedSample& masked) {
    Json messages = Json::array();
    if (!scores.prompt(n).empty())
        messages.push_back({{"role", "user"}, {"content", scores.prompt(n)}});
    messages.push_back({{"role", "assistant"}, {"content", scores.response(n)}});
    Json ids = Json::array(), spans = Json::array(), weights = Json::array();
    for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t) {
        const ByteSpan span = scores.span(t);
        ids.push_back(scores.columns().token_id[static_cast<std::size_t>(t)]);
        spans.push_back({span.begin, span.end});
        weights.push_back(masked.weight
                          * masked.mask[static_cast<std::size_t>(t - scores.token_begin(n))]);
    }
    return {{"id", scores.id(n)},
            {"messages", std::move(messages)},
            {"weight", masked.weight},
            {"difficulty", masked.difficulty},
            {"token_ids", std::move(ids)},
            {"token_spans", std::move(spans)},
            {"token_weights", std::move(weights)}};
}

std::size_t character_end(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] & 0xc0) == 0x80)
        ++at;
    return at;
}

Json segments_record(const ScoreSet& scores, std::int64_t n, const MaskedSample& masked) {
    const std::string_view response = scores.response(n);
    Json segments = Json::array();
    if (!scores.prompt(n).empty())
        segments.push_back({{"label", false}, {"text", scores.prompt(n)}});
    std::size_t begin = 0, end = 0;
    bool label = false;
    const auto close = [&] {
        if (end > begin)
            segments.push_back({{"label", label}, {"text", response.substr(begin, end - begin)}});
        begin = end;
    };
    for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t) {
        const bool seen = masked.mask[static_cast<std::size_t>(t - scores.token_begin(n))] > 0;
        if (seen != label)
            close();
        label = seen;
        const auto to = std::clamp<std::int64_t>(scores.span(t).end, 0,
                                                 static_cast<std::int64_t>(response.size()));
        end = std::max(end, character_end(response, static_cast<std::size_t>(to)));
    }
    close();
    // Text behind the last token was cut off before the model saw it.
    end = response.size();
    label = false;
    close();
    return {{"id", scores.id(n)}, {"segments", std::move(segments)}, {"weight", masked.weight}};
}

Json tokens_record(const ScoreSet& scores, std::int64_t n, const MaskedSample& masked) {
    constexpr std::int32_t ignored = -100; // what cross entropy losses leave out
    Json ids = Json::array(), labels = Json::array(), weights = Json::array();
    for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t) {
        const std::int32_t id = scores.columns().token_id[static_cast<std::size_t>(t)];
        const float weight =
            masked.weight * masked.mask[static_cast<std::size_t>(t - scores.token_begin(n))];
        ids.push_back(id);
        labels.push_back(weight > 0 ? id : ignored);
        weights.push_back(weight);
    }
    return {{"id", scores.id(n)},
            {"input_ids", std::move(ids)},
            {"labels", std::move(labels)},
            {"loss_weights", std::move(weights)}};
}

Json record_of(const CorpusAnalyzer& analyzer, std::int64_t n, ExportFormat format) {
    const ScoreSet& scores = *analyzer.scores();
    switch (format) {
    case ExportFormat::messages:
        return messages_record(scores, n, masked_sample(analyzer, n));
    case ExportFormat::segments:
        return segments_record(scores, n, masked_sample(analyzer, n));
    case ExportFormat::tokens:
        return tokens_record(scores, n, masked_sample(analyzer, n));
    case ExportFormat::data:
        break;
    }
    return {{"id", scores.id(n)}, {"prompt", scores.prompt(n)}, {"response", scores.response(n)}};
}

} // namespace

std::optional<ExportFormat> find_export_format(std::string_view name) {
    const auto found = std::find(export_format_names.begin(), export_format_names.end(), name);
    if (found == export_format_names.end())
        return std::nullopt;
    return static_cast<ExportFormat>(found - export_format_names.begin());
}

void export_samples(const CorpusAnalyzer& analyzer, std::span<const std::int64_t> samples,
                    ExportFormat format, const SampleNotes& notes,
                    const std::function<void(std::string_view)>& write, RunControl& control) {
    std::int64_t done = 0;
    for (const std::int64_t n : samples) {
        control.checkpoint(
            {"exporting", done++, static_cast<std::int64_t>(samples.size()), "samples"});
        Json record = record_of(analyzer, n, format);
        if (const SampleNote* note = notes.find(analyzer.scores()->id(n))) {
            if (!note->tags.empty())
                record["tags"] = note->tags;
            if (!note->text.empty())
                record["note"] = note->text;
        }
        write(record.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
    }
}

} // namespace cuset
