// WindowChart: the sliding-window mean confidence of one sample over its tokens (Eq. 6), with the
// corpus' mean neutral confidence, the windows below it shaded, and the smallest (Eq. 7) marked.
#pragma once

#include <vector>

#include "ui/charts/plot_panel.h"

namespace cuset {

class WindowChart : public PlotPanel {
    Q_OBJECT

public:
    explicit WindowChart(QWidget* parent = nullptr);

    // `means` [T] in [0, 1], one per token; NaN values are not drawn. `neutralMean`: NaN if there
    // is none. `minimumAt`: the token of the smallest mean, -1 if there is none. `after` [T]: the
    // same windows in other scores, a second curve; empty for none. The zoom is kept while T stays
    // the same.
    void setWindowMeans(std::vector<float> means, double neutralMean, int windowLength,
                        int minimumAt, std::vector<float> after = {});
    void clear();
    // Tokens that are picked out: ticks along the top of the plot, in order.
    void setPickedTokens(std::vector<int> tokens, const QColor& color);
    // Marks a token with a vertical line; -1 for none. Scrolls a zoomed view to it.
    void setMarkedToken(int token);
    int markedToken() const { return marked_; }
    // The token at a place of plotWidget(): where several share a pixel column, the one with the
    // smallest mean. -1 outside the plot.
    int tokenAt(const QPointF& position) const;

    bool isEmpty() const override { return means_.empty(); }
    ChartTable table() const override;

signals:
    void tokenClicked(int token);
    void tokenHovered(int token); // -1 when the pointer leaves

protected:
    void fillSeries() override;
    void paintBehind(QPainter& painter) const override;
    void paintFront(QPainter& painter) const override;
    void clicked(const QPointF& position) override;
    void hovered(const QPointF& position) override;
    void hoverEnded() override;
    QString tooltipAt(const QPointF& position) const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    bool hasNeutral() const;
    bool isLow(float mean) const;
    void updateTexts();
    void setHovered(int token);
    void paintMark(QPainter& painter, int token, bool strong) const;
    void paintMinimum(QPainter& painter) const;
    void paintPicked(QPainter& painter) const;

    std::vector<float> means_;
    double neutralMean_ = 0;
    int windowLength_ = 0;
    int minimumAt_ = -1;
    int marked_ = -1;
    int hovered_ = -1;
    std::vector<int> picked_;
    QColor pickedColor_;
    std::int64_t lowCount_ = 0;
    std::vector<QPointF> drawn_; // the decimated curve: token, mean
    QLineSeries* line_;
    std::vector<float> after_;
    QLineSeries* afterLine_;
};

} // namespace cuset
