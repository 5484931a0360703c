// Coloured samples: window confidence, the tokens of the lowest window, and the code.
#include <algorithm>
#include <cmath>

#include "core/analysis/mask.h"
#include "core/base/message.h"
#include "core/report/markup.h"
#include "core/report/report_data.h"
#include "core/report/report_style.h"
#include "core/report/svg_chart.h"

namespace cuset {
namespace {

using markup::escaped;
using markup::number;
using markup::percent;

// Longest text of one token and of one sample; a file may claim spans of any size.
constexpr std::size_t max_token_bytes = 512;
constexpr std::size_t max_title_bytes = 40;

// One sample's columns. T tokens.
struct View {
    const ReportData& data;
    std::int64_t n = 0;
    std::int64_t begin = 0; // first token in the set
    std::span<const float> confidence = {}; // [T]
    std::span<const LabelBits> labels = {}; // [T]
    MaskedSample masked = {};
    std::int32_t window = 1; // of the low-confidence shares, at most T
    std::vector<double> means = {}; // [T - window + 1] by start token
    std::size_t lowest = 0; // index of the smallest of means

    std::size_t tokens() const { return confidence.size(); }
    ByteSpan span(std::size_t t) const {
        return data.analyzer.scores()->span(begin + static_cast<std::int64_t>(t));
    }
};

View make_view(const ReportData& data, std::int64_t n) {
    const ScoreSet& scores = *data.analyzer.scores();
    View view{data, n, scores.token_begin(n)};
    const auto first = static_cast<std::size_t>(view.begin);
    const auto count = static_cast<std::size_t>(scores.token_end(n) - view.begin);
    view.confidence = data.analyzer.confidence().subspan(first, count);
    view.labels = scores.columns().labels.subspan(first, count);
    view.masked = mask_sample(view.confidence, view.labels, data.summary().settings);
    const auto window =
        std::min(count, static_cast<std::size_t>(data.summary().low_confidence.window));
    view.window = static_cast<std::int32_t>(window);
    std::vector<double> sums{0};
    for (const float c : view.confidence)
        sums.push_back(sums.back() + static_cast<double>(c));
    for (std::size_t t = 0; t + window <= count; ++t)
        view.means.push_back((sums[t + window] - sums[t]) / static_cast<double>(window));
    view.lowest = static_cast<std::size_t>(std::min_element(view.means.begin(), view.means.end())
                                           - view.means.begin());
    return view;
}

// At most two points for each of `columns` stretches: its lowest and its highest, in order.
std::vector<ChartPoint> thinned(const std::vector<double>& values, std::size_t columns) {
    std::vector<ChartPoint> points;
    const auto add = [&](std::size_t i) { points.push_back({static_cast<double>(i), values[i]}); };
    const std::size_t stretch = std::max<std::size_t>(1, (values.size() + columns - 1) / columns);
    for (std::size_t from = 0; from < values.size(); from += stretch) {
        const std::size_t to = std::min(values.size(), from + stretch);
        std::size_t low = from, high = from;
        for (std::size_t i = from; i < to; ++i) {
            low = values[i] < values[low] ? i : low;
            high = values[i] > values[high] ? i : high;
        }
        add(std::min(low, high));
        if (low != high)
            add(std::max(low, high));
    }
    return points;
}

// Shades the start tokens of low windows; at most one band for each of 600 columns.
void shade_low(SvgChart& chart, const View& view, double line) {
    const std::size_t least = view.means.size() / 600;
    for (std::size_t t = 0; t < view.means.size();) {
        if (view.means[t] >= line) {
            ++t;
            continue;
        }
        std::size_t end = t, last = t;
        for (; end < view.means.size() && end <= last + least + 1; ++end)
            last = view.means[end] < line ? end : last;
        chart.band(static_cast<double>(t), static_cast<double>(last) + 1, "low");
        t = std::max(end, last + 1);
    }
}

std::string window_chart(const View& view) {
    const Moments& neutral = view.data.summary().confidence.neutral;
    const double most = static_cast<double>(std::max<std::size_t>(view.means.size(), 2) - 1);
    SvgChart chart("Window confidence along the sample",
                   {.high = most, .title = "start token of the window"},
                   {.title = "mean c of " + std::to_string(view.window) + " tokens"});
    if (neutral.count > 0) {
        shade_low(chart, view, neutral.mean);
        chart.horizontal(neutral.mean, "neutral", "mean of the corpus' neutral tokens");
    }
    chart.line(thinned(view.means, 600), "plain");
    const ChartPoint lowest{static_cast<double>(view.lowest), view.means[view.lowest]};
    chart.mark(lowest, "warn", "lowest window");
    chart.note({lowest.x, std::max(0.0, lowest.y - 0.07)}, number(lowest.y, 4), "warn");
    return chart.markup();
}

// The bytes of a token in its response, not beyond it.
std::string_view token_bytes(const View& view, std::size_t t) {
    const std::string_view response = view.data.analyzer.scores()->response(view.n);
    const ByteSpan span = view.span(t);
    const auto size = static_cast<std::int64_t>(response.size());
    const auto from = std::clamp<std::int64_t>(span.begin, 0, size);
    const auto to = std::clamp<std::int64_t>(span.end, from, size);
    return response.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
}

// What stands for a token where its text alone is not enough: the end-of-turn token has no text.
std::string token_name(const View& view, std::size_t t, std::size_t max_bytes) {
    const std::string_view bytes = token_bytes(view, t);
    if (!bytes.empty())
        return printable(bytes, max_bytes);
    const ScoreSet& scores = *view.data.analyzer.scores();
    const std::int32_t id = scores.columns().token_id[static_cast<std::size_t>(view.begin) + t];
    const auto known = scores.token_text(id);
    return known ? printable(*known, max_bytes) : "token " + std::to_string(id);
}

std::string token_chart(const View& view) {
    const std::size_t shown = std::min<std::size_t>(static_cast<std::size_t>(view.window), 96);
    SvgChart chart("Confidence of the tokens of the lowest window",
                   {.high = static_cast<double>(shown), .title = "tokens of the lowest window"},
                   {.title = "token confidence c"}, 560, 300);
    std::vector<ChartPoint> places;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shown; ++i) {
        places.push_back({static_cast<double>(i) + 0.5, 0});
        std::string name = token_name(view, view.lowest + i, 14);
        if (name.find_first_not_of(' ') == std::string::npos)
            name = name.size() == 1 ? "blank" : std::to_string(name.size()) + " blanks";
        names.push_back(std::move(name));
    }
    chart.x_labels(places, names);
    for (std::size_t i = 0; i < shown; ++i) {
        const std::size_t t = view.lowest + i;
        const auto c = static_cast<double>(view.confidence[t]);
        const auto x = static_cast<double>(i);
        chart.bar(x + 0.12, x + 0.88, c,
                  is_cuda_sensitive(view.labels[t]) ? "sensitive" : "neutral",
                  names[i] + "  c " + number(c, 4));
    }
    const double mean = view.means[view.lowest];
    chart.horizontal(mean, "warn", "mean of the window");
    return chart.markup();
}

std::string label_names(LabelBits bits) {
    std::string names = (bits & kernel_bit) != 0 ? "kernel body" : "";
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    if ((bits & launch_bit) != 0)
        add("launch configuration");
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if ((bits & kind_bit(static_cast<SensitiveKind>(kind))) != 0)
            add(kind_title(kind));
    return names;
}

// "instead: block 0.41, grid 0.12": the most probable tokens that are not the target.
std::string alternatives(const View& view, std::size_t t) {
    const ScoreColumns& columns = view.data.analyzer.scores()->columns();
    const auto at = static_cast<std::size_t>(view.begin) + t;
    const auto k = static_cast<std::size_t>(columns.top_k);
    std::string out;
    int listed = 0;
    for (std::size_t i = at * k; i < (at + 1) * k && listed < 2; ++i) {
        const std::int32_t id = columns.top_id[i];
        if (id == columns.token_id[at])
            continue;
        const auto text = view.data.analyzer.scores()->token_text(id);
        out += (listed++ == 0 ? "; instead " : ", ")
            + (text ? printable(*text, max_title_bytes) : "token " + std::to_string(id)) + " "
            + number(static_cast<double>(confidence_of(columns.top_log_prob[i])), 3);
    }
    return out;
}

std::string token_title(const View& view, std::size_t t) {
    const ScoreColumns& columns = view.data.analyzer.scores()->columns();
    const auto at = static_cast<std::size_t>(view.begin) + t;
    const float c = view.confidence[t], mask = view.masked.mask[t];
    const std::string labels = label_names(view.labels[t]);
    return token_name(view, t, max_title_bytes) + "  c " + number(static_cast<double>(c), 4)
        + ", rank " + std::to_string(columns.rank[at]) + ", H "
        + number(static_cast<double>(columns.entropy[at]), 2) + ", M "
        + number(static_cast<double>(mask), 2) + ", push "
        + number(static_cast<double>(push(c, mask, view.masked.weight)), 3)
        + (labels.empty() ? "" : "; " + labels) + alternatives(view, t);
}

struct Stretch {
    std::size_t begin = 0, end = 0; // tokens
};

// The first tokens, or if the lowest window lies behind them, those around it.
Stretch shown_tokens(const View& view) {
    const auto most = static_cast<std::size_t>(view.data.options.tokens_per_sample);
    if (view.tokens() <= most)
        return {0, view.tokens()};
    const std::size_t middle = view.lowest + static_cast<std::size_t>(view.window) / 2;
    if (view.lowest + static_cast<std::size_t>(view.window) <= most)
        return {0, most};
    const std::size_t begin =
        std::min(middle > most / 2 ? middle - most / 2 : 0, view.tokens() - most);
    return {begin, begin + most};
}

// Where the character that `at` lies in ends.
std::size_t character_end(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] & 0xc0) == 0x80)
        ++at;
    return at;
}

std::string coloured_code(const View& view, Stretch stretch) {
    const std::string_view response = view.data.analyzer.scores()->response(view.n);
    std::string out = "<pre>\n";
    std::size_t done = token_bytes(view, stretch.begin).data() - response.data();
    done = std::min(character_end(response, done), response.size());
    for (std::size_t t = stretch.begin; t < stretch.end; ++t) {
        const std::string_view bytes = token_bytes(view, t);
        const auto from = static_cast<std::size_t>(bytes.data() - response.data());
        // A character cut between tokens stands with the one that begins it.
        const std::size_t to = character_end(response, from + bytes.size());
        if (from > done)
            out +=
                markup::escaped_code(response.substr(done, std::min(from - done, max_token_bytes)));
        std::string text;
        if (to > std::max(from, done))
            text = markup::escaped_code(response.substr(
                std::max(from, done), std::min(to - std::max(from, done), max_token_bytes)));
        else
            text = "<u>" + (bytes.empty() ? escaped(token_name(view, t, 40)) : "&#183;") + "</u>";
        done = std::max(done, to);
        const LabelBits bits = view.labels[t];
        out += "<span class=\"c" + std::to_string(confidence_step(view.confidence[t]))
            + (is_cuda_sensitive(bits)    ? " s"
                   : is_cuda_masked(bits) ? " k"
                                          : "")
            + "\" title=\"" + escaped(token_title(view, t), 600) + "\">" + text + "</span>";
    }
    return out + "</pre>\n";
}

std::string legend() {
    std::string ramp;
    for (int step = 0; step < confidence_steps; ++step)
        ramp += "<span class=\"c" + std::to_string(step) + "\"></span>";
    return "<div class=\"legend\"><span>confidence c</span><span>0</span><span class=\"ramp\">"
        + ramp
        + "</span><span>1</span><span class=\"u s\">CUDA-sensitive</span><span class=\"u k\">other "
          "token of a kernel body</span><span>Point at a token for its numbers: probability c, "
          "rank, entropy H in nats, mask M, push.</span></div>\n";
}

std::string sample_article(const View& view, std::size_t number_of) {
    const SampleSummary& row = view.data.analyzer.samples()[static_cast<std::size_t>(view.n)];
    const PushTotals& pushed = view.data.cuset_push().samples[static_cast<std::size_t>(view.n)];
    const Stretch stretch = shown_tokens(view);
    std::string out =
        "<article><h3 id=\"sample-" + std::to_string(number_of) + "\">" + std::to_string(number_of)
        + ". " + escaped(view.data.analyzer.scores()->id(view.n)) + "</h3><p class=\"lead\">"
        + format_count(row.tokens) + " tokens; C " + number(static_cast<double>(row.difficulty), 4)
        + ", w " + number(static_cast<double>(row.weight), 4) + "; "
        + percent(static_cast<double>(row.supervised_share)) + " supervised; push "
        + number(pushed.total, 2) + ", " + percent(pushed.sensitive_share())
        + " on sensitive tokens</p><div class=\"pair\">"
        + markup::figure(
            window_chart(view),
            "Window confidence; shaded where it lies below the mean of the corpus' "
            "neutral tokens (dashed). Lowest: tokens "
                + std::to_string(view.lowest) + " to "
                + std::to_string(view.lowest + static_cast<std::size_t>(view.window) - 1)
                + ", mean " + number(view.means[view.lowest], 4) + ".")
        + markup::figure(token_chart(view),
                         "The tokens of that window"
                             + std::string(view.window > 96 ? " (the first 96)" : "")
                             + ", sensitive ones orange, others blue; dashed: the window's mean.")
        + "</div>\n" + coloured_code(view, stretch);
    if (stretch.begin > 0 || stretch.end < view.tokens())
        out += "<p class=\"note\">Tokens " + format_count(static_cast<std::int64_t>(stretch.begin))
            + " to " + format_count(static_cast<std::int64_t>(stretch.end) - 1) + " of "
            + format_count(row.tokens)
            + " are shown; the rest is cut to keep the page small.</p>\n";
    return out + "</article>\n";
}

} // namespace

std::string sample_views(const ReportData& data, RunControl& control) {
    const std::size_t count =
        std::min(data.hardest.size(), static_cast<std::size_t>(data.options.samples));
    std::string out = "<section><h2 id=\"hardest\">Hardest samples</h2>\n";
    if (count == 0)
        out += "<p>No sample with tokens is shown.</p>\n";
    else
        out += legend();
    for (std::size_t i = 0; i < count; ++i) {
        control.checkpoint({"writing samples", static_cast<std::int64_t>(i),
                            static_cast<std::int64_t>(count), "samples"});
        out += sample_article(make_view(data, data.hardest[i]), i + 1);
    }
    return out + "</section>\n";
}

} // namespace cuset
