#include "ui/charts/sweep_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QtCharts/QLineSeries>

namespace cuset {
namespace {

using Axis = SweepChart::Axis;

double valueOf(const MaskSettings& settings, Axis axis) {
    return axis_value(settings, static_cast<SweepAxis>(axis));
}

std::array<double, 4> figuresOf(const SweepPoint& point) {
    return {point.mask.supervised_share, point.mask.cuda_share, point.mean_weight,
            point.push_sensitive};
}

QStringList figureNames() {
    return {SweepChart::tr("supervised"), SweepChart::tr("CUDA"), SweepChart::tr("mean w"),
            SweepChart::tr("push on sensitive")};
}

QString axisSign(Axis axis) {
    return axis == Axis::tau   ? QStringLiteral("τ")
        : axis == Axis::lambda ? QStringLiteral("λ")
                               : QStringLiteral("l");
}

// Keeps the points whose value on `axis` is the one nearest to `current`.
void keepNearest(std::vector<SweepPoint>& points, const MaskSettings& current, Axis axis) {
    if (points.empty())
        return;
    const auto closer = [&](const SweepPoint& a, const SweepPoint& b) {
        const auto on = static_cast<SweepAxis>(axis);
        return axis_distance(a.settings, current, on) < axis_distance(b.settings, current, on);
    };
    const double kept =
        valueOf(std::min_element(points.begin(), points.end(), closer)->settings, axis);
    std::erase_if(points, [&](const SweepPoint& p) { return valueOf(p.settings, axis) != kept; });
}

} // namespace

SweepChart::SweepChart(QWidget* parent)
    : PlotPanel(tr("Sweep of thresholds"), parent)
    , axisBox_(new QComboBox) {
    setEmptyText(tr("Score samples, then run a sweep"));
    for (QLineSeries*& line : lines_)
        line = addLine();
    axisBox_->addItem(tr("τ, confidence threshold"), QVariant::fromValue(Axis::tau));
    axisBox_->addItem(tr("λ, weight of CUDA regions"), QVariant::fromValue(Axis::lambda));
    axisBox_->addItem(tr("l, window length"), QVariant::fromValue(Axis::window));
    axisBox_->setAccessibleName(tr("Setting along the x axis"));
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(fontMetrics().height() / 3, 0, 0, 0);
    auto* label = new QLabel(tr("Sweep &over"), row);
    label->setBuddy(axisBox_);
    layout->addWidget(label);
    layout->addWidget(axisBox_);
    layout->addStretch();
    addControls(row);
    connect(axisBox_, &QComboBox::currentIndexChanged, this,
            [this] { setAxis(axisBox_->currentData().value<Axis>()); });
}

void SweepChart::setSweep(const std::vector<SweepPoint>& points, const MaskSettings& current) {
    points_ = points;
    // A point that cannot lie on the axes would spoil its curve.
    std::erase_if(points_, [](const SweepPoint& p) {
        return !std::isfinite(p.settings.tau) || !std::isfinite(p.settings.lambda)
            || !(p.settings.lambda > 0) || p.settings.window < 1;
    });
    setCurrent(current);
}

void SweepChart::setCurrent(const MaskSettings& current) {
    current_ = current;
    selectPoints();
    rebuild();
}

void SweepChart::setAxis(Axis axis) {
    axis_ = axis;
    axisBox_->setCurrentIndex(axisBox_->findData(QVariant::fromValue(axis)));
    selectPoints();
    rebuild();
}

void SweepChart::selectPoints() {
    shown_ = points_;
    for (const Axis other : {Axis::tau, Axis::lambda, Axis::window})
        if (other != axis_)
            keepNearest(shown_, current_, other);
    std::stable_sort(shown_.begin(), shown_.end(), [this](const auto& a, const auto& b) {
        return valueOf(a.settings, axis_) < valueOf(b.settings, axis_);
    });
    hovered_ = -1;
    if (shown_.empty()) {
        setAccessibleDescription(emptyText());
        return;
    }
    const SweepPoint& at =
        shown_[static_cast<std::size_t>(nearest(place(valueOf(current_, axis_))))];
    setAccessibleDescription(
        tr("%1 points over %2; near the present settings: supervised share %3, mean weight %4")
            .arg(shown_.size())
            .arg(axisBox_->currentText(), numberText(at.mask.supervised_share),
                 numberText(at.mean_weight)));
}

double SweepChart::place(double value) const {
    if (axis_ == Axis::tau)
        return value;
    return value > 0 ? std::log2(value) : -std::numeric_limits<double>::infinity();
}

void SweepChart::fillSeries() {
    PlotAxis x{axisBox_->currentText()};
    for (const SweepPoint& point : shown_) {
        const double value = valueOf(point.settings, axis_);
        x.fixedTicks.push_back({place(value), numberText(value, 4)});
    }
    double low = x.fixedTicks.front().value;
    double high = x.fixedTicks.back().value;
    const double now = place(valueOf(current_, axis_));
    if (std::isfinite(now)) {
        low = std::min(low, now);
        high = std::max(high, now);
    }
    const double room = std::max(0.04 * (high - low), 0.05);
    setAxes(x, {tr("share")});
    setXRange(low - room, high + room, room);
    double top = 1;
    std::vector<HeaderItem> header;
    for (std::size_t i = 0; i < figureCount; ++i) {
        const int index = static_cast<int>(i);
        QList<QPointF> drawn;
        for (const SweepPoint& point : shown_) {
            const double figure = figuresOf(point)[i];
            if (std::isfinite(figure))
                drawn.append({place(valueOf(point.settings, axis_)), figure});
        }
        for (const QPointF& point : drawn)
            top = std::max(top, point.y());
        lines_[i]->setPen(
            QPen(theme().series(index), penWidth() * 1.5, ChartTheme::seriesStyle(index)));
        lines_[i]->replace(drawn);
        header.push_back(
            {figureNames()[index], theme().series(index), ChartTheme::seriesStyle(index)});
    }
    setYRange(0, top * 1.03);
    setHeader(std::move(header));
}

void SweepChart::paintFront(QPainter& painter) const {
    const double radius = em() * 0.22;
    for (std::size_t k = 0; k < shown_.size(); ++k) {
        const auto figures = figuresOf(shown_[k]);
        const double grown = static_cast<int>(k) == hovered_ ? 1.6 : 1;
        for (std::size_t i = 0; i < figureCount; ++i) {
            if (!std::isfinite(figures[i]))
                continue;
            painter.setPen(QPen(theme().background, penWidth()));
            painter.setBrush(theme().series(static_cast<int>(i)));
            painter.drawEllipse(toPosition(place(valueOf(shown_[k].settings, axis_)), figures[i]),
                                radius * grown, radius * grown);
        }
    }
    painter.setBrush(Qt::NoBrush);
    const double now = place(valueOf(current_, axis_));
    if (!std::isfinite(now))
        return;
    const double x = toPosition(now, 0).x();
    painter.setPen(QPen(theme().marker, penWidth() * 1.5));
    painter.drawLine(QPointF(x, plotRect().top()), QPointF(x, plotRect().bottom()));
    const QString label =
        tr("now %1 %2").arg(axisSign(axis_), numberText(valueOf(current_, axis_), 4));
    const bool left = x > plotRect().center().x();
    paintLabel(
        painter,
        placeLabel(label, {x, plotRect().bottom() - em()}, left ? Qt::AlignLeft : Qt::AlignRight),
        label, theme().marker);
}

int SweepChart::nearest(double x) const {
    int best = -1;
    double closest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < shown_.size(); ++k) {
        const double away = std::abs(place(valueOf(shown_[k].settings, axis_)) - x);
        if (best < 0 || away < closest) {
            best = static_cast<int>(k);
            closest = away;
        }
    }
    return best;
}

void SweepChart::choose(int index) {
    if (index < 0)
        return;
    const MaskSettings& chosen = shown_[static_cast<std::size_t>(index)].settings;
    MaskSettings settings = current_;
    switch (axis_) {
    case Axis::tau:
        settings.tau = chosen.tau;
        break;
    case Axis::lambda:
        settings.lambda = chosen.lambda;
        break;
    case Axis::window:
        settings.window = chosen.window;
        break;
    }
    emit settingsChosen(settings);
}

void SweepChart::clicked(const QPointF& position) {
    choose(nearest(toValues(position).x()));
}

void SweepChart::hovered(const QPointF& position) {
    const int index = plotRect().contains(position) ? nearest(toValues(position).x()) : -1;
    if (index == hovered_)
        return;
    hovered_ = index;
    repaintPlot();
}

void SweepChart::hoverEnded() {
    hovered_ = -1;
    repaintPlot();
}

QString SweepChart::tooltipAt(const QPointF& position) const {
    QString text;
    const int index = nearest(toValues(position).x());
    if (index >= 0) {
        const SweepPoint& point = shown_[static_cast<std::size_t>(index)];
        const auto figures = figuresOf(point);
        text = tr("τ %1, λ %2, l %3\n")
                   .arg(numberText(point.settings.tau), numberText(point.settings.lambda))
                   .arg(point.settings.window);
        for (std::size_t i = 0; i < figureCount; ++i)
            text += figureNames()[static_cast<int>(i)] + u' ' + numberText(figures[i]) + u'\n';
    }
    return text
        + tr("supervised: tokens with M > 0 (Eq. 4); CUDA: tokens in CUDA regions (Eq. 3); w = 1 − "
             "C "
             "(Eq. 8)\npush = w M (1 − c), its share on sensitive tokens; click to use a value");
}

void SweepChart::keyPressEvent(QKeyEvent* event) {
    const bool left = event->key() == Qt::Key_Left;
    if (isEmpty() || !(left || event->key() == Qt::Key_Right))
        return PlotPanel::keyPressEvent(event);
    const double now = valueOf(current_, axis_);
    int target = -1;
    for (std::size_t k = 0; k < shown_.size(); ++k) {
        const double value = valueOf(shown_[k].settings, axis_);
        if (left && value < now)
            target = static_cast<int>(k);
        if (!left && value > now && target < 0)
            target = static_cast<int>(k);
    }
    choose(target);
}

ChartTable SweepChart::table() const {
    ChartTable table{{QStringLiteral("tau"), QStringLiteral("lambda"), QStringLiteral("window"),
                      QStringLiteral("supervised_share"), QStringLiteral("cuda_share"),
                      QStringLiteral("mean_weight"), QStringLiteral("push_sensitive"),
                      QStringLiteral("mean_mask"), QStringLiteral("mean_difficulty")},
                     {}};
    for (const SweepPoint& p : points_)
        table.rows.push_back({csvNumber(p.settings.tau), csvNumber(p.settings.lambda),
                              QString::number(p.settings.window),
                              csvNumber(p.mask.supervised_share), csvNumber(p.mask.cuda_share),
                              csvNumber(p.mean_weight), csvNumber(p.push_sensitive),
                              csvNumber(p.mask.mean_mask), csvNumber(p.mean_difficulty)});
    return table;
}

} // namespace cuset
