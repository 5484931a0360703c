#include "chart_support.h"

#include <cmath>

#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>

namespace cuset::test {
namespace {

void send(QWidget* widget, QEvent::Type type, const QPointF& at, Qt::MouseButton button,
          Qt::MouseButtons held) {
    QMouseEvent event(type, at, widget->mapToGlobal(at), button, held, Qt::NoModifier);
    QApplication::sendEvent(widget, &event);
}

} // namespace

std::vector<float> hundredThousandPoints() {
    std::vector<float> values(100000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(0.9 + 0.05 * std::sin(static_cast<double>(i) / 500));
    values[61803] = 0.01f;
    return values;
}

Density bump(double peak, int points) {
    Density density;
    for (int i = 0; i < points; ++i) {
        const double x = static_cast<double>(i) / (points - 1);
        density.x.push_back(x);
        density.y.push_back(0.2 + 3 * std::exp(-20 * (x - peak) * (x - peak)));
    }
    return density;
}

QPalette darkPalette() {
    QPalette palette;
    palette.setColor(QPalette::Base, QColor(30, 30, 30));
    palette.setColor(QPalette::Window, QColor(45, 45, 45));
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(role, QColor(220, 220, 220));
    return palette;
}

QPalette lightPalette() {
    QPalette palette;
    palette.setColor(QPalette::Base, Qt::white);
    palette.setColor(QPalette::Window, QColor(240, 240, 240));
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(role, Qt::black);
    return palette;
}

QImage shown(QWidget& widget, const QSize& size) {
    widget.resize(size);
    widget.show();
    QApplication::processEvents();
    return widget.grab().toImage();
}

void press(QWidget* widget, const QPointF& at, Qt::MouseButton button) {
    send(widget, QEvent::MouseButtonPress, at, button, button);
}

void moveTo(QWidget* widget, const QPointF& at, Qt::MouseButtons held) {
    send(widget, QEvent::MouseMove, at, Qt::NoButton, held);
}

void release(QWidget* widget, const QPointF& at, Qt::MouseButton button) {
    send(widget, QEvent::MouseButtonRelease, at, button, Qt::NoButton);
}

void click(QWidget* widget, const QPointF& at) {
    press(widget, at);
    release(widget, at);
}

void drag(QWidget* widget, const QPointF& from, const QPointF& to) {
    press(widget, from);
    moveTo(widget, (from + to) / 2, Qt::LeftButton);
    moveTo(widget, to, Qt::LeftButton);
    release(widget, to);
}

void wheel(QWidget* widget, const QPointF& at, int notches, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(widget, &event);
}

} // namespace cuset::test
