// StudioStyle: Fusion, with check boxes and radio buttons that can be seen in dark palettes. Fusion
// frames them in a shade darker than the window, which is lost there.
#pragma once

#include <QProxyStyle>

namespace cuset {

class StudioStyle : public QProxyStyle {
    Q_OBJECT
public:
    StudioStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
};

} // namespace cuset
