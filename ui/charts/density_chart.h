// DensityChart: the confidences of CUDA-sensitive and of neutral tokens as two densities, their
// means, the two-sample Kolmogorov-Smirnov test, and tau as a line that can be dragged.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/statistics.h"
#include "ui/charts/plot_panel.h"

class QAreaSeries;

namespace cuset {

class DensityChart : public PlotPanel {
    Q_OBJECT

public:
    explicit DensityChart(QWidget* parent = nullptr);

    void setDensities(const Density& sensitive, const Density& neutral,
                      const Moments& sensitiveMoments, const Moments& neutralMoments,
                      const KsTest& ks);
    // Counts in equal bins of [0, 1], for the histogram; without them only the kernel densities are
    // offered.
    void setHistograms(const std::vector<std::int64_t>& sensitive,
                       const std::vector<std::int64_t>& neutral);
    void clear();
    // A third curve: tokens that are picked out; an empty density for none.
    void setPicked(const Density& density, const QString& name, const QColor& color);
    // The same tokens in other scores: dotted outlines of both groups, and their means. Empty
    // densities for none.
    void setAfter(const Density& sensitive, const Density& neutral, const Moments& sensitiveMoments,
                  const Moments& neutralMoments);
    bool hasAfter() const { return !afterSensitive_.x.empty() || !afterNeutral_.x.empty(); }
    // tau in [0, 1]; other values are clamped, NaN is ignored.
    void setTau(double tau);
    double tau() const { return tau_; }
    void setLogAxis(bool log);
    bool logAxis() const { return log_; }
    void setHistogramShown(bool shown);
    bool histogramShown() const { return histogramShown_ && !histogramSensitive_.x.empty(); }

    bool isEmpty() const override;
    ChartTable table() const override;

signals:
    void tauDragged(double tau); // at every step of a drag or key
    void tauDragFinished(double tau); // once at its end; Escape during a drag gives the old value

protected:
    void fillSeries() override;
    void paintFront(QPainter& painter) const override;
    bool pressed(const QPointF& position) override;
    void dragged(const QPointF& position) override;
    void released(const QPointF& position) override;
    void hovered(const QPointF& position) override;
    QString tooltipAt(const QPointF& position) const override;
    void addMenuActions(QMenu& menu) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Curve {
        QAreaSeries* area = nullptr;
        QLineSeries* top = nullptr;
        QLineSeries* floor = nullptr;
        QLineSeries* outline = nullptr; // of the top alone, without the sides of the area
    };
    Curve makeCurve();
    void fillOutline(QLineSeries* line, const Density& density, double floor,
                     const QColor& color) const;
    void fillCurve(const Curve& curve, const Density& density, double floor, const QColor& color,
                   Qt::PenStyle style) const;
    const Density& shownSensitive() const;
    const Density& shownNeutral() const;
    double axisValue(double density, double floor) const;
    void updateTexts();
    bool isOnTau(const QPointF& position) const;
    void moveTau(double tau);
    void finishDrag();
    void paintMean(QPainter& painter, const Moments& moments, const QColor& color,
                   Qt::PenStyle style) const;
    void paintMeanLabels(QPainter& painter) const;
    void paintTau(QPainter& painter) const;

    Density sensitive_, neutral_, histogramSensitive_, histogramNeutral_;
    Moments sensitiveMoments_, neutralMoments_;
    KsTest ks_;
    Density picked_;
    Density afterSensitive_, afterNeutral_;
    Moments afterSensitiveMoments_, afterNeutralMoments_;
    QString pickedName_;
    QColor pickedColor_;
    Curve sensitiveCurve_, neutralCurve_, pickedCurve_;
    QLineSeries* afterSensitiveLine_;
    QLineSeries* afterNeutralLine_;
    double tau_ = 0.1, tauBefore_ = 0.1;
    bool dragging_ = false, keying_ = false;
    bool log_ = false, histogramShown_ = false;
};

} // namespace cuset
