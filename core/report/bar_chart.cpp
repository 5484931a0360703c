#include "core/report/bar_chart.h"

#include <algorithm>

#include "core/report/markup.h"

namespace cuset {
namespace {

using markup::escaped;

std::string bar(std::string_view css_class, double x, double y, double width) {
    return "<rect class=\"bar " + std::string(css_class) + "\" x=\"" + markup::number(x, 1)
        + "\" y=\"" + markup::number(y, 1) + "\" width=\"" + markup::number(width, 1)
        + "\" height=\"14\"/>";
}

} // namespace

std::string bar_chart(std::string_view label, const std::vector<BarRow>& rows, double most) {
    constexpr double left = 148, full = 210, pitch = 23;
    for (const BarRow& row : rows)
        most = std::max(most, row.value);
    std::string body;
    double y = 4;
    for (const BarRow& row : rows) {
        const double width = most > 0 ? full * std::max(0.0, row.value) / most : 0;
        const double part = most > 0 ? full * std::clamp(row.part, 0.0, row.value) / most : 0;
        const std::string baseline = markup::number(y + 12, 1);
        body += "<text class=\"tick\" text-anchor=\"end\" x=\"140\" y=\"" + baseline + "\">"
            + escaped(row.label) + "</text>" + bar("rest", left, y, width)
            + bar("sensitive", left, y, part) + "<text class=\"tick number\" x=\""
            + markup::number(left + width + 6, 1) + "\" y=\"" + baseline + "\">"
            + escaped(row.numbers) + "</text>";
        y += pitch;
    }
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"" + escaped(label)
        + "\" viewBox=\"0 0 560 " + markup::number(y + 2, 0) + "\">" + body + "</svg>\n";
}

} // namespace cuset
