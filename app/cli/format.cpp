#include "app/cli/format.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/message.h"

namespace cuset::cli {
namespace {

// Width on a terminal, counting characters and not bytes.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

Json to_json(const Range& range, bool there) {
    return {{"mean", or_null(there, range.mean)},
            {"min", or_null(there, range.min)},
            {"max", or_null(there, range.max)}};
}

} // namespace

void print_json(const Json& json) {
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::printf("%s\n", text.c_str());
}

void print_table(const std::vector<std::string>& header,
                 const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::vector<std::string>> cells{header};
    for (const auto& row : rows) {
        cells.emplace_back();
        for (const std::string& cell : row)
            cells.back().push_back(printable(cell, 60));
    }
    std::vector<std::size_t> widths(header.size());
    for (const auto& row : cells)
        for (std::size_t c = 0; c < row.size(); ++c)
            widths[c] = std::max(widths[c], width(row[c]));
    for (const auto& row : cells) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string padding(widths[c] - width(row[c]), ' ');
            line += c == 0 ? row[c] + padding : "  " + padding + row[c];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::printf("%s\n", line.c_str());
    }
}

std::string fixed(double value, int digits) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string percent(double share) {
    return fixed(100 * share, 1) + " %";
}

std::string fixed_or_dash(const Json& value, int digits) {
    return value.is_null() ? "\u2013" : fixed(value.get<double>(), digits);
}

std::string percent_or_dash(const Json& share) {
    return share.is_null() ? "\u2013" : percent(share.get<double>());
}

Json to_json(const Moments& moments) {
    const bool any = moments.count > 0;
    return {{"count", moments.count},
            {"mean", or_null(any, moments.mean)},
            {"std", or_null(any, moments.std)}};
}

Json to_json(const CorpusSummary& summary) {
    const ConfidenceSummary& confidence = summary.confidence;
    const LowConfidenceSummary& low = summary.low_confidence;
    const bool any = summary.tokens > 0;
    const bool both = confidence.sensitive.count > 0 && confidence.neutral.count > 0;
    Json by_kind = Json::object();
    for (std::size_t k = 0; k < sensitive_kind_names.size(); ++k)
        by_kind[std::string(sensitive_kind_names[k])] = to_json(confidence.by_kind[k]);
    return {
        {"samples", summary.samples},
        {"tokens", summary.tokens},
        {"tau", summary.settings.tau},
        {"lambda", summary.settings.lambda},
        {"window", summary.settings.window},
        {"confidence",
         {{"sensitive", to_json(confidence.sensitive)},
          {"neutral", to_json(confidence.neutral)},
          {"all", to_json(confidence.all)},
          {"by_kind", std::move(by_kind)}}},
        {"ks",
         {{"statistic", or_null(both, confidence.ks.statistic)},
          {"p_value", or_null(both, confidence.ks.p_value)},
          {"log10_p", or_null(both, confidence.ks.log10_p)}}},
        {"mask",
         {{"confident_share", or_null(any, summary.mask.confident_share)},
          {"cuda_share", or_null(any, summary.mask.cuda_share)},
          {"supervised_share", or_null(any, summary.mask.supervised_share)},
          {"mean_mask", or_null(any, summary.mask.mean_mask)}}},
        {"difficulty", to_json(summary.difficulty, any)},
        {"weight", to_json(summary.weight, any)},
        {"low_confidence",
         {{"window", low.window},
          {"samples_share", or_null(low.windows > 0, low.samples_share)},
          {"windows_share", or_null(low.windows > 0, low.windows_share)},
          {"sensitive_share", or_null(low.low_windows > 0, low.sensitive_share)}}},
    };
}

} // namespace cuset::cli
