// The table of samples, and where the scores came from.
#include <algorithm>

#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/report/markup.h"
#include "core/report/report_data.h"

namespace cuset {
namespace {

using markup::escaped;
using markup::number;
using markup::percent;

std::string on(bool value) {
    return value ? "on" : "off";
}

// A template is shown in full if it is a name, else by its length and hash.
std::string template_name(const std::string& text) {
    if (text.size() <= 60)
        return escaped(text);
    Sha256 sha;
    sha.update(std::string_view(text));
    return format_count(static_cast<std::int64_t>(text.size())) + " bytes, SHA-256 "
        + sha.hex_digest() + ", begins <code>" + escaped(text, 120) + "</code>";
}

std::string fact(const std::string& name, const std::string& value) {
    return "<tr><td>" + name + "</td><td>" + (value.empty() ? "-" : value) + "</td></tr>\n";
}

} // namespace

std::string sample_table(const ReportData& data) {
    const auto rows = data.analyzer.samples();
    const auto shown = std::min<std::size_t>(data.hardest.size(),
                                             static_cast<std::size_t>(data.options.table_rows));
    std::vector<std::vector<std::string>> cells;
    for (std::size_t i = 0; i < shown; ++i) {
        const std::int64_t n = data.hardest[i];
        const SampleSummary& row = rows[static_cast<std::size_t>(n)];
        const PushTotals& push = data.cuset_push().samples[static_cast<std::size_t>(n)];
        std::string id = escaped(data.analyzer.scores()->id(n));
        if (i < static_cast<std::size_t>(data.options.samples))
            id = "<a href=\"#sample-" + std::to_string(i + 1) + "\">" + id + "</a>";
        cells.push_back(
            {id, format_count(row.tokens), number(static_cast<double>(row.mean_confidence), 4),
             number(static_cast<double>(row.difficulty), 4),
             number(static_cast<double>(row.weight), 4), std::to_string(row.min_window_begin),
             percent(static_cast<double>(row.confident_share)),
             percent(static_cast<double>(row.cuda_share)),
             percent(static_cast<double>(row.supervised_share)), number(push.total, 2),
             percent(push.sensitive_share())});
    }
    const auto all = static_cast<std::int64_t>(data.hardest.size());
    std::string note = "Hardest first, " + format_count(static_cast<std::int64_t>(shown)) + " of "
        + format_count(all) + " samples that have tokens";
    if (data.summary().samples > all)
        note += "; " + format_count(data.summary().samples - all) + " without a token are left out";
    return "<section><h2 id=\"samples\">Samples</h2>"
        + markup::table(note
                            + ". C is the lowest window mean (Eq. 7), w = 1 - C the sample's "
                              "weight (Eq. 8).",
                        {"sample", "tokens", "mean c", "C", "w", "lowest window at", "confident",
                         "in CUDA regions", "supervised", "push", "on sensitive"},
                        cells)
        + "</section>\n";
}

std::string provenance_section(const ReportData& data) {
    const ScoreProvenance& p = data.analyzer.scores()->provenance();
    const MaskSettings& s = data.summary().settings;
    const BootstrapOptions& b = data.options.bootstrap;
    const auto code = [](const std::string& text) {
        return text.empty() ? text : "<code>" + escaped(text) + "</code>";
    };
    return "<section><h2 id=\"provenance\">Provenance</h2><div class=\"scroll\"><table "
           "class=\"facts\"><tbody>\n"
        + fact("Scores", code(data.options.source)) + fact("Model", code(p.model))
        + fact("Adapter", code(p.adapter)) + fact("Model SHA-256", code(p.model_sha256))
        + fact("Tokenizer SHA-256", code(p.tokenizer_sha256))
        + fact("Template", template_name(p.chat_template)) + fact("Number type", escaped(p.dtype))
        + fact("Device", escaped(p.device))
        + fact("Longest sequence", p.max_length > 0 ? format_count(p.max_length) + " tokens" : "")
        + fact("Scored by", escaped(p.created_by))
        + fact("Report by", escaped(data.options.program))
        + fact("Date", escaped(data.options.date))
        + fact("Settings",
               "tau " + number(s.tau, 4) + ", lambda " + number(s.lambda, 4) + ", l "
                   + std::to_string(s.window) + "; confidence mask " + on(s.confidence_mask)
                   + ", CUDA mask " + on(s.cuda_mask) + ", region weight " + on(s.region_weight)
                   + (s.whole_if_short ? "; a sample shorter than l is one window" : ""))
        + fact("Intervals",
               format_count(b.replicates) + " bootstrap replicates of whole samples, percentiles, "
                   + number(100 * b.level, 1) + " %, seed " + std::to_string(b.seed))
        + fact("Method",
               "Chen et al., &#8220;From Tokens to Regions: CUDA-Sensitive Instruction Tuning for "
               "GPU Kernel Generation&#8221;, Findings of EMNLP 2026, doi "
               "10.18653/2026.findings-emnlp.2045. CUDA regions (Eq. 3): kernel bodies and launch "
               "configurations. CUDA-sensitive: any token of the eight kinds or of a launch "
               "configuration, found by rules.")
        + "</tbody></table></div></section>\n";
}

} // namespace cuset
