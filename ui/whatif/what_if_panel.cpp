#include "ui/whatif/what_if_panel.h"

#include <array>
#include <cmath>
#include <limits>

#include <QHBoxLayout>
#include <QMenu>
#include <QMetaMethod>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/charts/axis_ticks.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

struct FigureText {
    const char* title;
    const char* explanation;
};

constexpr std::array<FigureText, sweep_figure_count> figureTexts{{
    {QT_TRANSLATE_NOOP("WhatIf", "supervised share"),
     QT_TRANSLATE_NOOP("WhatIf", "Share of tokens with M > 0 (Eq. 4)")},
    {QT_TRANSLATE_NOOP("WhatIf", "CUDA share of these"),
     QT_TRANSLATE_NOOP("WhatIf",
                       "Of the supervised tokens (M > 0), the share in kernel bodies and launch "
                       "configurations (Eq. 3)")},
    {QT_TRANSLATE_NOOP("WhatIf", "mean weight w"),
     QT_TRANSLATE_NOOP("WhatIf", "Mean over samples of w = 1 - C (Eq. 8)")},
    {QT_TRANSLATE_NOOP("WhatIf", "push on sensitive"),
     QT_TRANSLATE_NOOP("WhatIf", "Share of the corpus' push, w M (1 - c), on sensitive tokens")},
    {QT_TRANSLATE_NOOP("WhatIf", "mean mask M"),
     QT_TRANSLATE_NOOP("WhatIf", "Mean of M over all tokens (Eq. 4)")},
    {QT_TRANSLATE_NOOP("WhatIf", "confident share"),
     QT_TRANSLATE_NOOP("WhatIf", "Share of tokens with c > tau (Eq. 2)")},
    {QT_TRANSLATE_NOOP("WhatIf", "CUDA share of all"),
     QT_TRANSLATE_NOOP("WhatIf",
                       "Share of tokens in CUDA regions (Eq. 3): no threshold changes it")},
    {QT_TRANSLATE_NOOP("WhatIf", "mean difficulty C"),
     QT_TRANSLATE_NOOP("WhatIf", "Mean over samples of C (Eq. 7)")},
}};

QString axisTitle(SweepAxis axis) {
    switch (axis) {
    case SweepAxis::tau:
        return QStringLiteral("\u03c4");
    case SweepAxis::lambda:
        return QStringLiteral("\u03bb");
    case SweepAxis::window:
        break;
    }
    return QStringLiteral("l");
}

QString axisExplained(SweepAxis axis) {
    switch (axis) {
    case SweepAxis::tau:
        return WhatIfPanel::tr("\u03c4, confidence threshold");
    case SweepAxis::lambda:
        return WhatIfPanel::tr("\u03bb, weight of CUDA regions");
    case SweepAxis::window:
        break;
    }
    return WhatIfPanel::tr("l, window length");
}

// Pairs of axes: right, up.
constexpr std::array<std::pair<SweepAxis, SweepAxis>, 6> planes{{
    {SweepAxis::tau, SweepAxis::lambda},
    {SweepAxis::tau, SweepAxis::window},
    {SweepAxis::lambda, SweepAxis::window},
    {SweepAxis::lambda, SweepAxis::tau},
    {SweepAxis::window, SweepAxis::tau},
    {SweepAxis::window, SweepAxis::lambda},
}};

} // namespace

WhatIfPanel::WhatIfPanel(WhatIfState* state, MaskSettingsState* settings, QWidget* parent)
    : QWidget(parent)
    , state_(state)
    , settings_(settings) {
    setWhatsThis(tr("What the corpus' figures would be at other thresholds, without training "
                    "anything. Choose the figure and two settings; the slider holds the third. "
                    "The framed cell is where the thresholds are; click another to go there."));
    build();
    connect(plane_, &QComboBox::currentIndexChanged, this, &WhatIfPanel::showAxes);
    connect(figure_, &QComboBox::currentIndexChanged, this, &WhatIfPanel::showSurface);
    connect(held_, &QSlider::valueChanged, this, &WhatIfPanel::showSurface);
    connect(stop_, &QPushButton::clicked, this,
            [this] { state_->isRunning() ? state_->stop() : state_->compute(); });
    connect(chart_, &HeatMapChart::cellClicked, this, [this](int column, int row) {
        settings_->set(settingsAt(column, row), tr("Choose from the what-if surface"));
    });
    connect(chart_, &HeatMapChart::cellHovered, this, &WhatIfPanel::showCell);
    connect(chart_, &HeatMapChart::cellMenuRequested, this, &WhatIfPanel::addCellActions);
    connect(state_, &WhatIfState::changed, this, &WhatIfPanel::showAxes);
    connect(state_, &WhatIfState::progressChanged, this, &WhatIfPanel::showProgress);
    connect(settings_, &MaskSettingsState::changed, this, [this](const MaskSettings& now) {
        if (state_->points().empty())
            return;
        held_->setValue(nearestHeld(now)); // the framed cell stays in sight
        showCurrent();
    });
    showAxes();
    showProgress();
}

void WhatIfPanel::build() {
    chart_ = new HeatMapChart(this);
    plane_ = new QComboBox(this);
    plane_->setAccessibleName(tr("Axes of the surface"));
    plane_->setToolTip(plainToolTip(tr("The setting along the x axis, and the one along y")));
    for (const auto& [x, y] : planes)
        plane_->addItem(tr("%1 \u00d7 %2").arg(axisTitle(x), axisTitle(y)));
    figure_ = new QComboBox(this);
    figure_->setAccessibleName(tr("Figure of the surface"));
    for (int i = 0; i < sweep_figure_count; ++i) {
        const FigureText& texts = figureTexts[static_cast<std::size_t>(i)];
        figure_->addItem(QCoreApplication::translate("WhatIf", texts.title));
        figure_->setItemData(i,
                             plainToolTip(QCoreApplication::translate("WhatIf", texts.explanation)),
                             Qt::ToolTipRole);
    }
    figure_->setCurrentIndex(static_cast<int>(SweepFigure::push_sensitive));
    heldName_ = new QLabel(this);
    held_ = new QSlider(Qt::Horizontal, this);
    held_->setPageStep(1);
    held_->setTickPosition(QSlider::TicksBelow);
    held_->setToolTip(plainToolTip(tr("The value of the third setting")));
    heldValue_ = new QLabel(this);
    heldValue_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("0.0000")));
    progress_ = new QProgressBar(this);
    progress_->setRange(0, 1000);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("Progress of the surface"));
    progress_->setMaximumWidth(fontMetrics().height() * 8);
    stop_ = new QPushButton(this);
    now_ = new QLabel(this);
    now_->setForegroundRole(QPalette::PlaceholderText);
    now_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    const int gap = fontMetrics().height() / 3;
    auto* top = new QHBoxLayout;
    top->setSpacing(gap);
    top->addWidget(figure_, 3);
    top->addWidget(plane_, 1);
    auto* bottom = new QHBoxLayout;
    bottom->setSpacing(gap);
    bottom->addWidget(heldName_);
    bottom->addWidget(held_, 2);
    bottom->addWidget(heldValue_);
    bottom->addWidget(progress_, 1);
    bottom->addWidget(stop_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(gap, gap, gap, gap);
    column->setSpacing(gap);
    column->addLayout(top);
    column->addWidget(chart_, 1);
    column->addLayout(bottom);
    column->addWidget(now_);
    for (QComboBox* box : {figure_, plane_}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(5);
    }
}

SweepAxis WhatIfPanel::xAxis() const {
    return planes[static_cast<std::size_t>(std::max(0, plane_->currentIndex()))].first;
}

SweepAxis WhatIfPanel::yAxis() const {
    return planes[static_cast<std::size_t>(std::max(0, plane_->currentIndex()))].second;
}

int WhatIfPanel::nearestHeld(const MaskSettings& settings) const {
    const std::vector<double> values = axis_values(state_->grid(), heldAxis());
    int best = 0;
    double closest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double away =
            axis_distance(with_axis(settings, heldAxis(), values[i]), settings, heldAxis());
        if (away < closest) {
            best = static_cast<int>(i);
            closest = away;
        }
    }
    return best;
}

void WhatIfPanel::showAxes() {
    const QSignalBlocker quiet(held_);
    heldName_->setText(tr("%1 held at").arg(axisTitle(heldAxis())));
    held_->setAccessibleName(tr("Value of %1").arg(axisTitle(heldAxis())));
    const bool any = !state_->points().empty();
    held_->setEnabled(any);
    if (any) {
        held_->setRange(0, static_cast<int>(axis_values(state_->grid(), heldAxis()).size()) - 1);
        held_->setValue(nearestHeld(settings_->settings()));
    }
    showSurface();
}

void WhatIfPanel::showSurface() {
    if (state_->points().empty()) {
        chart_->clear();
        heldValue_->clear();
        showCurrent();
        return;
    }
    const auto held = static_cast<std::size_t>(held_->value());
    const SweepPlane plane = sweep_plane(state_->grid(), xAxis(), yAxis(), held);
    const auto figure = static_cast<SweepFigure>(std::max(0, figure_->currentIndex()));
    HeatMap map{axisExplained(plane.x), axisExplained(plane.y), figure_->currentText(),
                plane.x_values,         plane.y_values,         {}};
    for (const std::size_t point : plane.points)
        map.values.push_back(sweep_figure(state_->points()[point], figure));
    chart_->setHeatMap(std::move(map));
    heldValue_->setText(numberText(axis_values(state_->grid(), heldAxis())[held], 4));
    showCurrent();
}

void WhatIfPanel::showCurrent() {
    const MaskSettings& now = settings_->settings();
    const bool onPlane = !state_->points().empty() && held_->value() == nearestHeld(now);
    const double nowhere = std::numeric_limits<double>::quiet_NaN();
    chart_->setCurrent(onPlane ? axis_value(now, xAxis()) : nowhere,
                       onPlane ? axis_value(now, yAxis()) : nowhere);
    now_->setText(
        tr("now \u03c4 %1, \u03bb %2, l %3%4")
            .arg(numberText(now.tau, 4), numberText(now.lambda, 4))
            .arg(now.window)
            .arg(onPlane || state_->points().empty() ? QString() : tr("; on another plane")));
}

// All figures of the cell under the pointer, in place of the present settings.
void WhatIfPanel::showCell(int column, int row) {
    if (column < 0 || state_->points().empty())
        return showCurrent();
    const SweepPlane plane =
        sweep_plane(state_->grid(), xAxis(), yAxis(), static_cast<std::size_t>(held_->value()));
    const SweepPoint& point =
        state_->points()[plane.points[static_cast<std::size_t>(row) * plane.x_values.size()
                                      + static_cast<std::size_t>(column)]];
    QStringList parts{
        tr("\u03c4 %1, \u03bb %2, l %3")
            .arg(numberText(point.settings.tau, 4), numberText(point.settings.lambda, 4))
            .arg(point.settings.window)};
    for (const SweepFigure figure :
         {SweepFigure::supervised_share, SweepFigure::supervised_cuda_share,
          SweepFigure::mean_weight, SweepFigure::push_sensitive})
        parts += figure_->itemText(static_cast<int>(figure)) + QLatin1Char(' ')
            + numberText(sweep_figure(point, figure), 4);
    now_->setText(parts.join(QStringLiteral(";  ")));
}

void WhatIfPanel::showProgress() {
    const bool running = state_->isRunning();
    progress_->setVisible(running);
    progress_->setValue(static_cast<int>(std::lround(state_->progress() * 1000)));
    stop_->setText(running ? tr("&Stop") : tr("&Compute again"));
    stop_->setToolTip(plainToolTip(
        running ? tr("Stop computing the surface")
                : tr("Compute the surface with the present thresholds among its values")));
    stop_->setVisible(running || !state_->points().empty() || state_->isStopped());
    chart_->setEmptyText(running ? tr("Computing the surface\u2026")
                             : state_->isStopped()
                             ? tr("Stopped. Press Compute again for the surface.")
                             : tr("Score samples, or open a score file"));
}

MaskSettings WhatIfPanel::settingsAt(int column, int row) const {
    const auto held = static_cast<std::size_t>(held_->value());
    const SweepPlane plane = sweep_plane(state_->grid(), xAxis(), yAxis(), held);
    MaskSettings settings = settings_->settings(); // with its switches
    settings = with_axis(settings, plane.x, plane.x_values[static_cast<std::size_t>(column)]);
    settings = with_axis(settings, plane.y, plane.y_values[static_cast<std::size_t>(row)]);
    return with_axis(settings, heldAxis(), axis_values(state_->grid(), heldAxis())[held]);
}

void WhatIfPanel::addCellActions(QMenu* menu, int column, int row) {
    const MaskSettings settings = settingsAt(column, row);
    menu->addAction(tr("&Use \u03c4 %1, \u03bb %2, l %3")
                        .arg(numberText(settings.tau, 4), numberText(settings.lambda, 4))
                        .arg(settings.window),
                    this, [this, settings] {
                        settings_->set(settings, tr("Choose from the what-if surface"));
                    });
    if (isSignalConnected(QMetaMethod::fromSignal(&WhatIfPanel::runRequested)))
        menu->addAction(tr("&Queue as a run\u2026"), this,
                        [this, settings] { emit runRequested(settings); });
}

} // namespace cuset
