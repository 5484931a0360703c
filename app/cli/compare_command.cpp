// cuset compare: two score files of the same data, B against A; or the data map of several.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/format.h"
#include "app/cli/progress.h"
#include "core/analysis/comparison.h"
#include "core/analysis/data_map.h"
#include "core/base/csv.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/train/run_folder.h"
#include "core/train/run_scores.h"

namespace cuset::cli {
namespace {

struct CompareCommand {
    std::vector<std::string> scores;
    std::string labels;
    std::string output;
    std::int64_t samples = 10;
    bool data_map = false;
    bool json = false;
};

Json to_json(const MeanChange& change) {
    return {{"count", change.count},
            {"log_prob", change.log_prob},
            {"confidence", change.confidence},
            {"confidence_before", change.confidence_before},
            {"confidence_after", change.confidence_after}};
}

Json to_json(const std::vector<LeftOutSample>& samples) {
    Json list = Json::array();
    for (const LeftOutSample& sample : samples)
        list.push_back({{"id", sample.id}, {"reason", sample.reason}});
    return list;
}

Json to_json(const Comparison& comparison) {
    Json by_kind = Json::object();
    for (std::size_t k = 0; k < sensitive_kind_names.size(); ++k)
        by_kind[std::string(sensitive_kind_names[k])] = to_json(comparison.by_kind[k]);
    Json samples = Json::array();
    for (const SampleChange& sample : comparison.samples) {
        Json entry = to_json(sample.change);
        entry["id"] = sample.id;
        samples.push_back(std::move(entry));
    }
    return {{"all", to_json(comparison.all)},         {"sensitive", to_json(comparison.sensitive)},
            {"neutral", to_json(comparison.neutral)}, {"by_kind", std::move(by_kind)},
            {"samples", std::move(samples)},          {"only_in_a", comparison.only_in_a},
            {"only_in_b", comparison.only_in_b},      {"left_out", to_json(comparison.left_out)},
            {"warnings", comparison.warnings}};
}

std::string samples_csv(const Comparison& comparison) {
    std::string out =
        "id,tokens,confidence_before,confidence_after,confidence_change,log_prob_change\r\n";
    for (const SampleChange& sample : comparison.samples) {
        const MeanChange& change = sample.change;
        out += csv_cell(sample.id) + ',' + std::to_string(change.count);
        for (const double value : {change.confidence_before, change.confidence_after,
                                   change.confidence, change.log_prob})
            out += ',' + fixed(value, 6);
        out += "\r\n";
    }
    return out;
}

Json to_json(const DataMap& map, const std::vector<std::string>& files) {
    Json samples = Json::array();
    for (const DataMapPoint& point : map.samples)
        samples.push_back({{"id", point.id},
                           {"tokens", point.tokens},
                           {"confidence", point.confidence},
                           {"variability", point.variability},
                           {"correctness", point.correctness},
                           {"by_checkpoint", point.by_checkpoint}});
    return {{"checkpoints", files},
            {"samples", std::move(samples)},
            {"left_out", to_json(map.left_out)},
            {"warnings", map.warnings}};
}

std::string data_map_csv(const DataMap& map) {
    std::string out = "id,tokens,confidence,variability,correctness\r\n";
    for (const DataMapPoint& point : map.samples) {
        out += csv_cell(point.id) + ',' + std::to_string(point.tokens);
        for (const double value : {point.confidence, point.variability, point.correctness})
            out += ',' + fixed(value, 6);
        out += "\r\n";
    }
    return out;
}

void warn(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings)
        std::fprintf(stderr, "warning: %s\n", printable(warning, 1000).c_str());
}

// Samples of one file only: how many, and the first of them by name.
void tell_missing(const char* file, const std::vector<std::string>& ids) {
    static constexpr std::size_t named = 5;
    if (ids.empty())
        return;
    std::string text;
    for (std::size_t i = 0; i < std::min(named, ids.size()); ++i)
        text += (i ? ", " : "") + printable(ids[i], 60);
    std::fprintf(stderr, "warning: %zu samples are in %s alone and left out: %s%s\n", ids.size(),
                 file, text.c_str(), ids.size() > named ? ", ..." : "");
}

void write_table(const std::string& output, const std::string& csv) {
    if (output == "-")
        std::fwrite(csv.data(), 1, csv.size(), stdout);
    else
        write_file_atomically(output, csv);
}

void print_comparison(const Comparison& comparison, std::int64_t most) {
    const auto row = [](std::string_view name, const MeanChange& change) {
        return std::vector<std::string>{std::string(name),
                                        format_count(change.count),
                                        fixed(change.log_prob),
                                        fixed(change.confidence_before),
                                        fixed(change.confidence_after),
                                        fixed(change.confidence)};
    };
    const auto header = [](const char* title) {
        return std::vector<std::string>{title, "tokens", "ln p", "c before", "c after", "change"};
    };
    std::vector<std::vector<std::string>> rows{row("all", comparison.all),
                                               row("CUDA-sensitive", comparison.sensitive),
                                               row("neutral", comparison.neutral)};
    for (std::size_t k = 0; k < sensitive_kind_names.size(); ++k)
        rows.push_back(row("  " + std::string(sensitive_kind_names[k]), comparison.by_kind[k]));
    print_table(header("mean change"), rows);

    const auto count = static_cast<std::int64_t>(comparison.samples.size());
    const std::int64_t shown = std::min(most, count);
    const auto list = [&](const char* title, std::int64_t begin, std::int64_t end) {
        std::vector<std::vector<std::string>> lines;
        for (std::int64_t n = begin; n < end; ++n) {
            const SampleChange& sample = comparison.samples[static_cast<std::size_t>(n)];
            lines.push_back(row(sample.id, sample.change));
        }
        std::printf("\n");
        print_table(header(title), lines);
    };
    list("most improved", 0, shown);
    list("most hurt", count - shown, count);
}

void compare_two(const CompareCommand& options) {
    const auto a = read_corrected(options.scores[0], options.labels);
    const Comparison comparison = compare_scores(*a, *read_scores(options.scores[1]));
    warn(comparison.warnings);
    tell_missing("A", comparison.only_in_a);
    tell_missing("B", comparison.only_in_b);
    if (!options.output.empty())
        write_table(options.output, samples_csv(comparison));
    if (options.json)
        print_json(to_json(comparison));
    else if (options.output != "-")
        print_comparison(comparison, options.samples);
}

// Score files as they were named; a run's folder stands for those that are kept in it.
std::vector<std::string> expand_runs(const std::vector<std::string>& named) {
    std::vector<std::string> files;
    for (const std::string& name : named) {
        if (name == "-" || !is_run_folder(name)) {
            files.push_back(name);
            continue;
        }
        const auto kept = run_score_files(name);
        if (kept.empty())
            throw Error(ErrorCode::not_found,
                        "holds no scores yet; make them with cuset score MODEL DATA --run " + name,
                        name);
        for (const auto& path : kept)
            files.push_back(path.string());
    }
    return files;
}

void map_data(const CompareCommand& options) {
    CommandRun run;
    const std::vector<std::string> files = expand_runs(options.scores);
    std::vector<std::shared_ptr<const ScoreSet>> sets;
    for (std::size_t e = 0; e < files.size(); ++e) {
        run.control().checkpoint({"reading", static_cast<std::int64_t>(e),
                                  static_cast<std::int64_t>(files.size()), "files"});
        sets.push_back(read_scores(files[e]));
    }
    const DataMap map = data_map(sets);
    run.finish();
    warn(map.warnings);
    for (const LeftOutSample& sample : map.left_out)
        std::fprintf(stderr, "warning: %s: %s\n", printable(sample.id).c_str(),
                     sample.reason.c_str());
    if (!options.output.empty())
        write_table(options.output, data_map_csv(map));
    if (options.json) {
        print_json(to_json(map, files));
    } else if (options.output != "-") {
        std::vector<std::vector<std::string>> rows;
        for (const DataMapPoint& point : map.samples)
            rows.push_back({point.id, format_count(point.tokens), fixed(point.confidence),
                            fixed(point.variability), fixed(point.correctness)});
        std::printf("%zu samples over %lld checkpoints\n\n", map.samples.size(),
                    static_cast<long long>(map.checkpoints));
        print_table({"sample", "tokens", "confidence", "variability", "correctness"}, rows);
    }
}

void run_compare(const CompareCommand& options) {
    if (!options.output.empty() && options.output != "-" && !options.output.ends_with(".csv"))
        throw Error(ErrorCode::usage, "must end in .csv, or be - for standard output",
                    "-o " + options.output);
    if (options.output == "-" && options.json)
        throw Error(ErrorCode::usage, "both -o - and --json want standard output", "compare");
    std::vector<std::string> inputs = options.scores;
    inputs.push_back(options.labels);
    refuse_overwriting(options.output, inputs);
    if (options.data_map)
        return map_data(options);
    if (options.scores.size() != 2)
        throw Error(ErrorCode::usage,
                    "needs two score files, got " + std::to_string(options.scores.size())
                        + "; --data-map takes more",
                    "compare");
    compare_two(options);
}

} // namespace

void add_compare_command(CLI::App& program) {
    auto compare = std::make_shared<CompareCommand>();
    CLI::App* command =
        program.add_subcommand("compare", "two score files of the same data, B against A");
    command
        ->add_option("SCORES", compare->scores,
                     "score files A (before) and B (after); with --data-map those of two or more "
                     "checkpoints in the order of training, or a run's folder")
        ->required();
    add_label_option(*command, compare->labels);
    command->add_option("--samples", compare->samples, "samples listed at either end")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_flag("--data-map", compare->data_map,
                      "mean confidence, its variability and correctness of each sample over the "
                      "checkpoints (Swayamdipta et al. 2020)");
    command->add_option("-o,--output", compare->output,
                        "FILE.csv: a line for each sample; - for standard output");
    command->add_flag("--json", compare->json, "print JSON");
    command->callback([compare] { run_compare(*compare); });
}

} // namespace cuset::cli
