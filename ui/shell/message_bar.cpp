#include "ui/shell/message_bar.h"

#include <utility>

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>

#include "ui/editor/color_scale.h"

namespace cuset {
namespace {

constexpr int maxRows = 4;
constexpr int maxUnits = 2000;

} // namespace

class MessageBar::Row : public QFrame {
public:
    Row(MessageKind kind, const QString& text, QWidget* parent)
        : QFrame(parent)
        , kind_(kind)
        , label_(new QLabel(this))
        , icon_(new QLabel(this)) {
        label_->setTextFormat(Qt::PlainText);
        label_->setText(text.left(maxUnits));
        label_->setWordWrap(true);
        label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label_->setAccessibleName(kind == MessageKind::Error ? QObject::tr("Error")
                                                             : QObject::tr("Message"));
        const QStyle::StandardPixmap picture = kind == MessageKind::Error
            ? QStyle::SP_MessageBoxCritical
            : kind == MessageKind::Warning ? QStyle::SP_MessageBoxWarning
                                           : QStyle::SP_MessageBoxInformation;
        const int side = fontMetrics().height();
        icon_->setPixmap(
            style()->standardIcon(picture).pixmap(QSize(side, side), devicePixelRatioF()));
        close_ = new QToolButton(this);
        close_->setAutoRaise(true);
        close_->setText(QStringLiteral("\u2715"));
        close_->setAccessibleName(QObject::tr("Close this message"));
        close_->setToolTip(QObject::tr("Close this message"));
        auto* row = new QHBoxLayout(this);
        const int gap = fontMetrics().height() / 2;
        row->setContentsMargins(gap, gap / 2, gap / 2, gap / 2);
        row->setSpacing(gap);
        row->addWidget(icon_, 0, Qt::AlignTop);
        row->addWidget(label_, 1);
        row->addLayout(buttons_);
        buttons_->setSpacing(gap / 2);
        row->addWidget(close_, 0, Qt::AlignTop);
        setAutoFillBackground(true);
        applyTheme();
    }

    MessageKind kind() const { return kind_; }
    QString text() const { return label_->text(); }
    QToolButton* closeButton() const { return close_; }
    QPushButton* addButton(const QString& title) {
        auto* button = new QPushButton(title, this);
        buttons_->addWidget(button, 0, Qt::AlignTop);
        return button;
    }

    void applyTheme() {
        QPalette colors = parentWidget()->palette();
        const SeriesColors series = seriesColors(colors);
        const QColor tint = kind_ == MessageKind::Error ? series.warning
            : kind_ == MessageKind::Warning             ? series.sensitive
                                                        : series.neutral;
        colors.setColor(QPalette::Window, mixed(tint, colors.color(QPalette::Base), 0.16));
        colors.setColor(QPalette::WindowText, colors.color(QPalette::Text));
        setPalette(colors);
    }

private:
    MessageKind kind_;
    QLabel* label_;
    QLabel* icon_;
    QToolButton* close_;
    QHBoxLayout* buttons_ = new QHBoxLayout;
};

MessageBar::MessageBar(QWidget* parent)
    : QWidget(parent)
    , layout_(new QVBoxLayout(this)) {
    layout_->setContentsMargins(0, 0, 0, 0);
    layout_->setSpacing(1);
    setAccessibleName(tr("Messages"));
    setVisible(false);
}

void MessageBar::show(MessageKind kind, const QString& text) {
    add(kind, text);
}

void MessageBar::ask(MessageKind kind, const QString& text, const std::vector<Choice>& choices) {
    Row* row = add(kind, text);
    for (const Choice& choice : choices)
        connect(row->addButton(choice.text), &QPushButton::clicked, this, [this, row, choice] {
            remove(row);
            choice.run();
        });
}

MessageBar::Row* MessageBar::add(MessageKind kind, const QString& text) {
    const auto obsolete = [&](Row* row) {
        return row->text() == text
            || (kind == MessageKind::Information && row->kind() == MessageKind::Information);
    };
    const QList<Row*> rows = rows_;
    for (Row* row : rows)
        if (obsolete(row))
            remove(row);
    while (rows_.size() >= maxRows)
        remove(rows_.first());
    auto* row = new Row(kind, text, this);
    connect(row->closeButton(), &QToolButton::clicked, this, [this, row] { remove(row); });
    layout_->addWidget(row);
    rows_.append(row);
    setVisible(true);
    return row;
}

void MessageBar::remove(Row* row) {
    rows_.removeAll(row);
    row->hide();
    row->deleteLater();
    setVisible(!rows_.isEmpty());
}

void MessageBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        for (Row* row : std::as_const(rows_))
            row->applyTheme();
}

QStringList MessageBar::texts() const {
    QStringList all;
    for (const Row* row : rows_)
        all += row->text();
    return all;
}

void MessageBar::clear() {
    while (!rows_.isEmpty())
        remove(rows_.first());
}

} // namespace cuset
