#include "app/cli/lowest_output.h"

#include <algorithm>
#include <cstdio>

namespace cuset::cli {
namespace {

constexpr std::size_t text_bytes = 200;

template <std::size_t count>
std::size_t index_of(const std::array<std::string_view, count>& names, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

template <std::size_t count>
std::vector<std::string> strings(const std::array<std::string_view, count>& names) {
    return {names.begin(), names.end()};
}

LabelBits label_bits(std::string_view kind) {
    if (kind.empty())
        return 0;
    if (kind == "kernel")
        return kernel_bit;
    return bits_of(static_cast<SensitiveKind>(index_of(sensitive_kind_names, kind)));
}

Json to_json(const ScoreSet& scores, const LowUnit& low) {
    const std::vector<std::string_view> labels = label_names(low.unit.labels);
    return {{"id", scores.id(low.sample)},
            {"line", low.line},
            {"begin", low.unit.span.begin},
            {"end", low.unit.span.end},
            {"tokens", low.unit.tokens},
            {"mean_confidence", low.unit.mean},
            {"minimum_confidence", low.unit.minimum},
            {"labels", labels},
            {"text", unit_text(scores, low, text_bytes)}};
}

} // namespace

Aggregate LowestOptions::how() const {
    return static_cast<Aggregate>(index_of(aggregate_names, aggregate));
}

void add_lowest_options(CLI::App& command, LowestOptions& options) {
    command
        .add_option("--lowest", options.count,
                    "also the N stretches of lowest confidence in the whole corpus")
        ->check(CLI::Range(1, 1'000'000));
    options.unit_given = command
                             .add_option("--unit", options.unit,
                                         "what --lowest lists; with --per-sample and no --lowest, "
                                         "columns with each sample's lowest one")
                             ->check(CLI::IsMember(strings(text_unit_names)))
                             ->capture_default_str();
    command.add_option("--aggregate", options.aggregate, "confidence of a stretch: of its tokens")
        ->check(CLI::IsMember(strings(aggregate_names)))
        ->capture_default_str();
    std::vector<std::string> kinds = strings(sensitive_kind_names);
    kinds.insert(kinds.begin(), "kernel");
    command.add_option("--kind", options.kind, "--lowest: only where a token is of that kind")
        ->check(CLI::IsMember(kinds));
    command
        .add_option("--least-tokens", options.least_tokens,
                    "--lowest and --per-sample: leave shorter stretches out; 3 for lines and "
                    "statements, else 1")
        ->check(CLI::Range(1, 1 << 24));
}

namespace {

LowestQuery query_of(const LowestOptions& options, std::int32_t window) {
    LowestQuery query;
    query.unit = static_cast<TextUnit>(index_of(text_unit_names, options.unit));
    query.how = options.how();
    query.least_tokens =
        options.least_tokens > 0 ? options.least_tokens : default_least_tokens(query.unit);
    query.window = window;
    query.labels = label_bits(options.kind);
    query.most = options.count;
    return query;
}

} // namespace

std::vector<LowUnit> find_lowest(const CorpusAnalyzer& analyzer, const LowestOptions& options,
                                 RunControl& control) {
    return lowest_units(analyzer, query_of(options, analyzer.summary().settings.window), control);
}

std::vector<SpanConfidence> find_lowest_of_samples(const CorpusAnalyzer& analyzer,
                                                   const LowestOptions& options,
                                                   RunControl& control) {
    if (!options.by_sample())
        return {};
    return lowest_of_samples(analyzer, query_of(options, analyzer.summary().settings.window),
                             control);
}

Json lowest_json(const ScoreSet& scores, std::span<const LowUnit> units) {
    Json list = Json::array();
    for (const LowUnit& low : units)
        list.push_back(to_json(scores, low));
    return list;
}

std::string lowest_json_lines(const ScoreSet& scores, std::span<const LowUnit> units) {
    std::string lines;
    for (const LowUnit& low : units)
        lines += to_json(scores, low).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    return lines;
}

void print_lowest(const ScoreSet& scores, std::span<const LowUnit> units,
                  const LowestOptions& options) {
    std::vector<std::vector<std::string>> rows;
    for (const LowUnit& low : units)
        rows.push_back({scores.id(low.sample) + ":" + std::to_string(low.line),
                        fixed(static_cast<double>(low.unit.mean)),
                        fixed(static_cast<double>(low.unit.minimum)),
                        std::to_string(low.unit.tokens), joined_label_names(low.unit.labels),
                        std::string(unit_text(scores, low, text_bytes))});
    std::printf("\n");
    print_table({"lowest " + options.unit + ", by " + options.aggregate, "mean c", "lowest c",
                 "tokens", "kinds", "text"},
                rows);
}

} // namespace cuset::cli
