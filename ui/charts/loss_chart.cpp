#include "ui/charts/loss_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QMenu>
#include <QPainter>
#include <QTimer>
#include <QtCharts/QLineSeries>

#include "ui/charts/decimator.h"

namespace cuset {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double narrowestView = 4; // steps

} // namespace

LossChart::LossChart(QWidget* parent)
    : PlotPanel(tr("Training curves"), parent)
    , refresh_(new QTimer(this))
    , yTitle_(tr("loss (nats per token)"))
    , hoveredStep_(nothing) {
    setEmptyText(tr("Start a training run, or open a run folder"));
    setAccessibleDescription(emptyText());
    setZoomable(true);
    refresh_->setSingleShot(true);
    refresh_->setInterval(0);
    connect(refresh_, &QTimer::timeout, this, &LossChart::rebuild);
}

void LossChart::setYTitle(const QString& title) {
    yTitle_ = title;
    changed();
}

void LossChart::setStyleKeys(const QStringList& keys) {
    styleKeys_ = keys;
    changed();
}

int LossChart::addSeries(const QString& name, int color, int style) {
    Series series;
    series.name = name;
    series.color = color < 0 ? seriesCount() : color;
    series.style = style < 0 ? seriesCount() : style;
    // Control characters cannot stand in an SVG file.
    for (QChar& c : series.name)
        if (c.category() == QChar::Other_Control)
            c = QChar(0xfffd);
    series.raw = addLine();
    series.curve = addLine();
    series_.push_back(std::move(series));
    return seriesCount() - 1;
}

void LossChart::append(int series, double step, double value) {
    append(series, std::span(&step, 1), std::span(&value, 1));
}

void LossChart::append(int series, std::span<const double> steps, std::span<const double> values) {
    if (series < 0 || series >= seriesCount())
        return;
    Series& target = series_[static_cast<std::size_t>(series)];
    for (std::size_t i = 0; i < std::min(steps.size(), values.size()); ++i)
        if (std::isfinite(steps[i]))
            appendPoint(target, steps[i], values[i]);
    changed();
}

void LossChart::appendPoint(Series& series, double step, double value) {
    if (!series.steps.empty() && step <= series.steps.back()) {
        const auto from = std::lower_bound(series.steps.begin(), series.steps.end(), step);
        const auto kept = static_cast<std::size_t>(from - series.steps.begin());
        series.steps.resize(kept);
        series.values.resize(kept);
        smoothAgain(series);
    }
    series.steps.push_back(step);
    series.values.push_back(std::isfinite(value) ? value : nothing);
    smoothOne(series, value);
}

void LossChart::smoothOne(Series& series, double value) const {
    if (!std::isfinite(value)) {
        series.smooth.push_back(nothing);
        return;
    }
    series.mean = smoothing_ * series.mean + (1 - smoothing_) * value;
    series.weight = smoothing_ * series.weight + (1 - smoothing_);
    series.smooth.push_back(series.mean / series.weight);
}

void LossChart::smoothAgain(Series& series) const {
    series.mean = series.weight = 0;
    series.smooth.clear();
    for (const double value : series.values)
        smoothOne(series, value);
}

void LossChart::setSeriesVisible(int series, bool visible) {
    if (series < 0 || series >= seriesCount())
        return;
    series_[static_cast<std::size_t>(series)].visible = visible;
    changed();
}

void LossChart::clearSeries(int series) {
    if (series < 0 || series >= seriesCount())
        return;
    Series& target = series_[static_cast<std::size_t>(series)];
    target.steps.clear();
    target.values.clear();
    smoothAgain(target);
    changed();
}

void LossChart::clear() {
    for (const Series& series : series_)
        for (QLineSeries* line : {series.raw, series.curve})
            removeSeries(line);
    series_.clear();
    changed();
}

void LossChart::setSmoothing(double weight) {
    if (!(weight >= 0))
        return;
    smoothing_ = std::min(weight, 0.9999);
    for (Series& series : series_)
        smoothAgain(series);
    changed();
}

void LossChart::setLogAxis(bool log) {
    log_ = log;
    changed();
}

std::vector<double> LossChart::smoothed(int series) const {
    return series_.at(static_cast<std::size_t>(series)).smooth;
}

void LossChart::changed() {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    QStringList names;
    for (const Series& series : series_) {
        if (series.steps.empty())
            continue;
        low = std::min(low, series.steps.front());
        high = std::max(high, series.steps.back());
        names << series.name;
    }
    if (low <= high)
        setXRange(low, high, narrowestView, true);
    setAccessibleDescription(
        names.isEmpty() ? emptyText()
                        : tr("%1 of %2 up to step %3")
                              .arg(yTitle_, names.join(QStringLiteral(", ")), numberText(high, 6)));
    if (!refresh_->isActive())
        refresh_->start();
}

bool LossChart::isEmpty() const {
    return std::all_of(series_.begin(), series_.end(),
                       [](const Series& series) { return series.steps.empty(); });
}

QList<QPointF> LossChart::drawnPoints(const Series& series,
                                      const std::vector<double>& values) const {
    QList<QPointF> points;
    if (!series.visible)
        return points;
    for (const std::int64_t i :
         decimatePoints(series.steps, values, visibleFrom(), visibleTo(), columns())) {
        const double value = values[static_cast<std::size_t>(i)];
        if (!log_ || value > 0)
            points.append(
                {series.steps[static_cast<std::size_t>(i)], log_ ? std::log10(value) : value});
    }
    return points;
}

void LossChart::fillSeries() {
    PlotAxis x{tr("step")};
    x.whole = true;
    PlotAxis y{log_ ? tr("%1, log").arg(yTitle_) : yTitle_};
    y.log = log_;
    setAxes(x, y);
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    std::vector<HeaderItem> header;
    for (int key = 0; key < static_cast<int>(styleKeys_.size()); ++key)
        header.push_back({styleKeys_[key], theme().text, ChartTheme::seriesStyle(key)});
    for (const Series& series : series_) {
        const QColor color = theme().series(series.color);
        const Qt::PenStyle style = ChartTheme::seriesStyle(series.style);
        const QList<QPointF> raw = drawnPoints(series, series.values);
        for (const QPointF& point : raw) {
            low = std::min(low, point.y());
            high = std::max(high, point.y());
        }
        const bool smooth = smoothing_ > 0;
        QColor faint = color;
        faint.setAlphaF(smooth ? 0.35f : 1.0f);
        series.raw->setPen(QPen(faint, penWidth(), smooth ? Qt::SolidLine : style));
        series.raw->replace(raw);
        series.raw->setPointsVisible(raw.size() == 1);
        series.curve->setPen(QPen(color, penWidth() * 1.6, style));
        series.curve->replace(smooth ? drawnPoints(series, series.smooth) : QList<QPointF>());
        if (series.visible && styleKeys_.isEmpty())
            header.push_back({series.name, color, style});
    }
    if (!(low <= high))
        low = high = 0;
    const double room = high > low ? 0.06 * (high - low) : std::max(0.05 * std::abs(high), 0.05);
    setYRange(low - room, high + room);
    setHeader(std::move(header));
}

std::int64_t LossChart::nearestPoint(const Series& series, double step) const {
    if (series.steps.empty() || !std::isfinite(step))
        return -1;
    const auto after = std::lower_bound(series.steps.begin(), series.steps.end(), step);
    if (after == series.steps.end())
        return static_cast<std::int64_t>(series.steps.size()) - 1;
    const auto index = after - series.steps.begin();
    return index > 0 && step - *(after - 1) < *after - step ? index - 1 : index;
}

double LossChart::shownStep(double near) const {
    double best = nothing;
    for (const Series& series : series_) {
        const std::int64_t i = series.visible ? nearestPoint(series, near) : -1;
        if (i < 0)
            continue;
        const double step = series.steps[static_cast<std::size_t>(i)];
        if (!(std::abs(best - near) <= std::abs(step - near)))
            best = step;
    }
    return best;
}

void LossChart::hovered(const QPointF& position) {
    const double step = plotRect().contains(position) ? shownStep(toValues(position).x()) : nothing;
    if (step == hoveredStep_ || (std::isnan(step) && std::isnan(hoveredStep_)))
        return;
    hoveredStep_ = step;
    repaintPlot();
}

void LossChart::hoverEnded() {
    hoveredStep_ = nothing;
    repaintPlot();
}

void LossChart::paintFront(QPainter& painter) const {
    if (!std::isfinite(hoveredStep_) || hoveredStep_ < visibleFrom() || hoveredStep_ > visibleTo())
        return;
    const double x = toPosition(hoveredStep_, 0).x();
    painter.setPen(QPen(theme().marker, penWidth(), Qt::DotLine));
    painter.drawLine(QPointF(x, plotRect().top()), QPointF(x, plotRect().bottom()));
    const QString label = tr("step %1").arg(numberText(hoveredStep_, 7));
    paintLabel(painter,
               placeLabel(label, {x, plotRect().top() + em()},
                          x > plotRect().center().x() ? Qt::AlignLeft : Qt::AlignRight),
               label, theme().marker);
}

QString LossChart::tooltipAt(const QPointF& position) const {
    const double step = shownStep(toValues(position).x());
    QString text = tr("step %1\n").arg(numberText(step, 7));
    for (const Series& series : series_) {
        const std::int64_t i = series.visible ? nearestPoint(series, step) : -1;
        if (i >= 0)
            text += tr("%1: %2, smoothed %3\n")
                        .arg(series.name, numberText(series.values[static_cast<std::size_t>(i)], 4),
                             numberText(series.smooth[static_cast<std::size_t>(i)], 4));
    }
    return text
        + tr("smoothed: exponential mean of weight %1, corrected for its start\nwheel or drag "
             "zooms, "
             "Shift+drag pans, double click resets")
              .arg(numberText(smoothing_));
}

void LossChart::addMenuActions(QMenu& menu) {
    PlotPanel::addMenuActions(menu);
    QAction* log = menu.addAction(tr("&Logarithmic axis"), this, &LossChart::setLogAxis);
    log->setCheckable(true);
    log->setChecked(log_);
    QAction* smooth =
        menu.addAction(tr("S&moothed"), this, [this](bool on) { setSmoothing(on ? 0.95 : 0); });
    smooth->setCheckable(true);
    smooth->setChecked(smoothing_ > 0);
    if (seriesCount() > 1)
        menu.addSeparator();
    for (int i = 0; seriesCount() > 1 && i < seriesCount(); ++i) {
        const Series& series = series_[static_cast<std::size_t>(i)];
        QString name = series.name;
        QAction* show = menu.addAction(name.replace(u'&', QStringLiteral("&&")), this,
                                       [this, i](bool on) { setSeriesVisible(i, on); });
        show->setCheckable(true);
        show->setChecked(series.visible);
    }
}

ChartTable LossChart::table() const {
    ChartTable table{{QStringLiteral("series"), QStringLiteral("step"), QStringLiteral("value"),
                      QStringLiteral("smoothed")},
                     {}};
    for (const Series& series : series_)
        for (std::size_t i = 0; i < series.steps.size(); ++i)
            table.rows.push_back({series.name, csvNumber(series.steps[i]),
                                  csvNumber(series.values[i]), csvNumber(series.smooth[i])});
    return table;
}

} // namespace cuset
