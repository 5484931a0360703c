#include "ui/charts/chart_panel.h"

#include <algorithm>

#include <QContextMenuEvent>
#include <QFontMetricsF>
#include <QHelpEvent>
#include <QMenu>
#include <QPainter>
#include <QToolTip>

namespace cuset {

ChartPanel::ChartPanel(const QString& name, QWidget* parent)
    : QWidget(parent)
    , theme_(ChartTheme::fromPalette(palette()))
    , emptyText_(tr("Open samples and press Score")) {
    setAccessibleName(name);
    setAccessibleDescription(emptyText_);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ChartPanel::setEmptyText(const QString& text) {
    emptyText_ = text;
    if (isEmpty())
        setAccessibleDescription(text);
    update();
}

QString ChartPanel::fileBaseName() const {
    QString name = accessibleName().toLower();
    for (QChar& c : name)
        if (!c.isLetterOrNumber())
            c = u'-';
    return name;
}

QFont ChartPanel::labelFont() const {
    QFont small = font();
    if (small.pointSizeF() > 0)
        small.setPointSizeF(small.pointSizeF() * 0.9);
    else
        small.setPixelSize(std::max(1, small.pixelSize() * 9 / 10));
    return small;
}

double ChartPanel::em() const {
    return QFontMetricsF(labelFont()).height();
}

double ChartPanel::penWidth() const {
    return std::max(1.0, em() / 11);
}

QSize ChartPanel::sizeHint() const {
    return QSizeF(28 * em(), 13 * em()).toSize();
}

QSize ChartPanel::minimumSizeHint() const {
    return QSizeF(14 * em(), 9.5 * em()).toSize();
}

void ChartPanel::paintEmptyState(QPainter& painter, const QRectF& area) const {
    painter.fillRect(area, theme_.background);
    painter.setFont(font());
    painter.setPen(theme_.muted);
    painter.drawText(area.adjusted(em(), 0, -em(), 0), Qt::AlignCenter | Qt::TextWordWrap,
                     emptyText_);
}

void ChartPanel::showTooltip(const QPoint& global, const QPointF& position) {
    const QString text = isEmpty() ? QString() : tooltipAt(position);
    if (text.isEmpty()) {
        QToolTip::hideText();
        return;
    }
    // Escaped, since token texts are data and Qt would guess that some of them are markup.
    const QString escaped = text.toHtmlEscaped().replace(u'\n', QStringLiteral("<br>"));
    QToolTip::showText(global, QStringLiteral("<qt>") + escaped + QStringLiteral("</qt>"), this);
}

bool ChartPanel::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showTooltip(help->globalPos(), help->pos());
        return true;
    }
    return QWidget::event(event);
}

void ChartPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    switch (event->type()) {
    case QEvent::PaletteChange:
    case QEvent::FontChange:
    case QEvent::StyleChange:
        theme_ = ChartTheme::fromPalette(palette());
        updateGeometry();
        styleChanged();
        update();
        break;
    default:
        break;
    }
}

void ChartPanel::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    if (!isEmpty()) {
        addMenuActions(menu);
        if (!menu.isEmpty())
            menu.addSeparator();
    }
    addExportActions(menu, *this);
    menu.exec(event->globalPos());
}

} // namespace cuset
