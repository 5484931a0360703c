// Where one training step would push, under each objective, and what the thresholds change.
#include <algorithm>
#include <functional>

#include "core/base/message.h"
#include "core/report/bar_chart.h"
#include "core/report/markup.h"
#include "core/report/report_data.h"
#include "core/report/svg_chart.h"

namespace cuset {
namespace {

using markup::number;
using markup::percent;

double per_token(double total, const ReportData& data) {
    return data.summary().tokens > 0 ? total / static_cast<double>(data.summary().tokens) : 0;
}

std::string objective_chart(const ReportData& data) {
    std::vector<BarRow> rows;
    for (const ObjectivePush& push : data.push)
        rows.push_back(
            {std::string(token_objective_names[static_cast<std::size_t>(push.objective)]),
             per_token(push.corpus.total, data), per_token(push.corpus.sensitive, data),
             number(per_token(push.corpus.total, data), 4) + " a token, "
                 + percent(push.corpus.sensitive_share()) + " on sensitive"});
    return bar_chart("Push a token under each objective", rows);
}

std::string kind_chart(const ReportData& data) {
    const PushTotals& push = data.cuset_push().corpus;
    std::vector<BarRow> rows;
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const double part = push.by_kind[static_cast<std::size_t>(kind)];
        const double share = push.total > 0 ? part / push.total : 0;
        rows.push_back(
            {kind_title(kind), share, share, percent(share) + "  (" + number(part, 1) + ")"});
    }
    return bar_chart("CuSeT's push by kind", rows);
}

struct Series {
    const char* css_class;
    const char* name;
    std::function<double(const SweepPoint&)> value;
};

const std::vector<Series>& sweep_series() {
    static const std::vector<Series> series{
        {"neutral", "supervised tokens",
         [](const SweepPoint& p) { return p.mask.supervised_share; }},
        {"plain", "confident tokens", [](const SweepPoint& p) { return p.mask.confident_share; }},
        {"accent", "mean weight w", [](const SweepPoint& p) { return p.mean_weight; }},
        {"sensitive", "push on sensitive tokens",
         [](const SweepPoint& p) { return p.push_sensitive; }}};
    return series;
}

using Coordinate = std::function<double(const SweepPoint&)>;

std::string sweep_chart(const std::vector<SweepPoint>& points, const std::string& name,
                        const Coordinate& at, double current, bool logarithmic) {
    ChartAxis x{.low = at(points.front()),
                .high = at(points.back()),
                .title = name,
                .logarithmic = logarithmic};
    if (logarithmic)
        for (const SweepPoint& point : points)
            x.ticks.push_back(at(point));
    SvgChart chart("Sweep over " + name, x, {.title = "share or mean"}, 420, 250);
    for (const Series& series : sweep_series()) {
        std::vector<ChartPoint> line;
        for (const SweepPoint& point : points)
            line.push_back({at(point), series.value(point)});
        chart.line(line, series.css_class);
    }
    chart.vertical(current, "warn", "the setting of this report");
    return chart.markup();
}

std::vector<std::vector<std::string>> sweep_rows(const std::vector<SweepPoint>& points,
                                                 const std::string& name, const Coordinate& at,
                                                 int digits, double current) {
    std::vector<std::vector<std::string>> rows;
    for (const SweepPoint& point : points) {
        const std::string title = name + " " + number(at(point), digits);
        rows.push_back({at(point) == current ? "<b>" + title + "</b>" : title,
                        percent(point.mask.confident_share), percent(point.mask.supervised_share),
                        number(point.mask.mean_mask, 4), number(point.mean_difficulty, 4),
                        number(point.mean_weight, 4), percent(point.push_sensitive)});
    }
    return rows;
}

std::string sweep_keys() {
    std::string keys = "<p class=\"note keys\">";
    for (const Series& series : sweep_series())
        keys += "<span class=\"name\"><span class=\"key " + std::string(series.css_class)
            + "\"></span>" + series.name + "</span>";
    return keys
        + "<span class=\"name\"><span class=\"key warn\"></span>this report's setting</span></p>";
}

} // namespace

std::string push_section(const ReportData& data) {
    std::vector<std::vector<std::string>> rows;
    for (const ObjectivePush& push : data.push)
        rows.push_back(
            {std::string(token_objective_names[static_cast<std::size_t>(push.objective)]),
             number(push.corpus.total, 1), number(per_token(push.corpus.total, data), 4),
             number(push.corpus.sensitive, 1), percent(push.corpus.sensitive_share())});
    return "<section><h2 id=\"push\">Where one training step would push</h2><p>The push of a token "
           "is its weight under the objective times 1 - c, half the L1 norm of its loss's gradient "
           "in the logits; for CuSeT w M (1 - c) at the report's settings. ASFT is counted without "
           "its divergence from the base model, which scores do not know.</p><div class=\"pair\">"
        + markup::figure(
               objective_chart(data),
               "Mean push a token under each objective; the darker part falls on "
               "CUDA-sensitive tokens, which are "
                   + percent(data.summary().tokens > 0
                                 ? static_cast<double>(data.summary().confidence.sensitive.count)
                                     / static_cast<double>(data.summary().tokens)
                                 : 0)
                   + " of all.")
        + markup::figure(kind_chart(data),
                         "CuSeT's push by kind: share of its total, and the sum in brackets. A "
                         "token counts for each of its kinds.")
        + "</div>\n"
        + markup::table("Totals over the corpus.",
                        {"objective", "push", "a token", "on sensitive tokens", "share"}, rows)
        + "</section>\n";
}

std::string sweep_section(const ReportData& data) {
    const MaskSettings& settings = data.summary().settings;
    const Coordinate tau = [](const SweepPoint& p) { return p.settings.tau; };
    const Coordinate lambda = [](const SweepPoint& p) { return p.settings.lambda; };
    const Coordinate window = [](const SweepPoint& p) { return double(p.settings.window); };
    std::vector<std::vector<std::string>> rows =
        sweep_rows(data.by_tau, "tau", tau, 2, settings.tau);
    for (const auto& more : {sweep_rows(data.by_lambda, "lambda", lambda, 2, settings.lambda),
                             sweep_rows(data.by_window, "l", window, 0, settings.window)})
        rows.insert(rows.end(), more.begin(), more.end());
    return "<section><h2 id=\"sweeps\">What the thresholds change</h2>" + sweep_keys()
        + "<div class=\"pair three\">"
        + markup::figure(sweep_chart(data.by_tau, "tau", tau, settings.tau, false),
                         "Confidence threshold tau.")
        + markup::figure(sweep_chart(data.by_lambda, "lambda", lambda, settings.lambda, true),
                         "Weight lambda of CUDA regions.")
        + markup::figure(sweep_chart(data.by_window, "l", window, settings.window, true),
                         "Window length l in tokens.")
        + "</div>\n"
        + markup::table("One setting moved at a time; the others as in this report (bold).",
                        {"setting", "confident", "supervised", "mean M", "mean C", "mean w",
                         "push on sensitive"},
                        rows)
        + "</section>\n";
}

} // namespace cuset
