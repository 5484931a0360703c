#include "ui/shell/studio_style.h"

#include <QPainter>
#include <QStyleOption>

#include "ui/editor/color_scale.h"

namespace cuset {

StudioStyle::StudioStyle()
    : QProxyStyle(QStringLiteral("Fusion")) { }

void StudioStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                                QPainter* painter, const QWidget* widget) const {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool box = element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
    if ((!box && element != PE_IndicatorRadioButton) || !isDark(option->palette))
        return;
    const bool enabled = option->state & State_Enabled;
    const QColor paper = option->palette.color(QPalette::Window);
    // 3:1 is what WCAG 2.1 asks of a control's outline.
    const QColor line = readableOn(mixed(option->palette.color(QPalette::WindowText), paper, 0.5),
                                   paper, enabled ? 3.2 : 1.8);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(line, 1.2));
    const QRectF frame = QRectF(option->rect).adjusted(0.6, 0.6, -0.6, -0.6);
    box ? painter->drawRoundedRect(frame, 2, 2) : painter->drawEllipse(frame);
    painter->restore();
}

} // namespace cuset
