#include "ui/editor/kind_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>

#include "ui/editor/color_scale.h"

namespace cuset {

KindBar::KindBar(QWidget* parent)
    : QWidget(parent) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* label = new QLabel(tr("Regions "), this);
    layout->addWidget(label);
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        auto* button = new QToolButton(this);
        button->setCheckable(true);
        button->setChecked(true);
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::TabFocus);
        button->setText(QString(kindSign(static_cast<SensitiveKind>(kind))));
        button->setAccessibleName(
            tr("Underline %1").arg(kindTitle(static_cast<SensitiveKind>(kind))));
        connect(button, &QToolButton::toggled, this,
                [this] { emit shownKindsChanged(shownKinds()); });
        layout->addWidget(button);
        buttons_[static_cast<std::size_t>(kind)] = button;
    }
    setCounts({});
    applyTheme();
}

LabelBits KindBar::shownKinds() const {
    LabelBits kinds = 0;
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (buttons_[static_cast<std::size_t>(kind)]->isChecked())
            kinds = static_cast<LabelBits>(kinds | kind_bit(static_cast<SensitiveKind>(kind)));
    return kinds;
}

void KindBar::setShownKinds(LabelBits kinds) {
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        buttons_[static_cast<std::size_t>(kind)]->setChecked(
            kinds & kind_bit(static_cast<SensitiveKind>(kind)));
}

void KindBar::setCounts(const std::array<int, sensitive_kind_count>& counts) {
    for (std::size_t kind = 0; kind < buttons_.size(); ++kind)
        buttons_[kind]->setToolTip(
            tr("%1: %n in this sample. Click to show or hide its underlines.", nullptr,
               counts[kind])
                .arg(kindTitle(static_cast<SensitiveKind>(kind))));
}

void KindBar::applyTheme() {
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        QToolButton* button = buttons_[static_cast<std::size_t>(kind)];
        QPalette colors = button->palette();
        const QColor color = readableOn(kindColor(static_cast<SensitiveKind>(kind), palette()),
                                        palette().color(QPalette::Window));
        colors.setColor(QPalette::ButtonText, color);
        colors.setColor(QPalette::WindowText, color);
        button->setPalette(colors);
        QFont bold = font();
        bold.setBold(true);
        button->setFont(bold);
    }
}

void KindBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && buttons_.back())
        applyTheme();
}

} // namespace cuset
