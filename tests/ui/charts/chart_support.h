// What the chart tests share: made-up data, shown widgets, and mouse events at places of a plot.
#pragma once

#include <ctime>
#include <vector>

#include <QImage>
#include <QPalette>
#include <QWidget>

#include "core/analysis/statistics.h"

namespace cuset::test {

// PF1: 100,000 confidences 0.9 + 0.05 sin(i / 500), and 0.01 at 61803.
std::vector<float> hundredThousandPoints();

// A smooth made-up density at `points` places whose mass leans to `peak`.
Density bump(double peak, int points = 65);

QPalette darkPalette();
QPalette lightPalette();

// Resizes, shows and settles the widget; gives what it shows.
QImage shown(QWidget& widget, const QSize& size = {452, 190});

// Milliseconds of processor time since it was made: other programs on the machine do not count.
class CpuTimer {
public:
    double milliseconds() const {
        return 1000.0 * static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
    }

private:
    std::clock_t start_ = std::clock();
};

void press(QWidget* widget, const QPointF& at, Qt::MouseButton button = Qt::LeftButton);
void moveTo(QWidget* widget, const QPointF& at, Qt::MouseButtons held = Qt::NoButton);
void release(QWidget* widget, const QPointF& at, Qt::MouseButton button = Qt::LeftButton);
void click(QWidget* widget, const QPointF& at);
void drag(QWidget* widget, const QPointF& from, const QPointF& to);
void wheel(QWidget* widget, const QPointF& at, int notches,
           Qt::KeyboardModifiers modifiers = Qt::NoModifier);

} // namespace cuset::test
