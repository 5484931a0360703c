// HeatRuler: the whole sample as a strip beside the code: a colour a line, the visible part, the
// selected token and the lowest window. A click scrolls there.
#pragma once

#include <vector>

#include <QColor>
#include <QWidget>

namespace cuset {

class HeatRuler : public QWidget {
    Q_OBJECT
public:
    explicit HeatRuler(QWidget* parent = nullptr);

    struct Line {
        QColor color; // invalid: nothing to show
        float salience = 0; // of several lines in one row of pixels, the most salient one is seen
        bool kernel = false;
        friend bool operator==(const Line&, const Line&) = default;
    };
    void setLines(std::vector<Line> lines);
    void setVisibleLines(int first, int count);
    void setSelectedLine(int line); // -1: none
    void setLowestWindow(int firstLine, int lastLine); // -1, -1: none

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void lineClicked(int line);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    qreal yOfLine(int line) const;
    int lineAt(qreal y) const;

    std::vector<Line> lines_;
    int firstVisible_ = 0;
    int visibleCount_ = 0;
    int selectedLine_ = -1;
    int lowestFirst_ = -1;
    int lowestLast_ = -1;
};

} // namespace cuset
