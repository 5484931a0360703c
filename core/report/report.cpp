#include "core/report/report.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/report/markup.h"
#include "core/report/report_data.h"
#include "core/report/report_style.h"

namespace cuset {
namespace {

using markup::escaped;

void require_within(int value, int low, int high, const char* name) {
    if (value < low || value > high)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(value) + ", needs " + std::to_string(low) + " to "
                        + std::to_string(high),
                    name);
}

// `values` and the setting's own, in order.
template <typename T> std::vector<T> with(std::vector<T> values, T own) {
    values.push_back(own);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

void add_sweeps(ReportData& data, CorpusAnalyzer& analyzer, RunControl& control) {
    const MaskSettings base = analyzer.summary().settings;
    const auto along = [&](SweepGrid grid) { return sweep(analyzer, base, grid, control); };
    data.by_tau = along({with({0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}, base.tau),
                         {base.lambda},
                         {base.window}});
    data.by_lambda =
        along({{base.tau}, with({0.25, 0.5, 1.0, 2.0, 4.0}, base.lambda), {base.window}});
    data.by_window =
        along({{base.tau}, {base.lambda}, with({32, 64, 128, 256, 512, 1024}, base.window)});
}

std::vector<std::int64_t> hardest_first(const CorpusAnalyzer& analyzer) {
    const auto rows = analyzer.samples();
    std::vector<std::int64_t> order;
    for (std::size_t n = 0; n < rows.size(); ++n)
        if (rows[n].tokens > 0)
            order.push_back(static_cast<std::int64_t>(n));
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return rows[static_cast<std::size_t>(a)].difficulty
            < rows[static_cast<std::size_t>(b)].difficulty;
    });
    return order;
}

std::string head(const ReportData& data) {
    const std::string css = stylesheet();
    const std::string name = data.options.source.empty() ? "scores" : data.options.source;
    return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>"
           "<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" "
           "content=\"default-src 'none'; style-src '"
        + policy_hash(css)
        + "'; base-uri 'none'; form-action 'none'\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"referrer\" content=\"no-referrer\"/>\n<title>CuSeT report: "
        + escaped(name) + "</title>\n<style>" + css + "</style></head>\n<body>\n";
}

std::string opening(const ReportData& data) {
    const ScoreProvenance& provenance = data.analyzer.scores()->provenance();
    const MaskSettings& settings = data.summary().settings;
    std::string out =
        "<header><h1>CuSeT report</h1><p class=\"lead\">Which tokens of the responses "
        "a model is sure of, and which training would see. Model <code>"
        + escaped(provenance.model) + "</code>"
        + (provenance.adapter.empty()
               ? ""
               : " with adapter <code>" + escaped(provenance.adapter) + "</code>")
        + ", scores <code>" + escaped(data.options.source) + "</code>, tau "
        + markup::number(settings.tau, 3) + ", lambda " + markup::number(settings.lambda, 3)
        + ", l " + std::to_string(settings.window) + " tokens"
        + (data.options.date.empty() ? "" : ", " + escaped(data.options.date)) + ".</p>\n<nav>";
    for (const auto& [anchor, title] : {std::pair{"confidence", "Confidence"},
                                        {"low", "Low-confidence windows"},
                                        {"push", "Push"},
                                        {"sweeps", "Thresholds"},
                                        {"samples", "Samples"},
                                        {"hardest", "Hardest samples"},
                                        {"provenance", "Provenance"}})
        out += "<a href=\"#" + std::string(anchor) + "\">" + title + "</a>";
    return out + "</nav></header>\n";
}

} // namespace

std::string kind_title(int kind) {
    std::string title(sensitive_kind_names[static_cast<std::size_t>(kind)]);
    std::replace(title.begin(), title.end(), '_', ' ');
    return title;
}

std::string render_report(CorpusAnalyzer& analyzer, const ReportOptions& options,
                          RunControl& control) {
    require_within(options.samples, 0, 1000, "samples");
    require_within(options.tokens_per_sample, 1, 100'000, "tokens per sample");
    require_within(options.table_rows, 0, 100'000, "table rows");
    ReportData data{analyzer, options, sample_statistics(analyzer, options.bootstrap, control),
                    {},       {},      {},
                    {},       {}};
    for (int i = 0; i < token_objective_count; ++i)
        data.push[static_cast<std::size_t>(i)] =
            objective_push(analyzer, static_cast<TokenObjective>(i), {}, control);
    add_sweeps(data, analyzer, control);
    data.hardest = hardest_first(analyzer);
    std::string page = head(data) + opening(data) + "<main>\n" + key_figures(data)
        + confidence_section(data) + low_window_section(data) + push_section(data)
        + sweep_section(data) + sample_table(data) + sample_views(data, control)
        + provenance_section(data);
    return page + "</main>\n</body></html>\n";
}

} // namespace cuset
