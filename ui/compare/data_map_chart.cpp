#include "ui/compare/data_map_chart.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QKeyEvent>
#include <QPainter>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr double largestVariability = 0.5; // of values in [0, 1]

// Of the map over the background: its ends stay visible on both kinds of paper.
QColor correctnessColor(double correctness, const ChartTheme& theme) {
    return readableOn(mapColor(ColorMap::Cividis, correctness), theme.background, 1.7);
}

} // namespace

DataMapChart::DataMapChart(QWidget* parent)
    : PlotPanel(tr("Data map"), parent) {
    setEmptyText(tr("Compare with a run and score two checkpoints or more:\neach sample becomes a "
                    "point."));
    setZoomable(true);
}

void DataMapChart::setMap(std::shared_ptr<const DataMap> map) {
    map_ = std::move(map);
    hovered_ = -1;
    double most = 0;
    if (map_)
        for (const DataMapPoint& point : map_->samples)
            most = std::max(most, point.variability);
    setXRange(0, std::min(largestVariability, std::max(most * 1.1, 0.01)), 0.001, true);
    setAccessibleDescription(isEmpty() ? emptyText()
                                       : tr("%1 samples over %2 checkpoints; variability up to %3")
                                             .arg(map_->samples.size())
                                             .arg(map_->checkpoints)
                                             .arg(numberText(most)));
    rebuild();
}

void DataMapChart::setMarkedSample(int index) {
    if (std::exchange(marked_, index) != index)
        repaintPlot();
}

double DataMapChart::radius() const {
    const std::size_t count = map_ ? map_->samples.size() : 0;
    return em() * (count > 2000 ? 0.15 : count > 300 ? 0.22 : 0.32);
}

QPointF DataMapChart::placeOf(const DataMapPoint& point) const {
    return toPosition(point.variability, point.confidence);
}

void DataMapChart::fillSeries() {
    setAxes({tr("variability: standard deviation of c over %1 checkpoints").arg(map_->checkpoints)},
            {tr("mean confidence")});
    setYRange(0, 1);
    setHeader({{tr("tokens that are the first choice: all"),
                correctnessColor(1, theme()),
                {},
                HeaderItem::Bar::plain},
               {tr("none"), correctnessColor(0, theme()), {}, HeaderItem::Bar::plain}});
}

// The paper's names for the corners.
void DataMapChart::paintRegions(QPainter& painter) const {
    const QRectF plot = plotRect();
    painter.setFont(labelFont());
    painter.setPen(theme().muted);
    const double gap = em() * 0.5;
    const QRectF inside = plot.adjusted(gap, gap / 2, -gap, -gap / 2);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignTop, tr("easy to learn"));
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignBottom, tr("hard to learn"));
    painter.drawText(inside, Qt::AlignRight | Qt::AlignVCenter, tr("ambiguous"));
}

void DataMapChart::paintFront(QPainter& painter) const {
    paintRegions(painter);
    painter.save();
    painter.setClipRect(plotRect().adjusted(-radius(), -radius(), radius(), radius()));
    painter.setRenderHint(QPainter::Antialiasing);
    for (const DataMapPoint& point : map_->samples) {
        QColor fill = correctnessColor(point.correctness, theme());
        fill.setAlphaF(0.85f);
        painter.setPen(QPen(theme().background, penWidth() * 0.5));
        painter.setBrush(fill);
        painter.drawEllipse(placeOf(point), radius(), radius());
    }
    paintMarks(painter);
    painter.restore();
}

void DataMapChart::paintMarks(QPainter& painter) const {
    painter.setBrush(Qt::NoBrush);
    const auto ring = [&](const DataMapPoint& point, double width) {
        painter.setPen(QPen(theme().marker, penWidth() * width));
        painter.drawEllipse(placeOf(point), radius() * 1.8, radius() * 1.8);
        const QString label = visibleText(point.id, 40);
        const QPointF at = placeOf(point);
        const bool left = at.x() > plotRect().center().x();
        paintLabel(painter,
                   placeLabel(label, at + QPointF((left ? -1.6 : 1.6) * radius(), 0),
                              left ? Qt::AlignLeft : Qt::AlignRight),
                   label, theme().marker);
    };
    for (const DataMapPoint& point : map_->samples)
        if (static_cast<int>(point.index) == marked_)
            ring(point, 2);
    if (hovered_ >= 0 && hovered_ < static_cast<int>(map_->samples.size())
        && map_->samples[static_cast<std::size_t>(hovered_)].index != marked_)
        ring(map_->samples[static_cast<std::size_t>(hovered_)], 1);
}

int DataMapChart::pointAt(const QPointF& position) const {
    if (isEmpty())
        return -1;
    int nearest = -1;
    double least = std::pow(radius() + em() * 0.5, 2);
    for (std::size_t i = 0; i < map_->samples.size(); ++i) {
        const QPointF away = placeOf(map_->samples[i]) - position;
        const double distance = QPointF::dotProduct(away, away);
        if (distance <= least) {
            least = distance;
            nearest = static_cast<int>(i);
        }
    }
    return nearest;
}

void DataMapChart::clicked(const QPointF& position) {
    const int point = pointAt(position);
    if (point >= 0)
        emit sampleClicked(static_cast<int>(map_->samples[static_cast<std::size_t>(point)].index));
}

void DataMapChart::hovered(const QPointF& position) {
    const int point = pointAt(position);
    plotWidget()->setCursor(point >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (std::exchange(hovered_, point) != point)
        repaintPlot();
}

void DataMapChart::hoverEnded() {
    hovered_ = -1;
    repaintPlot();
}

QString DataMapChart::tooltipAt(const QPointF& position) const {
    QString text;
    const int at = pointAt(position);
    if (at >= 0) {
        const DataMapPoint& point = map_->samples[static_cast<std::size_t>(at)];
        QStringList course;
        for (const double c : point.by_checkpoint)
            course += QString::number(c, 'f', 3);
        text = tr("%1: %2 tokens\nconfidence %3, variability %4, first choice %5 %\n%6\n")
                   .arg(visibleText(point.id, 120))
                   .arg(point.tokens)
                   .arg(numberText(point.confidence), numberText(point.variability),
                        QString::number(point.correctness * 100, 'f', 1),
                        course.mid(0, 24).join(QStringLiteral(" \u2192 ")));
    }
    return text
        + tr("A sample's confidence at a checkpoint is the mean of c over its tokens;\nthe map "
             "shows "
             "its mean and standard deviation over the checkpoints\n(Swayamdipta et al. 2020). "
             "Click to go to the sample.");
}

// Left and right go through the samples by variability.
void DataMapChart::keyPressEvent(QKeyEvent* event) {
    if (isEmpty() || (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right))
        return PlotPanel::keyPressEvent(event);
    std::vector<std::pair<double, int>> order;
    for (const DataMapPoint& point : map_->samples)
        order.emplace_back(point.variability, static_cast<int>(point.index));
    std::sort(order.begin(), order.end());
    auto at = std::find_if(order.begin(), order.end(),
                           [this](const auto& entry) { return entry.second == marked_; });
    if (at == order.end())
        at = order.begin();
    else if (event->key() == Qt::Key_Right && at + 1 != order.end())
        ++at;
    else if (event->key() == Qt::Key_Left && at != order.begin())
        --at;
    emit sampleClicked(at->second);
}

ChartTable DataMapChart::table() const {
    ChartTable table{{QStringLiteral("id"), QStringLiteral("tokens"), QStringLiteral("confidence"),
                      QStringLiteral("variability"), QStringLiteral("correctness")},
                     {}};
    if (map_)
        for (const DataMapPoint& point : map_->samples)
            table.rows.push_back({QString::fromStdString(point.id), QString::number(point.tokens),
                                  csvNumber(point.confidence), csvNumber(point.variability),
                                  csvNumber(point.correctness)});
    return table;
}

} // namespace cuset
