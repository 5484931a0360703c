#include "core/report/svg_chart.h"

#include <algorithm>
#include <cmath>

#include "core/report/markup.h"

namespace cuset {
namespace {

using markup::escaped;

std::string place(double value) {
    return markup::number(value, 1);
}

std::string attribute(std::string_view name, double value) {
    return ' ' + std::string(name) + "=\"" + place(value) + '"';
}

std::string class_of(std::string_view css_class) {
    return " class=\"" + std::string(css_class) + '"';
}

std::string titled(const std::string& element, std::string_view name, std::string_view title) {
    if (title.empty())
        return element + "/>";
    return element + "><title>" + escaped(title) + "</title></" + std::string(name) + '>';
}

int digits_for(const std::vector<double>& ticks) {
    for (int digits = 0; digits < 6; ++digits) {
        const double scale = std::pow(10, digits);
        if (std::all_of(ticks.begin(), ticks.end(), [scale](double tick) {
                return std::abs(tick * scale - std::round(tick * scale)) < 1e-6;
            }))
            return digits;
    }
    return 6;
}

} // namespace

std::vector<double> round_ticks(double low, double high, int count) {
    std::vector<double> ticks;
    if (!(high > low) || count < 1)
        return ticks;
    const double rough = (high - low) / count;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0})
        if (step < rough * 0.999)
            step = power * factor;
    for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-6; ++k)
        ticks.push_back(k * step);
    return ticks;
}

SvgChart::SvgChart(std::string_view label, ChartAxis x, ChartAxis y, int width, int height)
    : label_(label)
    , x_(std::move(x))
    , y_(std::move(y))
    , width_(width)
    , height_(height) {
    for (ChartAxis* axis : {&x_, &y_}) {
        if (!(axis->high > axis->low))
            axis->high = axis->low + 1;
        if (axis->ticks.empty())
            axis->ticks = round_ticks(axis->low, axis->high, 5);
        if (axis->digits < 0)
            axis->digits = digits_for(axis->ticks);
    }
}

double SvgChart::x_of(double value) const {
    const auto scaled = [this](double v) { return x_.logarithmic ? std::log(v) : v; };
    const double inside = std::clamp(value, x_.low, x_.high);
    const double share = (scaled(inside) - scaled(x_.low)) / (scaled(x_.high) - scaled(x_.low));
    return left_ + share * (width_ - left_ - right_);
}

double SvgChart::y_of(double value) const {
    const double share = (std::clamp(value, y_.low, y_.high) - y_.low) / (y_.high - y_.low);
    return height_ - bottom_ - share * (height_ - top_ - bottom_);
}

std::string SvgChart::path_of(const std::vector<ChartPoint>& points) const {
    std::string path;
    for (const ChartPoint& point : points)
        path += (path.empty() ? "M" : "L") + place(x_of(point.x)) + ' ' + place(y_of(point.y));
    return path;
}

void SvgChart::line(const std::vector<ChartPoint>& points, std::string_view css_class) {
    if (!points.empty())
        body_ += "<path" + class_of("line " + std::string(css_class)) + " d=\"" + path_of(points)
            + "\"/>";
}

void SvgChart::area(const std::vector<ChartPoint>& points, std::string_view css_class) {
    if (points.empty())
        return;
    body_ += "<path" + class_of("area " + std::string(css_class)) + " d=\"" + path_of(points) + 'L'
        + place(x_of(points.back().x)) + ' ' + place(y_of(y_.low)) + 'L'
        + place(x_of(points.front().x)) + ' ' + place(y_of(y_.low)) + "Z\"/>";
}

void SvgChart::vertical(double x, std::string_view css_class, std::string_view title) {
    const double at = x_of(x);
    body_ += titled("<line" + class_of("rule " + std::string(css_class)) + attribute("x1", at)
                        + attribute("x2", at) + attribute("y1", top_)
                        + attribute("y2", height_ - bottom_),
                    "line", title);
}

void SvgChart::horizontal(double y, std::string_view css_class, std::string_view title) {
    const double at = y_of(y);
    body_ +=
        titled("<line" + class_of("rule " + std::string(css_class)) + attribute("x1", left_)
                   + attribute("x2", width_ - right_) + attribute("y1", at) + attribute("y2", at),
               "line", title);
}

void SvgChart::band(double x_begin, double x_end, std::string_view css_class) {
    const double begin = x_of(x_begin);
    body_ += "<rect" + class_of("band " + std::string(css_class)) + attribute("x", begin)
        + attribute("y", top_) + attribute("width", std::max(0.5, x_of(x_end) - begin))
        + attribute("height", height_ - top_ - bottom_) + "/>";
}

void SvgChart::bar(double x_begin, double x_end, double y, std::string_view css_class,
                   std::string_view title) {
    const double begin = x_of(x_begin), top = y_of(y);
    body_ +=
        titled("<rect" + class_of("bar " + std::string(css_class)) + attribute("x", begin)
                   + attribute("y", top) + attribute("width", std::max(0.5, x_of(x_end) - begin))
                   + attribute("height", std::max(0.5, y_of(y_.low) - top)),
               "rect", title);
}

void SvgChart::segment(ChartPoint from, ChartPoint to, std::string_view css_class) {
    body_ += "<line" + class_of("rule " + std::string(css_class)) + attribute("x1", x_of(from.x))
        + attribute("x2", x_of(to.x)) + attribute("y1", y_of(from.y)) + attribute("y2", y_of(to.y))
        + "/>";
}

void SvgChart::mark(ChartPoint at, std::string_view css_class, std::string_view title) {
    body_ += titled("<circle" + class_of("mark " + std::string(css_class))
                        + attribute("cx", x_of(at.x)) + attribute("cy", y_of(at.y)) + " r=\"4.5\"",
                    "circle", title);
}

void SvgChart::note(ChartPoint at, std::string_view text, std::string_view css_class) {
    const double x = x_of(at.x);
    const bool at_right = x > width_ * 0.6;
    const double y = std::clamp(y_of(at.y), top_ + 10.0, height_ - bottom_ - 4.0);
    body_ += "<text" + class_of("note " + std::string(css_class))
        + attribute("x", at_right ? x - 7 : x + 7) + attribute("y", y)
        + (at_right ? " text-anchor=\"end\"" : "") + '>' + escaped(text) + "</text>";
}

void SvgChart::x_labels(const std::vector<ChartPoint>& places,
                        const std::vector<std::string>& labels) {
    own_labels_ = true;
    bottom_ = 104;
    for (std::size_t i = 0; i < std::min(places.size(), labels.size()); ++i) {
        const std::string x = place(x_of(places[i].x) + 3), y = place(height_ - bottom_ + 8);
        body_ += "<text class=\"upright\" text-anchor=\"end\" transform=\"translate(" + x + ' ' + y
            + ") rotate(-90)\">" + escaped(labels[i], 40) + "</text>";
    }
}

std::string SvgChart::axes() const {
    std::string out;
    for (const double tick : y_.ticks) {
        const double y = y_of(tick);
        out += "<line class=\"grid\"" + attribute("x1", left_) + attribute("x2", width_ - right_)
            + attribute("y1", y) + attribute("y2", y) + "/><text class=\"tick\" text-anchor=\"end\""
            + attribute("x", left_ - 6) + attribute("y", y + 4) + '>'
            + markup::number(tick, y_.digits) + "</text>";
    }
    const double base = height_ - bottom_;
    if (!own_labels_)
        for (const double tick : x_.ticks)
            out += "<line class=\"axis\"" + attribute("x1", x_of(tick))
                + attribute("x2", x_of(tick)) + attribute("y1", base) + attribute("y2", base + 4)
                + "/><text class=\"tick\" text-anchor=\"middle\"" + attribute("x", x_of(tick))
                + attribute("y", base + 17) + '>' + markup::number(tick, x_.digits) + "</text>";
    out += "<line class=\"axis\"" + attribute("x1", left_) + attribute("x2", width_ - right_)
        + attribute("y1", base) + attribute("y2", base) + "/>";
    out += "<text class=\"title\" text-anchor=\"middle\""
        + attribute("x", (left_ + width_ - right_) / 2.0) + attribute("y", height_ - 6.0) + '>'
        + escaped(x_.title) + "</text>";
    out += "<text class=\"title\" text-anchor=\"middle\" transform=\"translate(13 "
        + place((top_ + base) / 2) + ") rotate(-90)\">" + escaped(y_.title) + "</text>";
    return out;
}

std::string SvgChart::markup() const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"" + escaped(label_)
        + "\" viewBox=\"0 0 " + std::to_string(width_) + ' ' + std::to_string(height_) + "\">"
        + axes() + body_ + "</svg>\n";
}

} // namespace cuset
