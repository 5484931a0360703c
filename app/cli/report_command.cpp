// cuset report: one self-contained page; no model is needed.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/progress.h"
#include "app/cli/scored_data.h"
#include "core/analysis/corpus_summary.h"
#include "core/analysis/worker_pool.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/report/report.h"

namespace cuset::cli {
namespace {

struct ReportCommand {
    ScoredDataOptions data;
    std::string output;
    MaskSettings settings;
    std::int32_t low_window = 64;
    ReportOptions report;
};

void run_report(const ReportCommand& options) {
    refuse_overwriting(options.output,
                       {options.data.scores, options.data.labels, options.data.notes});
    require_writable(options.output);
    CommandRun run;
    WorkerPool pool(0);
    CorpusAnalyzer analyzer(read_scored_data(options.data).scores, run.control(),
                            pool.parallel_for());
    analyzer.set_low_confidence_window(options.low_window);
    analyzer.update(options.settings);
    ReportOptions report = options.report;
    report.program = "cuset " CUSET_VERSION;
    // Only the name: a page that is passed on should not tell where its maker keeps files.
    report.source = std::filesystem::path(options.data.scores).filename().string();
    const std::string page = render_report(analyzer, report, run.control());
    run.finish();
    if (options.output == "-")
        std::fwrite(page.data(), 1, page.size(), stdout);
    else
        write_file_atomically(options.output, page);
    std::fprintf(stderr, "report of %s samples, %s\n",
                 format_count(analyzer.summary().samples).c_str(),
                 format_bytes(page.size()).c_str());
}

} // namespace

void add_report_command(CLI::App& program) {
    auto options = std::make_shared<ReportCommand>();
    CLI::App* command = program.add_subcommand(
        "report", "one self-contained page: charts, tables, coloured samples");
    add_scored_data_options(*command, options->data);
    command->add_option("-o,--output", options->output, "FILE.html, or - for standard output")
        ->required();
    add_mask_options(*command, options->settings);
    command
        ->add_option("--low-window", options->low_window,
                     "tokens of a window in the low-confidence shares")
        ->check(CLI::Range(1, 1 << 24))
        ->capture_default_str();
    command->add_option("--samples", options->report.samples, "coloured samples, hardest first")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command
        ->add_option("--tokens", options->report.tokens_per_sample,
                     "tokens shown of each, around its lowest window")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    command->add_option("--rows", options->report.table_rows, "rows of the table of samples")
        ->check(CLI::Range(0, 100'000))
        ->capture_default_str();
    command->add_option("--date", options->report.date,
                        "a date to show; without one the page is the same at any time");
    command->callback([options] { run_report(*options); });
}

} // namespace cuset::cli
