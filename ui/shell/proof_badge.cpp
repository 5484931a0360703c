#include "ui/shell/proof_badge.h"

#include <QEvent>
#include <QFontMetrics>
#include <QHBoxLayout>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

QString difference(double value) {
    return QString::number(value, 'g', 2);
}

QString headline(const Verification& v) {
    // A sign beside the colour: neither is needed to tell the three apart.
    if (v.dtypes.empty())
        return QObject::tr("? Unproven");
    const DtypeDifference& d = v.dtypes.front();
    const QString number = QObject::tr("%1 in %2").arg(difference(d.largest), visibleText(d.dtype));
    switch (v.verdict) {
    case Verdict::proven:
        return QObject::tr("\u2713 Proven: %1").arg(number);
    case Verdict::unproven:
        return QObject::tr("? Unproven: %1").arg(number);
    case Verdict::failed:
        break;
    }
    return QObject::tr("\u2717 Failed: %1").arg(number);
}

QString details(const Verification& v) {
    QString text = visibleText(v.reason, 400);
    if (text.isEmpty())
        text = QObject::tr("Not compared yet.");
    for (const DtypeDifference& d : v.dtypes)
        text += QObject::tr("\n%1: largest difference of ln p %2, mean %3; of p %4, mean %5")
                    .arg(visibleText(d.dtype), difference(d.largest), difference(d.mean),
                         difference(d.largest_probability), difference(d.mean_probability));
    if (v.texts > 0)
        text += QObject::tr("\ntoken ids of %1 of %2 texts equal the reference's")
                    .arg(v.equal_texts)
                    .arg(v.texts);
    if (!v.reference.empty())
        text += QLatin1Char('\n') + visibleText(v.reference, 400);
    return text;
}

} // namespace

ProofBadge::ProofBadge(Workspace* workspace, QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , label_(new QLabel(this))
    , button_(new QPushButton(tr("Verify"), this)) {
    label_->setTextFormat(Qt::PlainText);
    label_->setWordWrap(true);
    label_->setAccessibleName(tr("Proof of the model's numbers"));
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label_->setAutoFillBackground(true);
    const int gap = fontMetrics().height() / 4;
    label_->setContentsMargins(gap, gap, gap, gap);
    button_->setToolTip(plainToolTip(
        tr("Compares the model's log-probabilities with its reference, cuset-reference.json beside "
           "the weights. packaging/make_reference.py makes one with transformers.")));
    button_->setEnabled(false);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(label_, 1);
    row->addWidget(button_, 0, Qt::AlignTop);
    connect(button_, &QPushButton::clicked, this, &ProofBadge::verifyRequested);
    connect(workspace_, &Workspace::verificationChanged, this, &ProofBadge::refresh);
    connect(workspace_, &Workspace::modelChanged, this, &ProofBadge::refresh);
    refresh();
}

void ProofBadge::refresh() {
    setVisible(workspace_->model().has_value());
    const Verification v = workspace_->verification().value_or(Verification{});
    label_->setText(headline(v));
    label_->setToolTip(plainToolTip(details(v)));
    label_->setAccessibleDescription(details(v));
    QPalette colors = palette();
    const SeriesColors series = seriesColors(colors);
    const QColor tint = v.verdict == Verdict::proven ? series.neutral
        : v.verdict == Verdict::failed               ? series.warning
                                                     : colors.color(QPalette::Mid);
    colors.setColor(QPalette::Window, mixed(tint, colors.color(QPalette::Base), 0.2));
    colors.setColor(QPalette::WindowText, colors.color(QPalette::Text));
    label_->setPalette(colors);
}

void ProofBadge::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && label_)
        refresh();
}

} // namespace cuset
