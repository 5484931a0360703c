// PlotPanel: a chart with two axes on Qt Charts. Qt Charts draws the curves; axes, grid, header and
// marks are painted here, because its own axes elide their labels and waste room in charts as small
// as a dock's.
#pragma once

#include <vector>

#include "ui/charts/axis_ticks.h"
#include "ui/charts/chart_header.h"
#include "ui/charts/chart_panel.h"

class QAbstractSeries;
class QChart;
class QLineSeries;
class QVBoxLayout;
class QValueAxis;

namespace cuset {

class PlotView;

// One axis. With `log`, the axis holds log10 of its values.
struct PlotAxis {
    QString title; // with its unit
    bool whole = false;
    bool log = false;
    std::vector<AxisTick> fixedTicks{}; // used instead of round places if not empty
};

class PlotPanel : public ChartPanel {
    Q_OBJECT

public:
    explicit PlotPanel(const QString& name, QWidget* parent = nullptr);

    void paintChart(QPainter& painter) const override;
    QSize chartSize() const override;

    // Where a pair of axis values is drawn, in the coordinates of plotWidget(); and back.
    QPointF toPosition(double x, double y) const;
    QPointF toValues(const QPointF& position) const;
    QRectF plotRect() const { return plot_; }
    QWidget* plotWidget() const;

    double visibleFrom() const { return from_; }
    double visibleTo() const { return to_; }
    // Shows [from, to] of the x axis, kept within the data and no narrower than the narrowest view.
    void showRange(double from, double to);
    void resetZoom();

protected:
    void setAxes(const PlotAxis& x, const PlotAxis& y);
    const PlotAxis& xAxis() const { return xAxis_; }
    // The whole range of the data; resets the zoom if it changed, unless `keepZoom`.
    void setXRange(double low, double high, double narrowest, bool keepZoom = false);
    void setYRange(double low, double high);
    void setZoomable(bool zoomable) { zoomable_ = zoomable; }
    void setHeader(std::vector<HeaderItem> items);
    // A row of controls above the plot; not part of exports.
    void addControls(QWidget* controls);
    // The chart owns the series from here on.
    void attachSeries(QAbstractSeries* series);
    void removeSeries(QAbstractSeries* series); // deletes it
    QLineSeries* addLine();
    // Device pixels across the plot: the number of columns to decimate to.
    int columns() const;
    // Fits the margins to the labels and fills the series again.
    void rebuild();
    // Paints what lies in front of the curves again; what is behind them takes rebuild().
    void repaintPlot();

    // Fills the series for the visible range, and may set the y range.
    virtual void fillSeries() = 0;
    virtual void paintBehind(QPainter&) const { }
    virtual void paintFront(QPainter&) const { }
    // Mouse over the plot; positions as in toPosition. pressed() returns true to keep the drag for
    // itself.
    virtual bool pressed(const QPointF&) { return false; }
    virtual void dragged(const QPointF&) { }
    virtual void released(const QPointF&) { }
    virtual void clicked(const QPointF&) { }
    virtual void hovered(const QPointF&) { }
    virtual void hoverEnded() { }

    // A text on a plate of the background colour, kept inside the plot.
    QRectF placeLabel(const QString& text, const QPointF& anchor, Qt::Alignment side) const;
    void paintLabel(QPainter& painter, const QRectF& place, const QString& text,
                    const QColor& color) const;

    void styleChanged() override { rebuild(); }
    void addMenuActions(QMenu& menu) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    friend class PlotView;
    void layoutPlot();
    std::vector<AxisTick> xTicks() const;
    std::vector<AxisTick> yTicks() const;
    void paintGround(QPainter& painter) const;
    void paintAxes(QPainter& painter) const;
    void zoomAbout(double x, double factor);
    bool isZoomed() const { return from_ > low_ || to_ < high_; }

    QVBoxLayout* layout_;
    PlotView* view_;
    QChart* chart_;
    QValueAxis* chartX_;
    QValueAxis* chartY_;
    PlotAxis xAxis_, yAxis_;
    std::vector<HeaderItem> header_;
    QRectF plot_;
    double low_ = 0, high_ = 1, narrowest_ = 1;
    double from_ = 0, to_ = 1, bottom_ = 0, top_ = 1;
    bool zoomable_ = false;
};

} // namespace cuset
