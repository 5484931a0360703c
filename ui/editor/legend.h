// Legend: what the token colours mean, with numbers.
#pragma once

#include <functional>
#include <vector>

#include <QString>
#include <QWidget>

#include "ui/editor/color_scale.h"

namespace cuset {

class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget* parent = nullptr);

    struct Tick {
        double value;
        QString label;
        friend bool operator==(const Tick&, const Tick&) = default;
    };
    struct Swatch {
        QColor color;
        QString label;
        friend bool operator==(const Swatch&, const Swatch&) = default;
    };
    // A gradient over the scale's range with ticks, and the unit beside it.
    void showScale(const ColorScale& scale, const QString& unit, const std::vector<Tick>& ticks);
    // The values of a quantity that has few.
    void showSwatches(const std::vector<Swatch>& swatches);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintScale(QPainter& painter);
    void paintSwatches(QPainter& painter);

    ColorScale scale_;
    QString unit_;
    std::vector<Tick> ticks_;
    std::vector<Swatch> swatches_;
};

} // namespace cuset
