// The confidences of the corpus: key figures, density, cumulative shares, low windows by kind.
#include <algorithm>
#include <cmath>

#include "core/analysis/statistics.h"
#include "core/base/message.h"
#include "core/report/bar_chart.h"
#include "core/report/markup.h"
#include "core/report/report_data.h"
#include "core/report/svg_chart.h"

namespace cuset {
namespace {

using markup::number;
using markup::percent;

std::string card(const std::string& value, const std::string& name) {
    return "<div class=\"card\"><b>" + value + "</b><span>" + name + "</span></div>";
}

std::string interval(const Interval& value) {
    return number(value.estimate, 4) + " [" + number(value.low, 4) + ", " + number(value.high, 4)
        + "]";
}

std::string log_p(const KsTest& test) {
    return number(test.log10_p, 1);
}

std::vector<ChartPoint> density_points(std::span<const float> values) {
    const Density density = kernel_density(values, 241);
    std::vector<ChartPoint> points;
    for (std::size_t i = 0; i < density.x.size(); ++i)
        points.push_back({density.x[i], density.y[i]});
    return points;
}

double highest(const std::vector<ChartPoint>& points) {
    double most = 0;
    for (const ChartPoint& point : points)
        most = std::max(most, point.y);
    return most;
}

std::string density_chart(const ReportData& data) {
    const ConfidenceSummary& confidence = data.summary().confidence;
    const auto sensitive = density_points(data.analyzer.sorted_sensitive());
    const auto neutral = density_points(data.analyzer.sorted_neutral());
    const double top = 1.06 * std::max({highest(sensitive), highest(neutral), 0.1});
    SvgChart chart("Density of token confidence, CUDA-sensitive and neutral tokens",
                   {.title = "token confidence c"}, {.high = top, .title = "density"});
    chart.area(neutral, "neutral");
    chart.area(sensitive, "sensitive");
    chart.line(neutral, "neutral");
    chart.line(sensitive, "sensitive");
    if (confidence.neutral.count > 0)
        chart.vertical(confidence.neutral.mean, "neutral", "mean of neutral tokens");
    if (confidence.sensitive.count > 0)
        chart.vertical(confidence.sensitive.mean, "sensitive", "mean of sensitive tokens");
    const double tau = data.summary().settings.tau;
    chart.vertical(tau, "accent", "tau");
    chart.note({tau, top}, "tau " + number(tau, 2), "accent");
    return chart.markup();
}

// Share of sorted values that are at most x.
double share_up_to(std::span<const float> values, float x) {
    if (values.empty())
        return 0;
    return static_cast<double>(std::upper_bound(values.begin(), values.end(), x) - values.begin())
        / static_cast<double>(values.size());
}

// Where the two cumulative shares are farthest apart, which is the KS statistic.
float widest_gap(std::span<const float> first, std::span<const float> second) {
    float best_at = 0;
    double best = -1;
    std::size_t i = 0, j = 0;
    while (i < first.size() && j < second.size()) {
        const float value = std::min(first[i], second[j]);
        while (i < first.size() && first[i] <= value)
            ++i;
        while (j < second.size() && second[j] <= value)
            ++j;
        const double gap = std::abs(static_cast<double>(i) / static_cast<double>(first.size())
                                    - static_cast<double>(j) / static_cast<double>(second.size()));
        if (gap > best) {
            best = gap;
            best_at = value;
        }
    }
    return best_at;
}

std::string cumulative_chart(const ReportData& data) {
    const auto sensitive = data.analyzer.sorted_sensitive();
    const auto neutral = data.analyzer.sorted_neutral();
    SvgChart chart("Cumulative share of tokens by confidence", {.title = "token confidence c"},
                   {.title = "share of tokens up to c"});
    std::vector<ChartPoint> of_sensitive, of_neutral;
    for (int i = 0; i <= 400; ++i) {
        const double x = i / 400.0;
        of_sensitive.push_back({x, share_up_to(sensitive, static_cast<float>(x))});
        of_neutral.push_back({x, share_up_to(neutral, static_cast<float>(x))});
    }
    if (!neutral.empty())
        chart.line(of_neutral, "neutral");
    if (!sensitive.empty())
        chart.line(of_sensitive, "sensitive");
    if (!sensitive.empty() && !neutral.empty()) {
        const float at = widest_gap(sensitive, neutral);
        const double low = share_up_to(sensitive, at), high = share_up_to(neutral, at);
        const auto x = static_cast<double>(at);
        chart.segment({x, low}, {x, high}, "plain solid");
        chart.note({x, std::min(low, high) - 0.1},
                   "D " + number(data.summary().confidence.ks.statistic, 4) + " at c "
                       + number(x, 3),
                   "plain");
    }
    return chart.markup();
}

std::string key(const char* css_class, const std::string& name) {
    return "<span class=\"name\"><span class=\"key " + std::string(css_class) + "\"></span>" + name
        + "</span>";
}

std::string statistics_tables(const ReportData& data) {
    const ConfidenceSummary& confidence = data.summary().confidence;
    const SampleStatistics& statistics = data.statistics;
    const auto row = [](const std::string& name, const Moments& m, const std::string& samples,
                        const std::string& bounds) {
        return std::vector<std::string>{
            name, format_count(m.count), samples, number(m.mean, 4), number(m.std, 4), bounds};
    };
    const std::string level = number(100 * data.options.bootstrap.level, 0);
    std::string out = markup::table(
        "Confidence c by token; the interval of the mean is bootstrapped by sample, since tokens "
        "of "
        "one sample are not independent.",
        {"tokens", "count", "samples", "mean", "std", "mean [" + level + " % CI]"},
        {row("CUDA-sensitive", confidence.sensitive, format_count(statistics.samples_sensitive),
             interval(statistics.sensitive)),
         row("neutral", confidence.neutral, format_count(statistics.samples_neutral),
             interval(statistics.neutral)),
         row("all", confidence.all, format_count(statistics.samples), ""),
         {"sensitive - neutral", "", "", number(statistics.difference.estimate, 4), "",
          interval(statistics.difference)}});
    const auto test = [](const std::string& name, const KsTest& ks, const EffectSize& effect) {
        return std::vector<std::string>{name,
                                        number(ks.statistic, 4),
                                        number(ks.log10_p, 1),
                                        number(effect.cohens_d, 3),
                                        number(effect.cliffs_delta, 3),
                                        number(effect.common_language, 3)};
    };
    return out
        + markup::table(
               "Sensitive against neutral: two-sample Kolmogorov-Smirnov test and effect sizes. "
               "By sample: each sample's mean sensitive and mean neutral confidence.",
               {"by", "KS D", "log10 p", "Cohen's d", "Cliff's delta", "P(s &gt; n)"},
               {test("token", statistics.ks_tokens, statistics.by_token),
                test("sample", statistics.ks_samples, statistics.by_sample)});
}

std::string kind_table(const ReportData& data) {
    const CorpusSummary& summary = data.summary();
    const PushTotals& push = data.cuset_push().corpus;
    const auto share = [](double part, double whole) {
        return percent(whole > 0 ? part / whole : 0);
    };
    const auto row = [&](const std::string& name, const Moments& m, const std::string& low,
                         double pushed) {
        return std::vector<std::string>{
            name,
            format_count(m.count),
            share(static_cast<double>(m.count), static_cast<double>(summary.tokens)),
            m.count > 0 ? number(m.mean, 4) : "-",
            m.count > 0 ? number(m.std, 4) : "-",
            low,
            share(pushed, push.total),
            m.count > 0 ? number(pushed / static_cast<double>(m.count), 4) : "-"};
    };
    std::vector<std::vector<std::string>> rows;
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const auto k = static_cast<std::size_t>(kind);
        rows.push_back(row(kind_title(kind), summary.confidence.by_kind[k],
                           percent(summary.low_confidence.by_kind[k]), push.by_kind[k]));
    }
    rows.push_back(row("any CUDA-sensitive", summary.confidence.sensitive,
                       percent(summary.low_confidence.sensitive_share), push.sensitive));
    rows.push_back(row("neutral", summary.confidence.neutral, "", push.total - push.sensitive));
    return markup::table("By kind of CUDA-sensitive span; a token counts for each of its kinds.",
                         {"kind", "tokens", "share", "mean c", "std c", "low windows that touch it",
                          "share of push", "push a token"},
                         rows);
}

} // namespace

std::string key_figures(const ReportData& data) {
    const CorpusSummary& summary = data.summary();
    const ConfidenceSummary& confidence = summary.confidence;
    return "<section class=\"cards\">"
        + card(format_count(summary.samples), format_count(summary.tokens) + " response tokens")
        + card(number(confidence.sensitive.mean, 4),
               "mean c, " + format_count(confidence.sensitive.count) + " CUDA-sensitive tokens")
        + card(number(confidence.neutral.mean, 4),
               "mean c, " + format_count(confidence.neutral.count) + " neutral tokens")
        + card(log_p(confidence.ks),
               "log10 p of KS, D " + number(confidence.ks.statistic, 4) + ", by token")
        + card(percent(summary.mask.supervised_share),
               "of tokens supervised; " + percent(summary.mask.cuda_share) + " in CUDA regions")
        + card(number(summary.weight.mean, 4),
               "mean sample weight w, " + number(summary.weight.min, 3) + " to "
                   + number(summary.weight.max, 3))
        + card(percent(summary.low_confidence.samples_share),
               "of samples have a low-confidence window of "
                   + std::to_string(summary.low_confidence.window))
        + card(percent(data.cuset_push().corpus.sensitive_share()),
               "of one step's push falls on CUDA-sensitive tokens")
        + "</section>\n";
}

std::string confidence_section(const ReportData& data) {
    const ConfidenceSummary& confidence = data.summary().confidence;
    return "<section><h2 id=\"confidence\">Confidence of CUDA-sensitive and neutral tokens</h2>"
           "<p class=\"note\">c is the teacher-forced probability of the target token (Eq. 1).</p>"
           "<div class=\"pair\">"
        + markup::figure(density_chart(data),
                         "<span class=\"keys\">"
                             + key("sensitive",
                                   "CUDA-sensitive, mean " + number(confidence.sensitive.mean, 4))
                             + key("neutral", "neutral, mean " + number(confidence.neutral.mean, 4))
                             + "</span><br/>Gaussian kernel density, Scott's bandwidth. KS D "
                             + number(confidence.ks.statistic, 4) + ", log10 p "
                             + log_p(confidence.ks) + ".")
        + markup::figure(cumulative_chart(data),
                         "The same as cumulative shares: D is the widest gap between them.")
        + "</div>\n" + statistics_tables(data) + "</section>\n";
}

std::string low_window_section(const ReportData& data) {
    const LowConfidenceSummary& low = data.summary().low_confidence;
    std::vector<BarRow> rows{{"any CUDA-sensitive", low.sensitive_share, low.sensitive_share,
                              percent(low.sensitive_share)}};
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const double share = low.by_kind[static_cast<std::size_t>(kind)];
        rows.push_back({kind_title(kind), share, share, percent(share)});
    }
    const std::string window = std::to_string(low.window);
    return "<section><h2 id=\"low\">Low-confidence windows</h2><p>A window is " + window
        + " consecutive tokens, one for each start token. It is low if its mean confidence lies "
          "below that of the corpus' neutral tokens, "
        + number(data.summary().confidence.neutral.mean, 4) + ".</p><p><b>"
        + percent(low.samples_share) + "</b> of samples have at least one low window; <b>"
        + percent(low.windows_share) + "</b> of all windows are low ("
        + format_count(low.low_windows) + " of " + format_count(low.windows) + "); <b>"
        + percent(low.sensitive_share) + "</b> of the low windows touch a CUDA-sensitive token.</p>"
        + markup::figure(bar_chart("Low windows by the kind of span they touch", rows, 1),
                         "Share of the low windows that touch a token of each kind.")
        + kind_table(data) + "</section>\n";
}

} // namespace cuset
