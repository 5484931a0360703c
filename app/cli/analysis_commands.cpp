// cuset analyze: figures of score files; no model is needed.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/analyze_extras.h"
#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/format.h"
#include "app/cli/lowest_output.h"
#include "app/cli/objective_tables.h"
#include "app/cli/progress.h"
#include "app/cli/scored_data.h"
#include "core/analysis/corpus_summary.h"
#include "core/analysis/mask.h"
#include "core/analysis/worker_pool.h"
#include "core/base/csv.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/report/sample_export.h"

namespace cuset::cli {
namespace {

struct AnalyzeCommand {
    ScoredDataOptions data;
    std::string output;
    MaskSettings settings;
    std::int32_t low_window = 64;
    std::string filter;
    std::string export_path;
    std::string export_format = "messages";
    LowestOptions lowest;
    bool per_sample = false;
    bool statistics = false;
    bool objectives = false;
    std::string token_weights; // id of a sample
    bool json = false;
};

// What --per-sample writes beside the columns that are always there.
struct SampleColumns {
    ObjectivePushes pushes;
    std::string lowest_name; // "" if there is none
    std::vector<SpanConfidence> lowest; // [N]
    Aggregate how = Aggregate::mean;
};

std::string per_sample_csv(const CorpusAnalyzer& analyzer, const std::vector<std::int64_t>& samples,
                           const SampleColumns& columns) {
    std::string out = "id,tokens,mean_confidence,difficulty,weight,min_window_begin,confident_"
                      "share,cuda_share";
    for (const ObjectivePush& push : columns.pushes)
        out += ",push_" + name_of(push.objective) + ",push_sensitive_" + name_of(push.objective);
    if (!columns.lowest_name.empty())
        out += ',' + columns.lowest_name + ",lowest_begin,lowest_end";
    out += "\r\n";
    for (const std::int64_t n : samples) {
        const SampleSummary& row = analyzer.samples()[static_cast<std::size_t>(n)];
        out += csv_cell(analyzer.scores()->id(n)) + ',' + std::to_string(row.tokens);
        for (const double value : {row.mean_confidence, row.difficulty, row.weight})
            out += ',' + fixed(value, 6);
        out += ',' + std::to_string(row.min_window_begin);
        for (const double value : {row.confident_share, row.cuda_share})
            out += ',' + fixed(value, 6);
        for (const ObjectivePush& push : columns.pushes) {
            const PushTotals& own = push.samples[static_cast<std::size_t>(n)];
            out += ',' + fixed(own.total, 6) + ',' + fixed(own.sensitive, 6);
        }
        if (!columns.lowest_name.empty()) {
            const SpanConfidence& low = columns.lowest[static_cast<std::size_t>(n)];
            out += low.tokens == 0 ? ",,,"
                                   : ',' + fixed(low.confidence(columns.how), 6) + ','
                    + std::to_string(low.span.begin) + ',' + std::to_string(low.span.end);
        }
        out += "\r\n";
    }
    return out;
}

std::string per_sample_json_lines(const CorpusAnalyzer& analyzer,
                                  const std::vector<std::int64_t>& samples,
                                  const SampleColumns& columns) {
    std::string out;
    for (const std::int64_t n : samples) {
        const SampleSummary& row = analyzer.samples()[static_cast<std::size_t>(n)];
        Json line{{"id", analyzer.scores()->id(n)},
                  {"tokens", row.tokens},
                  {"mean_confidence", row.mean_confidence},
                  {"difficulty", row.difficulty},
                  {"weight", row.weight},
                  {"min_window_begin", row.min_window_begin},
                  {"confident_share", row.confident_share},
                  {"cuda_share", row.cuda_share}};
        for (const ObjectivePush& push : columns.pushes) {
            const PushTotals& own = push.samples[static_cast<std::size_t>(n)];
            line["push_" + name_of(push.objective)] = own.total;
            line["push_sensitive_" + name_of(push.objective)] = own.sensitive;
        }
        if (!columns.lowest_name.empty()) {
            const SpanConfidence& low = columns.lowest[static_cast<std::size_t>(n)];
            const bool any = low.tokens > 0;
            line[columns.lowest_name] = any ? Json(low.confidence(columns.how)) : Json();
            line["lowest_begin"] = any ? Json(low.span.begin) : Json();
            line["lowest_end"] = any ? Json(low.span.end) : Json();
        }
        out += line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    }
    return out;
}

// Before any work is done.
void require_table_name(const std::string& output) {
    if (!output.empty() && !output.ends_with(".jsonl") && !output.ends_with(".csv")
        && output != "-")
        throw Error(ErrorCode::usage, "must end in .csv or .jsonl", "-o " + output);
}

void write_table(const std::string& output, const std::string& text) {
    if (output == "-")
        std::fwrite(text.data(), 1, text.size(), stdout);
    else
        write_file_atomically(output, text);
}

// From the JSON, so that what is not there is the same in both.
void print_summary(const CorpusSummary& summary) {
    const Json json = to_json(summary);
    std::printf("%s samples, %s response tokens; tau %g, lambda %g, window %d\n\n",
                format_count(summary.samples).c_str(), format_count(summary.tokens).c_str(),
                summary.settings.tau, summary.settings.lambda, summary.settings.window);
    const auto row = [](std::string_view name, const Json& m) {
        return std::vector<std::string>{std::string(name), format_count(m["count"]),
                                        fixed_or_dash(m["mean"]), fixed_or_dash(m["std"])};
    };
    const Json& confidence = json["confidence"];
    std::vector<std::vector<std::string>> rows{row("CUDA-sensitive", confidence["sensitive"]),
                                               row("neutral", confidence["neutral"]),
                                               row("all", confidence["all"])};
    for (const auto& [name, kind] : confidence["by_kind"].items())
        rows.push_back(row("  " + name, kind));
    print_table({"confidence", "tokens", "mean", "std"}, rows);
    std::printf("\nKS sensitive against neutral: statistic %s, log10 p %s\n",
                fixed_or_dash(json["ks"]["statistic"]).c_str(),
                fixed_or_dash(json["ks"]["log10_p"], 1).c_str());
    const Json& mask = json["mask"];
    std::printf("mask: %s confident, %s in CUDA regions, %s supervised, mean M %s\n",
                percent_or_dash(mask["confident_share"]).c_str(),
                percent_or_dash(mask["cuda_share"]).c_str(),
                percent_or_dash(mask["supervised_share"]).c_str(),
                fixed_or_dash(mask["mean_mask"], 3).c_str());
    const auto range = [&](const char* name) {
        const Json& values = json[name];
        return fixed_or_dash(values["mean"]) + " (" + fixed_or_dash(values["min"]) + " to "
            + fixed_or_dash(values["max"]) + ")";
    };
    std::printf("difficulty C: mean %s; weight w: mean %s\n", range("difficulty").c_str(),
                range("weight").c_str());
    const Json& low = json["low_confidence"];
    std::printf(
        "low-confidence windows of %d tokens: in %s of samples, %s of windows; %s of them touch "
        "sensitive code\n",
        summary.low_confidence.window, percent_or_dash(low["samples_share"]).c_str(),
        percent_or_dash(low["windows_share"]).c_str(),
        percent_or_dash(low["sensitive_share"]).c_str());
}

void require_usable(const AnalyzeCommand& options) {
    if (options.per_sample && options.output.empty())
        throw Error(ErrorCode::usage, "needs -o FILE.csv or -o FILE.jsonl (or -o - for CSV)",
                    "--per-sample");
    if (!options.filter.empty() && !options.per_sample && options.export_path.empty())
        throw Error(ErrorCode::usage, "needs --per-sample or --export, whose samples it chooses",
                    "--filter");
    if (options.per_sample && options.lowest.count > 0 && !options.json)
        throw Error(ErrorCode::usage, "and --per-sample both fill -o; ask for one at a time",
                    "--lowest");
    if (options.per_sample || options.lowest.count > 0)
        require_table_name(options.output);
    for (const std::string& output : {options.output, options.export_path}) {
        refuse_overwriting(output, {options.data.scores, options.data.labels, options.data.notes});
        require_writable(output);
    }
}

void print_analysis(const AnalyzeCommand& options, const CorpusAnalyzer& analyzer,
                    const Json& statistics, const ObjectivePushes& pushes,
                    const std::vector<LowUnit>& lowest) {
    if (options.json) {
        Json summary = to_json(analyzer.summary());
        if (options.statistics)
            summary["statistics"] = statistics;
        if (options.objectives)
            summary["objectives"] = to_json(pushes);
        if (options.lowest.count > 0)
            summary["lowest"] = lowest_json(*analyzer.scores(), lowest);
        print_json(summary);
        return;
    }
    print_summary(analyzer.summary());
    if (options.statistics)
        print_statistics(statistics);
    if (!pushes.empty())
        print_objectives(pushes);
    if (options.lowest.count > 0 && options.output.empty())
        print_lowest(*analyzer.scores(), lowest, options.lowest);
}

void run_analyze(const AnalyzeCommand& options) {
    require_usable(options);
    CommandRun run;
    const ScoredData data = read_scored_data(options.data);
    WorkerPool pool(0);
    CorpusAnalyzer analyzer(data.scores, run.control(), pool.parallel_for());
    analyzer.set_low_confidence_window(options.low_window);
    analyzer.update(options.settings);
    if (!options.token_weights.empty()) {
        run.finish();
        return print_token_weights(analyzer, options.token_weights, options.json);
    }
    const std::vector<std::int64_t> samples =
        filtered_samples(analyzer, data.notes, options.filter);
    const ObjectivePushes pushes = options.objectives || options.statistics
        ? objective_pushes(analyzer, run.control())
        : ObjectivePushes();
    const Json statistics =
        options.statistics ? statistics_json(analyzer, pushes, run.control()) : Json();
    const std::vector<LowUnit> lowest = find_lowest(analyzer, options.lowest, run.control());
    SampleColumns columns;
    if (options.per_sample && options.objectives)
        columns.pushes = pushes;
    if (options.per_sample && options.lowest.by_sample()) {
        columns.lowest_name = options.lowest.column();
        columns.lowest = find_lowest_of_samples(analyzer, options.lowest, run.control());
        columns.how = options.lowest.how();
    }
    run.finish();
    const bool lines = options.output.ends_with(".jsonl");
    if (options.per_sample) {
        write_table(options.output,
                    lines ? per_sample_json_lines(analyzer, samples, columns)
                          : per_sample_csv(analyzer, samples, columns));
    } else if (options.lowest.count > 0 && !options.output.empty()) {
        write_table(options.output,
                    lines ? lowest_json_lines(*analyzer.scores(), lowest)
                          : lowest_units_csv(*analyzer.scores(), lowest));
    }
    if (!options.export_path.empty())
        export_to(options.export_path, *find_export_format(options.export_format), analyzer,
                  samples, data.notes, run.control());
    if (options.json || (options.output != "-" && options.export_path != "-"))
        print_analysis(options, analyzer, statistics, pushes, lowest);
}

} // namespace

void add_analysis_commands(CLI::App& program) {
    auto analyze = std::make_shared<AnalyzeCommand>();
    CLI::App* command =
        program.add_subcommand("analyze", "statistics, masks and difficulty at given thresholds");
    add_scored_data_options(*command, analyze->data);
    add_mask_options(*command, analyze->settings);
    command
        ->add_option("--low-window", analyze->low_window,
                     "tokens of a window in the low-confidence shares")
        ->check(CLI::Range(1, 1 << 24))
        ->capture_default_str();
    command->add_flag("--per-sample", analyze->per_sample, "write a line for each sample to -o");
    command->add_option("-o,--output", analyze->output,
                        "FILE.csv or FILE.jsonl for --per-sample or --lowest");
    add_lowest_options(*command, analyze->lowest);
    command->add_flag("--statistics", analyze->statistics,
                      "also bootstrap intervals by sample, effect sizes, push, lowest regions");
    command->add_flag("--objectives", analyze->objectives,
                      "also each objective's push, by kind; with --per-sample by sample");
    command->add_option("--token-weights", analyze->token_weights,
                        "print only this sample's token weights under each objective, as CSV");
    command->add_option("--filter", analyze->filter,
                        "samples for --per-sample and --export, e.g. \"difficulty < 0.3 and "
                        "kind.shared_memory > 1%\", \"not quarantined\", 'tag = \"race\"'");
    command->add_option("--export", analyze->export_path,
                        "write the chosen samples as JSON Lines, with their weights");
    command
        ->add_option("--export-format", analyze->export_format,
                     "messages (with token weights), segments (axolotl), tokens (ids, labels and "
                     "loss weights) or data (prompt and response alone)")
        ->check(CLI::IsMember(
            std::vector<std::string>(export_format_names.begin(), export_format_names.end())))
        ->capture_default_str();
    command->add_flag("--json", analyze->json, "print JSON");
    command->callback([analyze] { run_analyze(*analyze); });
}

} // namespace cuset::cli
