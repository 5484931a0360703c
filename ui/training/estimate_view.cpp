#include "ui/training/estimate_view.h"

#include <QLocale>
#include <QPainter>
#include <QVBoxLayout>

#include "core/base/message.h"
#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"
#include "ui/training/run_table_model.h"

namespace cuset {
namespace {

QString bytes(std::uint64_t count) {
    return QString::fromStdString(format_bytes(count));
}

QString number(std::int64_t count) {
    return QLocale().toString(static_cast<qlonglong>(count));
}

// Free memory as a bar, and on it what is needed from low to high, expected as a line.
class MemoryBar : public QWidget {
public:
    MemoryBar(const DeviceEstimate& device, QWidget* parent)
        : QWidget(parent)
        , device_(device) {
        setMinimumHeight(fontMetrics().height());
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        setAccessibleName(EstimateView::tr("Memory on %1").arg(visibleText(device.device, 40)));
    }
    QSize sizeHint() const override { return {fontMetrics().height() * 8, fontMetrics().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const SeriesColors colors = seriesColors(palette());
        const double most = static_cast<double>(std::max(device_.free_bytes, device_.high)) * 1.05;
        const auto at = [&](std::uint64_t bytes) {
            return most > 0 ? static_cast<double>(bytes) / most * width() : 0.0;
        };
        const double top = height() * 0.2, tall = height() * 0.6;
        QColor ground = palette().color(QPalette::Text);
        ground.setAlphaF(0.12f);
        painter.fillRect(QRectF(0, top, at(device_.free_bytes), tall), ground);
        const bool fits = device_.high <= device_.free_bytes;
        const QColor color = fits ? colors.neutral : colors.warning;
        QColor faint = color;
        faint.setAlphaF(0.45f);
        painter.fillRect(QRectF(0, top, at(device_.low), tall), color);
        painter.fillRect(QRectF(at(device_.low), top, at(device_.high) - at(device_.low), tall),
                         faint);
        painter.setPen(QPen(palette().color(QPalette::Text), std::max(1.0, height() / 12.0)));
        painter.drawLine(QPointF(at(device_.expected), height() * 0.08),
                         QPointF(at(device_.expected), height() * 0.92));
    }

private:
    DeviceEstimate device_;
};

} // namespace

EstimateView::EstimateView(QWidget* parent)
    : QWidget(parent)
    , head_(new QLabel(this))
    , figures_(new QGridLayout)
    , devices_(new QGridLayout)
    , notes_(new QPlainTextEdit(this)) {
    setWhatsThis(tr("Estimated from the model's headers and all of the data, before a weight is "
                    "read. The bar is the free memory; filled is what is needed at least, faint "
                    "up to the longest sample, and the line is what is expected."));
    head_->setWordWrap(true);
    head_->setTextFormat(Qt::PlainText);
    head_->setForegroundRole(QPalette::PlaceholderText);
    figures_->setColumnStretch(1, 1);
    devices_->setColumnStretch(1, 1);
    notes_->setReadOnly(true);
    notes_->setFrameShape(QFrame::NoFrame);
    notes_->setAccessibleName(tr("What was cut or left out"));
    auto* column = new QVBoxLayout(this);
    column->addWidget(head_);
    column->addLayout(figures_);
    column->addLayout(devices_);
    column->addWidget(notes_, 1);
    showNothing(tr("Fill in model, data and run folder."));
}

void EstimateView::clear() {
    qDeleteAll(cells_);
    cells_.clear();
}

void EstimateView::showNothing(const QString& why) {
    clear();
    head_->setText(why);
    head_->show();
    notes_->clear();
    notes_->hide();
}

void EstimateView::showWaiting() {
    head_->setText(tr("Estimating\u2026"));
    head_->show();
}

void EstimateView::addRow(const QString& title, const QString& value, const QString& help) {
    const int row = figures_->rowCount();
    auto* name = new QLabel(title, this);
    auto* figure = new QLabel(value, this);
    figure->setAccessibleName(title);
    figure->setTextInteractionFlags(Qt::TextSelectableByMouse);
    for (QLabel* label : {name, figure}) {
        label->setTextFormat(Qt::PlainText);
        label->setToolTip(plainToolTip(help));
        cells_.push_back(label);
    }
    figures_->addWidget(name, row, 0);
    figures_->addWidget(figure, row, 1);
}

void EstimateView::addDevice(const DeviceEstimate& e, bool wanted) {
    const int row = devices_->rowCount();
    auto* name =
        new QLabel(tr("%1, %2").arg(visibleText(e.device, 40), visibleText(e.dtype, 20)), this);
    name->setTextFormat(Qt::PlainText);
    QFont font = name->font();
    font.setBold(wanted);
    name->setFont(font);
    auto* bar = new MemoryBar(e, this);
    QString text = tr("%1 (%2 to %3) of %4 free")
                       .arg(bytes(e.expected), bytes(e.low), bytes(e.high), bytes(e.free_bytes));
    if (e.high > e.free_bytes)
        text += e.expected > e.free_bytes ? tr(": does not fit") : tr(": long samples may not fit");
    if (e.seconds > 0)
        text += tr("; about %1").arg(durationText(e.seconds));
    auto* figures = new QLabel(text, this);
    figures->setTextFormat(Qt::PlainText);
    figures->setWordWrap(true);
    const QString help =
        tr("Weights, optimiser and activations: of the mean micro-batch (of the shortest to the "
           "longest). The time is the run's floating-point operations at the rate that a product "
           "of the model's size reaches on this machine now.");
    for (QWidget* widget : {static_cast<QWidget*>(name), static_cast<QWidget*>(bar),
                            static_cast<QWidget*>(figures)}) {
        widget->setToolTip(plainToolTip(help));
        cells_.push_back(widget);
    }
    devices_->addWidget(name, row, 0);
    devices_->addWidget(bar, row, 1);
    devices_->addWidget(figures, row + 1, 0, 1, 2);
}

void EstimateView::setEstimate(const TrainEstimate& e, const QString& wantedDevice) {
    clear();
    head_->hide();
    notes_->setPlaceholderText(
        e.cut_samples > 0
            ? tr("Cut samples end where the sequence reaches its greatest length; \u201cWhat is "
                 "trained\u201d shows where.")
            : e.left_out_samples > 0 ? QString()
                                     : tr("Nothing is cut or left out."));
    addRow(tr("Samples"),
           tr("%1 (%2 cut, %3 left out), %4 for validation")
               .arg(number(e.samples), number(e.cut_samples), number(e.left_out_samples),
                    number(e.validation_samples)),
           tr("What is trained on, and what tells how far it learned"));
    addRow(tr("Tokens of an epoch"),
           tr("%1 trained of %2, the longest sample %3")
               .arg(number(e.response_tokens), number(e.sequence_tokens), number(e.longest)),
           tr("Response tokens, and all tokens with the prompts"));
    addRow(tr("Steps"),
           tr("%1, %2 an epoch, %3 of warm-up")
               .arg(number(e.steps), number(e.steps_per_epoch), number(e.warmup_steps)),
           tr("Optimiser steps"));
    addRow(tr("Parameters"),
           tr("%1 of %2 are trained").arg(number(e.trainable_parameters), number(e.parameters)),
           tr("Of the adapter, or of the whole model"));
    addRow(tr("A checkpoint"), bytes(e.checkpoint_bytes),
           tr("At most, on the disk: trained weights and the optimiser's moments"));
    for (const DeviceEstimate& device : e.devices)
        addDevice(device,
                  e.devices.size() > 1 && QString::fromStdString(device.device) == wantedDevice);
    QStringList notes;
    for (const std::string& note : e.notes)
        notes += visibleText(note, 400);
    notes_->setPlainText(notes.join(QLatin1Char('\n')));
    notes_->show();
}

} // namespace cuset
