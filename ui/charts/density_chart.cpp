#include "ui/charts/density_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QLineSeries>

namespace cuset {
namespace {

constexpr double keyStep = 0.01;
constexpr double bigKeyStep = 0.1;
constexpr double decadesShown = 4; // of a logarithmic density axis, below the largest value

double largest(const Density& density) {
    double top = 0;
    for (const double y : density.y)
        if (std::isfinite(y))
            top = std::max(top, y);
    return top;
}

// Counts as a density per unit, as steps: two points a bin.
Density stepDensity(const std::vector<std::int64_t>& counts) {
    Density steps;
    double total = 0;
    for (const std::int64_t count : counts)
        total += static_cast<double>(count);
    const double bins = static_cast<double>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double height = total > 0 ? static_cast<double>(counts[i]) * bins / total : 0;
        steps.x.insert(steps.x.end(),
                       {static_cast<double>(i) / bins, static_cast<double>(i + 1) / bins});
        steps.y.insert(steps.y.end(), {height, height});
    }
    return steps;
}

double valueAt(const Density& density, double x) {
    const std::size_t size = std::min(density.x.size(), density.y.size());
    if (size == 0)
        return 0;
    const auto last = density.x.begin() + static_cast<std::ptrdiff_t>(size - 1);
    const auto place = std::lower_bound(density.x.begin(), last, x);
    return density.y[static_cast<std::size_t>(place - density.x.begin())];
}

QString count(std::int64_t value) {
    return QLocale(QLocale::English).toString(qlonglong(value));
}

} // namespace

DensityChart::DensityChart(QWidget* parent)
    : PlotPanel(tr("Density of token confidence"), parent) {
    neutralCurve_ = makeCurve();
    sensitiveCurve_ = makeCurve();
    pickedCurve_ = makeCurve();
    afterNeutralLine_ = addLine();
    afterSensitiveLine_ = addLine();
    setXRange(0, 1, 1);
}

DensityChart::Curve DensityChart::makeCurve() {
    Curve curve;
    curve.top = new QLineSeries(this);
    curve.floor = new QLineSeries(this);
    curve.area = new QAreaSeries(curve.top, curve.floor);
    attachSeries(curve.area);
    curve.outline = addLine();
    return curve;
}

void DensityChart::setDensities(const Density& sensitive, const Density& neutral,
                                const Moments& sensitiveMoments, const Moments& neutralMoments,
                                const KsTest& ks) {
    sensitive_ = sensitive;
    neutral_ = neutral;
    sensitiveMoments_ = sensitiveMoments;
    neutralMoments_ = neutralMoments;
    ks_ = ks;
    updateTexts();
    rebuild();
}

void DensityChart::setHistograms(const std::vector<std::int64_t>& sensitive,
                                 const std::vector<std::int64_t>& neutral) {
    histogramSensitive_ = stepDensity(sensitive);
    histogramNeutral_ = stepDensity(neutral);
    rebuild();
}

void DensityChart::setPicked(const Density& density, const QString& name, const QColor& color) {
    picked_ = density;
    pickedName_ = name;
    pickedColor_ = color;
    rebuild();
}

void DensityChart::setAfter(const Density& sensitive, const Density& neutral,
                            const Moments& sensitiveMoments, const Moments& neutralMoments) {
    afterSensitive_ = sensitive;
    afterNeutral_ = neutral;
    afterSensitiveMoments_ = sensitiveMoments;
    afterNeutralMoments_ = neutralMoments;
    rebuild();
}

void DensityChart::clear() {
    histogramSensitive_ = histogramNeutral_ = {};
    setDensities({}, {}, {}, {}, {});
}

bool DensityChart::isEmpty() const {
    return sensitiveMoments_.count == 0 && neutralMoments_.count == 0;
}

void DensityChart::setTau(double tau) {
    if (std::isnan(tau))
        return;
    tau_ = std::clamp(tau, 0.0, 1.0);
    repaintPlot();
}

void DensityChart::setLogAxis(bool log) {
    log_ = log;
    rebuild();
}

void DensityChart::setHistogramShown(bool shown) {
    histogramShown_ = shown;
    rebuild();
}

const Density& DensityChart::shownSensitive() const {
    return histogramShown() ? histogramSensitive_ : sensitive_;
}

const Density& DensityChart::shownNeutral() const {
    return histogramShown() ? histogramNeutral_ : neutral_;
}

double DensityChart::axisValue(double density, double floor) const {
    const double safe = std::isfinite(density) ? density : 0.0;
    return log_ ? std::log10(std::max(safe, std::pow(10.0, floor))) : safe;
}

void DensityChart::updateTexts() {
    if (isEmpty()) {
        setAccessibleDescription(emptyText());
        return;
    }
    setAccessibleDescription(
        tr("%1 sensitive tokens, mean confidence %2; %3 neutral tokens, mean %4; KS statistic %5")
            .arg(count(sensitiveMoments_.count), numberText(sensitiveMoments_.mean),
                 count(neutralMoments_.count), numberText(neutralMoments_.mean),
                 numberText(ks_.statistic)));
}

void DensityChart::fillSeries() {
    const double top =
        std::max({largest(shownSensitive()), largest(shownNeutral()), largest(picked_),
                  largest(afterSensitive_), largest(afterNeutral_), 1e-9});
    PlotAxis y{log_ ? tr("density (log)") : tr("density")};
    y.log = log_;
    setAxes({tr("confidence p(token)")}, y);
    const double floor = log_ ? std::floor(std::log10(top)) - decadesShown : 0;
    // Room above the curves for the labels of the means.
    setYRange(floor, log_ ? std::log10(top) + 0.25 * decadesShown : top * 1.25);
    std::vector<HeaderItem> header{
        {tr("KS %1   log₁₀ p %2").arg(numberText(ks_.statistic), numberText(ks_.log10_p)),
         theme().text}};
    if (!picked_.x.empty())
        header.push_back({pickedName_, pickedColor_, Qt::DotLine});
    if (hasAfter())
        header.push_back({tr("after"), theme().text, Qt::DotLine});
    setHeader(std::move(header));
    fillCurve(sensitiveCurve_, shownSensitive(), floor, theme().sensitive, Qt::SolidLine);
    fillCurve(neutralCurve_, shownNeutral(), floor, theme().neutral, Qt::DashLine);
    fillCurve(pickedCurve_, picked_, floor, pickedColor_, Qt::DotLine);
    fillOutline(afterSensitiveLine_, afterSensitive_, floor, theme().sensitive);
    fillOutline(afterNeutralLine_, afterNeutral_, floor, theme().neutral);
}

void DensityChart::fillOutline(QLineSeries* line, const Density& density, double floor,
                               const QColor& color) const {
    QList<QPointF> points;
    for (std::size_t i = 0; i < std::min(density.x.size(), density.y.size()); ++i)
        points.append({density.x[i], axisValue(density.y[i], floor)});
    line->replace(points);
    line->setPen(QPen(color, penWidth() * 1.8, Qt::DotLine));
}

void DensityChart::fillCurve(const Curve& curve, const Density& density, double floor,
                             const QColor& color, Qt::PenStyle style) const {
    QList<QPointF> points;
    const std::size_t size = std::min(density.x.size(), density.y.size());
    points.reserve(static_cast<qsizetype>(size));
    for (std::size_t i = 0; i < size; ++i)
        points.append({density.x[i], axisValue(density.y[i], floor)});
    curve.top->replace(points);
    curve.outline->replace(points);
    curve.floor->replace(
        size == 0 ? QList<QPointF>()
                  : QList<QPointF>{{points.first().x(), floor}, {points.last().x(), floor}});
    QColor fill = color;
    // On a logarithmic axis an area means nothing.
    fill.setAlphaF(log_ ? 0.0f : theme().dark ? 0.28f : 0.2f);
    curve.area->setBrush(fill);
    curve.area->setPen(Qt::NoPen);
    curve.outline->setPen(QPen(color, penWidth() * 1.3, style));
}

void DensityChart::paintMean(QPainter& painter, const Moments& moments, const QColor& color,
                             Qt::PenStyle style) const {
    if (moments.count == 0 || !std::isfinite(moments.mean))
        return;
    const double x = toPosition(moments.mean, 0).x();
    painter.setPen(QPen(color, penWidth() * 1.3, style));
    painter.drawLine(QPointF(x, plotRect().top()), QPointF(x, plotRect().bottom()));
}

void DensityChart::paintMeanLabels(QPainter& painter) const {
    const auto text = [this](const QString& group, const Moments& moments, const Moments& after) {
        const QString before = tr("%1 mean %2").arg(group, QString::number(moments.mean, 'f', 3));
        if (after.count == 0)
            return before;
        // An arrow only between means of the same tokens.
        const QString mean = QString::number(after.mean, 'f', 3);
        return after.count == moments.count
            ? tr("%1 \u2192 %2").arg(before, mean)
            : tr("%1; after %2, of %3 tokens").arg(before, mean, count(after.count));
    };
    const bool sensitiveLeft = sensitiveMoments_.mean <= neutralMoments_.mean;
    const double row = em() * 1.15;
    const double top = plotRect().top() + em() * 0.65;
    // The two labels look away from each other; the second has a row of its own, so they never
    // meet.
    const std::array groups{std::tuple(&sensitiveMoments_, &afterSensitiveMoments_, tr("sensitive"),
                                       theme().sensitive, sensitiveLeft, 0.0),
                            std::tuple(&neutralMoments_, &afterNeutralMoments_, tr("neutral"),
                                       theme().neutral, !sensitiveLeft, row)};
    for (const auto& [moments, after, group, color, left, offset] : groups) {
        if (moments->count == 0 || !std::isfinite(moments->mean))
            continue;
        const QPointF anchor(toPosition(moments->mean, 0).x(), top + offset);
        const QString label = text(group, *moments, *after);
        paintLabel(painter, placeLabel(label, anchor, left ? Qt::AlignLeft : Qt::AlignRight), label,
                   color);
    }
}

void DensityChart::paintTau(QPainter& painter) const {
    const QRectF plot = plotRect();
    const double x = toPosition(tau_, 0).x();
    const double grip = em() * 0.4;
    painter.setPen(QPen(theme().marker, penWidth() * (dragging_ ? 2.5 : 1.8)));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().marker);
    const double y = plot.bottom();
    painter.drawPolygon(QPolygonF{{x, y - grip}, {x + grip, y + grip}, {x - grip, y + grip}});
    painter.setBrush(Qt::NoBrush);
    const QString label = tr("τ %1").arg(QString::number(tau_, 'f', 3));
    const QPointF anchor(x, plot.bottom() - em() * 1.1);
    paintLabel(painter, placeLabel(label, anchor, tau_ > 0.8 ? Qt::AlignLeft : Qt::AlignRight),
               label, theme().marker);
}

void DensityChart::paintFront(QPainter& painter) const {
    paintMean(painter, neutralMoments_, theme().neutral, Qt::DashLine);
    paintMean(painter, sensitiveMoments_, theme().sensitive, Qt::SolidLine);
    paintMean(painter, afterNeutralMoments_, theme().neutral, Qt::DotLine);
    paintMean(painter, afterSensitiveMoments_, theme().sensitive, Qt::DotLine);
    paintMeanLabels(painter);
    paintTau(painter);
}

bool DensityChart::isOnTau(const QPointF& position) const {
    const QRectF plot = plotRect().adjusted(0, 0, 0, em());
    return std::abs(position.x() - toPosition(tau_, 0).x()) <= em() * 0.6
        && position.y() >= plot.top() && position.y() <= plot.bottom();
}

bool DensityChart::pressed(const QPointF& position) {
    if (!isOnTau(position))
        return false;
    dragging_ = true;
    tauBefore_ = tau_;
    repaintPlot();
    return true;
}

void DensityChart::dragged(const QPointF& position) {
    if (dragging_)
        moveTau(toValues(position).x());
}

void DensityChart::released(const QPointF&) {
    finishDrag();
}

void DensityChart::hovered(const QPointF& position) {
    plotWidget()->setCursor(isOnTau(position) ? Qt::SizeHorCursor : Qt::ArrowCursor);
}

void DensityChart::moveTau(double tau) {
    // Three decimals: what the spin box shows is what is set.
    const double rounded = std::round(std::clamp(tau, 0.0, 1.0) * 1000) / 1000;
    if (rounded == tau_)
        return;
    setTau(rounded);
    emit tauDragged(rounded);
}

void DensityChart::finishDrag() {
    if (!dragging_ && !keying_)
        return;
    dragging_ = keying_ = false;
    repaintPlot();
    emit tauDragFinished(tau_);
}

QString DensityChart::tooltipAt(const QPointF& position) const {
    const QRectF plot = plotRect();
    const double x = std::clamp(toValues(position).x(), 0.0, 1.0);
    QString text = plot.contains(position)
        ? tr("confidence %1: density sensitive %2, neutral %3\n")
              .arg(QString::number(x, 'f', 3), numberText(valueAt(shownSensitive(), x)),
                   numberText(valueAt(shownNeutral(), x)))
        : QString();
    text += tr("sensitive: %1 tokens, mean %2, sd %3\nneutral: %4 tokens, mean %5, sd %6\n")
                .arg(count(sensitiveMoments_.count), numberText(sensitiveMoments_.mean),
                     numberText(sensitiveMoments_.std), count(neutralMoments_.count),
                     numberText(neutralMoments_.mean), numberText(neutralMoments_.std));
    text += histogramShown() ? tr("density = count / (tokens × bin width)\n")
                             : tr("Gaussian kernel density, Scott's bandwidth\n");
    return text
        + tr("KS = sup |F₁ − F₂|, two-sided\nEq. 2: a token is supervised if c > τ; drag τ or use "
             "the arrow keys");
}

void DensityChart::addMenuActions(QMenu& menu) {
    QAction* log = menu.addAction(tr("&Logarithmic density"), this, &DensityChart::setLogAxis);
    log->setCheckable(true);
    log->setChecked(log_);
    QAction* bins = menu.addAction(tr("Show &histogram"), this, &DensityChart::setHistogramShown);
    bins->setCheckable(true);
    bins->setChecked(histogramShown());
    bins->setEnabled(!histogramSensitive_.x.empty());
}

void DensityChart::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && dragging_) {
        moveTau(tauBefore_);
        return finishDrag();
    }
    const double step = event->modifiers().testFlag(Qt::ShiftModifier) ? bigKeyStep : keyStep;
    double target = tau_;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
        target -= step;
        break;
    case Qt::Key_Right:
    case Qt::Key_Up:
        target += step;
        break;
    case Qt::Key_PageDown:
        target -= bigKeyStep;
        break;
    case Qt::Key_PageUp:
        target += bigKeyStep;
        break;
    case Qt::Key_Home:
        target = 0;
        break;
    case Qt::Key_End:
        target = 1;
        break;
    default:
        return PlotPanel::keyPressEvent(event);
    }
    if (isEmpty() || dragging_)
        return;
    keying_ = true;
    moveTau(target);
}

void DensityChart::keyReleaseEvent(QKeyEvent* event) {
    if (keying_ && !event->isAutoRepeat())
        finishDrag();
    else
        PlotPanel::keyReleaseEvent(event);
}

void DensityChart::focusOutEvent(QFocusEvent* event) {
    if (keying_)
        finishDrag();
    PlotPanel::focusOutEvent(event);
}

ChartTable DensityChart::table() const {
    const Density& sensitive = shownSensitive();
    const Density& neutral = shownNeutral();
    ChartTable table{{QStringLiteral("confidence"), QStringLiteral("density_sensitive"),
                      QStringLiteral("density_neutral")},
                     {}};
    if (!picked_.x.empty())
        table.header += QStringLiteral("density_picked");
    if (hasAfter())
        table.header +=
            {QStringLiteral("density_sensitive_after"), QStringLiteral("density_neutral_after")};
    const Density& places = sensitive.x.empty() ? neutral : sensitive;
    const auto cell = [](const Density& density, std::size_t i) {
        return i < density.y.size() ? csvNumber(density.y[i]) : QString();
    };
    for (std::size_t i = 0; i < places.x.size(); ++i) {
        QStringList row{csvNumber(places.x[i]), cell(sensitive, i), cell(neutral, i)};
        if (!picked_.x.empty())
            row += csvNumber(valueAt(picked_, places.x[i]));
        if (hasAfter())
            row += {csvNumber(valueAt(afterSensitive_, places.x[i])),
                    csvNumber(valueAt(afterNeutral_, places.x[i]))};
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace cuset
