#include "app/cli/analyze_extras.h"

#include <algorithm>
#include <cstdio>

#include "core/analysis/aggregation.h"
#include "core/analysis/objective_weights.h"
#include "core/analysis/sample_filter.h"
#include "core/analysis/sample_statistics.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/report/sample_export.h"

namespace cuset::cli {
namespace {

constexpr std::int32_t least_region_tokens = 3;
constexpr std::size_t regions_listed = 20;

Json to_json(const Interval& interval) {
    return {{"estimate", interval.estimate}, {"low", interval.low}, {"high", interval.high}};
}

Json to_json(const KsTest& test) {
    return {{"statistic", test.statistic}, {"p_value", test.p_value}, {"log10_p", test.log10_p}};
}

Json to_json(const EffectSize& effect) {
    return {{"cohens_d", effect.cohens_d},
            {"cliffs_delta", effect.cliffs_delta},
            {"common_language", effect.common_language}};
}

Json objectives_json(const CorpusAnalyzer& analyzer, RunControl& control) {
    Json objectives = Json::object();
    for (int i = 0; i < token_objective_count; ++i) {
        const PushTotals push =
            objective_push(analyzer, static_cast<TokenObjective>(i), {}, control).corpus;
        Json by_kind = Json::object();
        for (std::size_t k = 0; k < sensitive_kind_names.size(); ++k)
            by_kind[std::string(sensitive_kind_names[k])] = push.by_kind[k];
        objectives[std::string(token_objective_names[static_cast<std::size_t>(i)])] = {
            {"push", push.total},
            {"push_sensitive", push.sensitive},
            {"sensitive_share", push.sensitive_share()},
            {"push_by_kind", std::move(by_kind)}};
    }
    return objectives;
}

Json regions_json(const CorpusAnalyzer& analyzer, RunControl& control) {
    Json regions = Json::array();
    for (const LowRegion& low : lowest_regions(analyzer, TextUnit::statement, Aggregate::mean,
                                               least_region_tokens, regions_listed, control)) {
        const ByteSpan span = low.region.span;
        const std::string_view text = analyzer.scores()->response(low.sample);
        regions.push_back(
            {{"id", analyzer.scores()->id(low.sample)},
             {"begin", span.begin},
             {"end", span.end},
             {"tokens", low.region.tokens},
             {"mean_confidence", low.region.confidence},
             {"text",
              text.substr(static_cast<std::size_t>(span.begin),
                          std::min<std::size_t>(200, static_cast<std::size_t>(span.size())))}});
    }
    return regions;
}

std::string interval_text(const Json& interval) {
    return fixed(interval["estimate"]) + " [" + fixed(interval["low"]) + ", "
        + fixed(interval["high"]) + "]";
}

} // namespace

Json statistics_json(const CorpusAnalyzer& analyzer, RunControl& control) {
    const BootstrapOptions options;
    const SampleStatistics statistics = sample_statistics(analyzer, options, control);
    return {{"bootstrap",
             {{"replicates", options.replicates},
              {"level", options.level},
              {"seed", options.seed},
              {"unit", "sample"}}},
            {"samples", statistics.samples},
            {"samples_sensitive", statistics.samples_sensitive},
            {"samples_neutral", statistics.samples_neutral},
            {"mean_confidence",
             {{"sensitive", to_json(statistics.sensitive)},
              {"neutral", to_json(statistics.neutral)},
              {"difference", to_json(statistics.difference)}}},
            {"ks",
             {{"by_token", to_json(statistics.ks_tokens)},
              {"by_sample", to_json(statistics.ks_samples)}}},
            {"effect",
             {{"by_token", to_json(statistics.by_token)},
              {"by_sample", to_json(statistics.by_sample)}}},
            {"objectives", objectives_json(analyzer, control)},
            {"lowest_regions", regions_json(analyzer, control)}};
}

void print_statistics(const Json& statistics) {
    const Json& mean = statistics["mean_confidence"];
    std::printf("\nmean confidence, 95 %% interval bootstrapped by sample (%s samples):\n",
                format_count(statistics["samples"]).c_str());
    print_table({"tokens", "mean [low, high]"},
                {{"CUDA-sensitive", interval_text(mean["sensitive"])},
                 {"neutral", interval_text(mean["neutral"])},
                 {"difference", interval_text(mean["difference"])}});
    std::printf("\n");
    std::vector<std::vector<std::string>> rows;
    for (const char* unit : {"by_token", "by_sample"}) {
        const Json &ks = statistics["ks"][unit], &effect = statistics["effect"][unit];
        rows.push_back({unit, fixed(ks["statistic"]), fixed(ks["log10_p"], 1),
                        fixed(effect["cohens_d"], 3), fixed(effect["cliffs_delta"], 3)});
    }
    print_table({"sensitive against neutral", "KS D", "log10 p", "Cohen's d", "Cliff's delta"},
                rows);
    rows.clear();
    for (const auto& [name, push] : statistics["objectives"].items())
        rows.push_back({name, fixed(push["push"], 1), fixed(push["push_sensitive"], 1),
                        percent(push["sensitive_share"])});
    std::printf("\n");
    print_table({"push of one step", "total", "on sensitive", "share"}, rows);
    rows.clear();
    for (const auto& [name, push] : statistics["objectives"]["cuset"]["push_by_kind"].items())
        rows.push_back({name, fixed(push, 1)});
    std::printf("\n");
    print_table({"cuset's push by kind", "push"}, rows);
    rows.clear();
    for (const Json& region : statistics["lowest_regions"])
        rows.push_back({region["id"], fixed(region["mean_confidence"]),
                        std::to_string(region["tokens"].get<int>()), region["text"]});
    std::printf("\n");
    print_table({"lowest statements", "mean c", "tokens", "text"}, rows);
}

std::vector<std::int64_t> filtered_samples(const CorpusAnalyzer& analyzer,
                                           const std::string& expression) {
    const SampleFilter filter = SampleFilter::parse(expression, SampleFields::names());
    return matching_samples(SampleFields(analyzer), filter, analyzer.scores()->sample_count());
}

void export_to(const std::string& path, const std::string& format, const CorpusAnalyzer& analyzer,
               const std::vector<std::int64_t>& samples, RunControl& control) {
    const ExportFormat form =
        format == "segments" ? ExportFormat::segments : ExportFormat::messages;
    AtomicFile file(path == "-" ? "/dev/stdout" : path);
    export_samples(
        analyzer, samples, form, [&](std::string_view line) { file.write(line); }, control);
    file.commit();
}

} // namespace cuset::cli
