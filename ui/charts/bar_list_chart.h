// BarListChart: rows of horizontal bars on one scale, each with its name, its numbers and a part
// in the colour of sensitive tokens. A click picks a row.
#pragma once

#include <vector>

#include "ui/charts/chart_panel.h"

namespace cuset {

struct BarRowItem {
    QString label;
    double value = 0; // >= 0; what is not finite has no bar
    double part = 0; // of value, [0, value]
    QString numbers; // beside the bar
    QString explanation; // tooltip
    bool heading = false; // the label alone, above the rows that follow
    std::vector<double> figures = {}; // of the exported table's row
};

class BarListChart : public ChartPanel {
    Q_OBJECT

public:
    explicit BarListChart(const QString& name, QWidget* parent = nullptr);

    // `most`: the end of the scale; 0 for the largest value. `columns` name the table's figures.
    void setRows(std::vector<BarRowItem> rows, double most, const QStringList& columns);
    void clear() { setRows({}, 0, {}); }
    // What the darker part is, in the legend; "" for none.
    void setPartName(const QString& name);
    void setPickable(bool pickable) { pickable_ = pickable; }
    // The row that stands for the present choice; -1 for none.
    void setCurrent(int row);
    int current() const { return current_; }
    QRectF rowRect(int row) const;

    bool isEmpty() const override { return rows_.empty(); }
    ChartTable table() const override;
    void paintChart(QPainter& painter) const override;
    QSize minimumSizeHint() const override;

signals:
    void rowClicked(int row);

protected:
    void styleChanged() override { update(); }
    QString tooltipAt(const QPointF& position) const override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    int rowAt(const QPointF& position) const; // -1 for none and headings
    double labelWidth() const;
    double numbersWidth() const;
    double rowHeight() const;
    void paintRow(QPainter& painter, int row) const;
    void pick(int row);

    std::vector<BarRowItem> rows_;
    QStringList columns_;
    QString partName_;
    double most_ = 1;
    int current_ = -1;
    bool pickable_ = false;
};

} // namespace cuset
