#include "app/cli/analyze_extras.h"

#include <cstdio>

#include "app/cli/lowest_output.h"
#include "core/analysis/sample_filter.h"
#include "core/analysis/sample_statistics.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"

namespace cuset::cli {
namespace {

constexpr std::size_t regions_listed = 20;

Json to_json(const Interval& interval, bool there) {
    return {{"estimate", or_null(there, interval.estimate)},
            {"low", or_null(there, interval.low)},
            {"high", or_null(there, interval.high)}};
}

Json to_json(const KsTest& test, bool there) {
    return {{"statistic", or_null(there, test.statistic)},
            {"p_value", or_null(there, test.p_value)},
            {"log10_p", or_null(there, test.log10_p)}};
}

Json to_json(const EffectSize& effect, bool there) {
    return {{"cohens_d", or_null(there, effect.cohens_d)},
            {"cliffs_delta", or_null(there, effect.cliffs_delta)},
            {"common_language", or_null(there, effect.common_language)}};
}

// Lowest statements by their mean.
Json regions_json(const CorpusAnalyzer& analyzer, RunControl& control) {
    LowestOptions options;
    options.count = regions_listed;
    return lowest_json(*analyzer.scores(), find_lowest(analyzer, options, control));
}

std::string interval_text(const Json& interval) {
    return fixed_or_dash(interval["estimate"]) + " [" + fixed_or_dash(interval["low"]) + ", "
        + fixed_or_dash(interval["high"]) + "]";
}

} // namespace

Json statistics_json(const CorpusAnalyzer& analyzer, const ObjectivePushes& pushes,
                     RunControl& control) {
    const BootstrapOptions options;
    const SampleStatistics statistics = sample_statistics(analyzer, options, control);
    const bool sensitive = statistics.samples_sensitive > 0;
    const bool neutral = statistics.samples_neutral > 0;
    const bool both = sensitive && neutral;
    return {{"bootstrap",
             {{"replicates", options.replicates},
              {"level", options.level},
              {"seed", options.seed},
              {"unit", "sample"}}},
            {"samples", statistics.samples},
            {"samples_sensitive", statistics.samples_sensitive},
            {"samples_neutral", statistics.samples_neutral},
            {"mean_confidence",
             {{"sensitive", to_json(statistics.sensitive, sensitive)},
              {"neutral", to_json(statistics.neutral, neutral)},
              {"difference", to_json(statistics.difference, both)}}},
            {"ks",
             {{"by_token", to_json(statistics.ks_tokens, both)},
              {"by_sample", to_json(statistics.ks_samples, both)}}},
            {"effect",
             {{"by_token", to_json(statistics.by_token, both)},
              {"by_sample", to_json(statistics.by_sample, both)}}},
            {"objectives", to_json(pushes)},
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
        rows.push_back({unit, fixed_or_dash(ks["statistic"]), fixed_or_dash(ks["log10_p"], 1),
                        fixed_or_dash(effect["cohens_d"], 3),
                        fixed_or_dash(effect["cliffs_delta"], 3)});
    }
    print_table({"sensitive against neutral", "KS D", "log10 p", "Cohen's d", "Cliff's delta"},
                rows);
    rows.clear();
    for (const Json& region : statistics["lowest_regions"])
        rows.push_back({region["id"], fixed(region["mean_confidence"]),
                        std::to_string(region["tokens"].get<int>()), region["text"]});
    std::printf("\n");
    print_table({"lowest statements", "mean c", "tokens", "text"}, rows);
}

std::vector<std::int64_t> filtered_samples(const CorpusAnalyzer& analyzer, const SampleNotes& notes,
                                           const std::string& expression) {
    const SampleFilter filter = SampleFilter::parse(expression, SampleFields::names());
    const ScoreSet& scores = *analyzer.scores();
    return matching_samples(SampleFields(analyzer), filter, scores.sample_count(),
                            [&](std::int64_t n) -> SampleMarks {
                                const SampleNote* note = notes.find(scores.id(n));
                                if (!note)
                                    return {};
                                return {note->tags, note->quarantined, !note->text.empty()};
                            });
}

void export_to(const std::string& path, ExportFormat format, const CorpusAnalyzer& analyzer,
               const std::vector<std::int64_t>& samples, const SampleNotes& notes,
               RunControl& control) {
    AtomicFile file(path == "-" ? "/dev/stdout" : path);
    export_samples(
        analyzer, samples, format, notes, [&](std::string_view line) { file.write(line); },
        control);
    file.commit();
}

} // namespace cuset::cli
