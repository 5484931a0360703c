// The one line above a chart: the title of its y axis on the left, the names of its curves on the
// right.
#pragma once

#include <optional>
#include <vector>

#include <QColor>
#include <QFont>
#include <QRectF>
#include <QString>

class QPainter;

namespace cuset {

// A text, and a sample of what it names: a line or a bar; text only if neither is set.
struct HeaderItem {
    enum class Bar { none, plain, hatched };
    QString text;
    QColor color;
    std::optional<Qt::PenStyle> line{};
    Bar bar = Bar::none;
};

// The height the header takes for a font.
double headerHeight(const QFont& font);

// Paints into the top of `area`. Texts are elided where room is short, the title first: nothing
// else names the curves.
void paintHeader(QPainter& painter, const QRectF& area, const QFont& font, double penWidth,
                 const QString& title, const QColor& titleColor,
                 const std::vector<HeaderItem>& items);

// Slanted lines inside `area`, drawn as lines since pattern brushes are lost in SVG files.
void paintHatch(QPainter& painter, const QRectF& area, const QColor& color, double spacing,
                double penWidth);

} // namespace cuset
