// TokenBarChart: the confidence of each token of a window as a bar, labelled with the token's text.
// Painted by hand: QBarSeries lays out hundreds of labelled bars too slowly and cannot scroll.
#pragma once

#include <limits>
#include <vector>

#include "ui/charts/chart_panel.h"

class QScrollBar;

namespace cuset {

struct TokenBar {
    QString label; // the token's text as it stands; control characters are made visible here
    float confidence = 0; // [0, 1]; NaN is drawn as a gap
    quint16 labels = 0; // LabelBits
    int token = 0; // what the signals give back
    float compared = std::numeric_limits<float>::quiet_NaN(); // in other scores: a mark on the bar
};

// Blanks, line ends, control and bidi characters as visible signs; "∅" for an empty text.
QString visibleTokenText(const QString& text);

class TokenBarChart : public ChartPanel {
    Q_OBJECT

public:
    explicit TokenBarChart(QWidget* parent = nullptr);

    // `mean`: NaN for no line.
    void setTokens(std::vector<TokenBar> tokens, double mean);
    void clear() { setTokens({}, 0); }
    // Marks the bar of a token and scrolls to it; -1 for none.
    void setMarkedToken(int token);
    // Bars without one of these label bits step back; 0 for none.
    void setPickedLabels(quint16 labels);
    // Shows every bar at once, as far as one fits a pixel; labels give way.
    void fitAll();
    // Bars wide enough for their labels.
    void fitLabels();

    // The index of the bar at a place, -1 for none; and the rectangle of its column.
    int barAt(const QPointF& position) const;
    QRectF columnOf(int bar) const;

    bool isEmpty() const override { return bars_.empty(); }
    ChartTable table() const override;
    void paintChart(QPainter& painter) const override;
    QSize chartSize() const override;

signals:
    void tokenClicked(int token);
    void tokenHovered(int token); // -1 when the pointer leaves

protected:
    void styleChanged() override { layoutBars(); }
    QString tooltipAt(const QPointF& position) const override;
    void addMenuActions(QMenu& menu) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void layoutBars();
    void setSlot(double width, double anchor);
    double labelledSlot() const;
    double narrowestSlot() const;
    void setHovered(int bar);
    void markBar(int bar);
    void paintAxis(QPainter& painter) const;
    void paintBar(QPainter& painter, int bar) const;
    void paintLabel(QPainter& painter, int bar) const;
    void paintMeanAndHeader(QPainter& painter) const;
    double yOf(double confidence) const;

    std::vector<TokenBar> bars_;
    std::vector<QString> shown_; // visible texts of the bars
    double mean_ = 0;
    QScrollBar* scroll_;
    QRectF plot_;
    double slot_ = 1; // width of a bar's column
    double labelHeight_ = 0; // 0: no labels
    bool upright_ = false; // labels are written upwards
    int marked_ = -1, hovered_ = -1;
    quint16 picked_ = 0;
    enum class Fit { labels, all, own } fit_ = Fit::labels;
};

} // namespace cuset
