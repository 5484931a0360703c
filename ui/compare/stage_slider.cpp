#include "ui/compare/stage_slider.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

QString statusText(CompareStage::Status status) {
    switch (status) {
    case CompareStage::Status::Missing:
        return StageSlider::tr("not scored yet");
    case CompareStage::Status::Gone:
        return StageSlider::tr("was removed by the run before it was scored");
    case CompareStage::Status::Computing:
        return StageSlider::tr("is being compared");
    case CompareStage::Status::Ready:
        return StageSlider::tr("scored");
    case CompareStage::Status::Failed:
        break;
    }
    return StageSlider::tr("failed");
}

} // namespace

StageSlider::StageSlider(QWidget* parent)
    : QSlider(Qt::Horizontal, parent) {
    setPageStep(1);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Checkpoint"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void StageSlider::setStages(const std::vector<CompareStage>& stages) {
    dots_.clear();
    for (const CompareStage& stage : stages)
        dots_.push_back({stage.status, stage.title});
    setRange(0, std::max(0, static_cast<int>(stages.size()) - 1));
    setEnabled(stages.size() > 1);
    update();
}

double StageSlider::dotSize() const {
    return fontMetrics().height() * 0.3;
}

QSize StageSlider::sizeHint() const {
    return {fontMetrics().height() * 14, fontMetrics().height() * 7 / 4};
}

QSize StageSlider::minimumSizeHint() const {
    return {fontMetrics().height() * 6, sizeHint().height()};
}

QPointF StageSlider::dotOf(int stage) const {
    const double margin = fontMetrics().height() * 0.8;
    const double share = maximum() > 0 ? static_cast<double>(stage) / maximum() : 0.5;
    return {margin + share * (width() - 2 * margin), height() / 2.0};
}

int StageSlider::stageAt(const QPointF& position) const {
    if (maximum() == 0)
        return 0;
    const double first = dotOf(0).x();
    const double step = (dotOf(maximum()).x() - first) / maximum();
    return std::clamp(static_cast<int>(std::lround((position.x() - first) / step)), 0, maximum());
}

void StageSlider::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QPalette colors = palette();
    const SeriesColors series = seriesColors(colors);
    const QColor window = colors.color(QPalette::Window);
    const QColor text = colors.color(QPalette::WindowText);
    const double radius = dotSize();
    painter.setPen(QPen(mixed(text, window, 0.35), radius * 0.5, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(dotOf(0), dotOf(maximum()));
    for (int stage = 0; stage < static_cast<int>(dots_.size()); ++stage) {
        const CompareStage::Status status = dots_[static_cast<std::size_t>(stage)].status;
        const QPointF at = dotOf(stage);
        const bool ready = status == CompareStage::Status::Ready;
        painter.setPen(QPen(ready ? series.neutral : mixed(text, window, 0.6), radius * 0.4));
        painter.setBrush(ready ? series.neutral : window);
        if (status == CompareStage::Status::Gone || status == CompareStage::Status::Failed) {
            painter.setPen(QPen(series.warning, radius * 0.5));
            painter.drawLine(at + QPointF(-radius, -radius), at + QPointF(radius, radius));
            painter.drawLine(at + QPointF(-radius, radius), at + QPointF(radius, -radius));
        } else {
            painter.drawEllipse(at, radius, radius);
        }
    }
    if (dots_.empty())
        return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(hasFocus() ? colors.color(QPalette::Highlight) : series.accent,
                        std::max(1.5, radius * 0.55)));
    painter.drawEllipse(dotOf(sliderPosition()), radius * 2.1, radius * 2.1);
}

void StageSlider::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    setSliderDown(true);
    setValue(stageAt(event->position()));
}

void StageSlider::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton)
        setValue(stageAt(event->position()));
}

bool StageSlider::event(QEvent* event) {
    if (event->type() == QEvent::MouseButtonRelease)
        setSliderDown(false);
    if (event->type() == QEvent::ToolTip && !dots_.empty()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const Dot& dot = dots_[static_cast<std::size_t>(stageAt(help->pos()))];
        QToolTip::showText(help->globalPos(),
                           plainToolTip(tr("%1: %2").arg(dot.title, statusText(dot.status))), this);
        return true;
    }
    return QSlider::event(event);
}

} // namespace cuset
