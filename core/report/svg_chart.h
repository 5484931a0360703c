// An x-y chart as inline SVG: no script, no style attribute; classes of the report's stylesheet
// give the colours, so that it follows the light or dark page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuset {

struct ChartPoint {
    double x = 0, y = 0;
};

struct ChartAxis {
    double low = 0, high = 1;
    std::string title = {};
    bool logarithmic = false; // low > 0
    std::vector<double> ticks = {}; // empty: about five round ones
    int digits = -1; // after the point in tick labels; -1: as many as the ticks need
};

// About `count` round numbers in [low, high].
std::vector<double> round_ticks(double low, double high, int count);

// Class names are ours and titles are escaped here. Values outside the axes are drawn at the edge.
class SvgChart {
public:
    // `label` is what a screen reader says.
    SvgChart(std::string_view label, ChartAxis x, ChartAxis y, int width = 560, int height = 250);

    void line(const std::vector<ChartPoint>& points, std::string_view css_class);
    void area(const std::vector<ChartPoint>& points, std::string_view css_class); // down to y's low
    void vertical(double x, std::string_view css_class, std::string_view title);
    void horizontal(double y, std::string_view css_class, std::string_view title);
    void band(double x_begin, double x_end, std::string_view css_class);
    void bar(double x_begin, double x_end, double y, std::string_view css_class,
             std::string_view title);
    void segment(ChartPoint from, ChartPoint to, std::string_view css_class);
    void mark(ChartPoint at, std::string_view css_class, std::string_view title);
    // Text beside a point, kept inside the chart.
    void note(ChartPoint at, std::string_view text, std::string_view css_class);
    // Labels below the x axis, turned upright; instead of ticks. It makes room for them: call it
    // first.
    void x_labels(const std::vector<ChartPoint>& places, const std::vector<std::string>& labels);

    std::string markup() const;

private:
    double x_of(double value) const;
    double y_of(double value) const;
    std::string path_of(const std::vector<ChartPoint>& points) const;
    std::string axes() const;

    std::string label_;
    ChartAxis x_, y_;
    int width_, height_;
    int left_ = 52, right_ = 18, top_ = 14, bottom_ = 42;
    bool own_labels_ = false;
    std::string body_;
};

} // namespace cuset
