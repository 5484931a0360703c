#include "ui/charts/objective_chart.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QPainter>
#include <QtCharts/QLineSeries>

#include "ui/charts/decimator.h"
#include "ui/editor/color_scale.h"

namespace cuset {
namespace {

constexpr double narrowestView = 8; // tokens
constexpr double laneFill = 0.78; // of a lane that the largest weight takes

QString nameOf(int lane) {
    const std::string_view name = token_objective_names[static_cast<std::size_t>(lane)];
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

QString percent(double share) {
    return QString::number(share * 100, 'f', 1) + QStringLiteral(" %");
}

} // namespace

ObjectiveChart::ObjectiveChart(QWidget* parent)
    : PlotPanel(tr("Token weights under six objectives"), parent) {
    setZoomable(true);
    for (QLineSeries*& line : lines_)
        line = addLine();
}

void ObjectiveChart::setObjectives(SampleObjectives objectives) {
    const int before = tokens();
    objectives_ = std::move(objectives);
    most_ = 0;
    for (const auto& weights : objectives_.weights)
        for (const float weight : weights)
            most_ = std::max(most_, weight);
    if (!(most_ > 0))
        most_ = 1;
    const auto known = [this](int token) { return token < tokens() ? token : -1; };
    marked_ = known(marked_);
    hovered_ = known(hovered_);
    setXRange(-0.5, std::max(0, tokens() - 1) + 0.5, narrowestView, tokens() == before);
    QStringList spoken;
    for (int lane = 0; lane < token_objective_count && !isEmpty(); ++lane) {
        const PushTotals& push = objectives_.push[static_cast<std::size_t>(lane)];
        spoken += tr("%1: push %2, %3 on sensitive tokens")
                      .arg(nameOf(lane), numberText(push.total), percent(push.sensitive_share()));
    }
    setAccessibleDescription(isEmpty() ? emptyText() : spoken.join(QStringLiteral("; ")));
    rebuild();
}

void ObjectiveChart::setChosen(TokenObjective objective) {
    chosen_ = objective;
    rebuild();
}

void ObjectiveChart::setMarkedToken(int token) {
    if (token < 0 || token >= tokens())
        token = -1;
    if (token == marked_)
        return;
    marked_ = token;
    const double width = visibleTo() - visibleFrom();
    if (token >= 0 && (token < visibleFrom() || token > visibleTo()))
        showRange(token - width / 2, token + width / 2);
    repaintPlot();
}

double ObjectiveChart::laneHeight(float weight) const {
    return laneFill * static_cast<double>(weight / most_);
}

void ObjectiveChart::fillSeries() {
    PlotAxis x{tr("token")};
    x.whole = true;
    PlotAxis y{tr("weight, each lane from 0 to %1").arg(numberText(static_cast<double>(most_)))};
    for (int lane = token_objective_count - 1; lane >= 0; --lane)
        y.fixedTicks.push_back({laneBase(lane), nameOf(lane)});
    setAxes(x, y);
    setHeader({{tr("push, share on sensitive tokens"), theme().muted}});
    setYRange(-0.08, token_objective_count);
    const auto begin = static_cast<std::int64_t>(std::floor(visibleFrom()));
    const auto end = static_cast<std::int64_t>(std::ceil(visibleTo())) + 1;
    for (int lane = 0; lane < token_objective_count; ++lane) {
        const auto& weights = objectives_.weights[static_cast<std::size_t>(lane)];
        QList<QPointF> drawn;
        for (const std::int64_t t : decimateRange(weights, begin, end, columns()))
            drawn.append({static_cast<double>(t),
                          laneBase(lane) + laneHeight(weights[static_cast<std::size_t>(t)])});
        const bool chosen = lane == static_cast<int>(chosen_);
        QLineSeries* line = lines_[static_cast<std::size_t>(lane)];
        line->setPen(QPen(chosen ? theme().marker : theme().series(lane),
                          penWidth() * (chosen ? 1.5 : 0.9)));
        line->replace(drawn);
    }
}

void ObjectiveChart::paintBehind(QPainter& painter) const {
    for (int lane = 0; lane < token_objective_count; ++lane) {
        const double base = toPosition(0, laneBase(lane)).y();
        const double top = toPosition(0, laneBase(lane) + 1).y();
        if (lane == static_cast<int>(chosen_)) {
            QColor shade = theme().marker;
            shade.setAlphaF(0.1f);
            painter.fillRect(QRectF(plotRect().left(), top, plotRect().width(), base - top), shade);
        }
    }
}

void ObjectiveChart::paintFront(QPainter& painter) const {
    for (const int token : {marked_, hovered_}) {
        if (token < 0 || token < visibleFrom() || token > visibleTo())
            continue;
        const double x = toPosition(token, 0).x();
        painter.setPen(QPen(theme().marker, penWidth() * (token == marked_ ? 1.5 : 0.8),
                            token == marked_ ? Qt::SolidLine : Qt::DotLine));
        painter.drawLine(QPointF(x, plotRect().top()), QPointF(x, plotRect().bottom()));
    }
    for (int lane = 0; lane < token_objective_count; ++lane) {
        const PushTotals& push = objectives_.push[static_cast<std::size_t>(lane)];
        const QString text =
            numberText(push.total, 4) + QStringLiteral(",  ") + percent(push.sensitive_share());
        const QPointF corner(plotRect().right(), toPosition(0, laneBase(lane) + 0.98).y());
        QRectF place = placeLabel(text, corner, Qt::AlignLeft | Qt::AlignBottom);
        place.moveTop(corner.y());
        paintLabel(painter, place, text,
                   lane == static_cast<int>(chosen_) ? theme().marker : theme().text);
    }
}

int ObjectiveChart::tokenAt(const QPointF& position) const {
    if (isEmpty() || !plotRect().adjusted(-1, -1, 1, 1).contains(position))
        return -1;
    return std::clamp(static_cast<int>(std::lround(toValues(position).x())), 0, tokens() - 1);
}

TokenObjective ObjectiveChart::laneAt(const QPointF& position) const {
    const int fromBottom = static_cast<int>(std::floor(toValues(position).y()));
    return static_cast<TokenObjective>(
        std::clamp(token_objective_count - 1 - fromBottom, 0, token_objective_count - 1));
}

void ObjectiveChart::clicked(const QPointF& position) {
    const int token = tokenAt(position);
    if (token < 0)
        return;
    setMarkedToken(token);
    emit tokenClicked(token);
}

void ObjectiveChart::setHovered(int token) {
    if (token == hovered_)
        return;
    hovered_ = token;
    repaintPlot();
    emit tokenHovered(token);
}

void ObjectiveChart::hovered(const QPointF& position) {
    setHovered(tokenAt(position));
}

void ObjectiveChart::hoverEnded() {
    setHovered(-1);
}

QString ObjectiveChart::tooltipAt(const QPointF& position) const {
    QString text;
    if (const int token = tokenAt(position); token >= 0) {
        text = tr("token %1\n").arg(token);
        for (int lane = 0; lane < token_objective_count; ++lane)
            text += nameOf(lane) + QLatin1Char(' ')
                + numberText(static_cast<double>(objectives_.weights[static_cast<std::size_t>(
                    lane)][static_cast<std::size_t>(token)]))
                + QLatin1Char('\n');
    }
    return text
        + tr("weight: the factor of a token's -ln p in the loss: sft 1, dft and asft p (asft "
             "without its divergence from the base model), eaft H/ln 20, profit 1[p ≥ 0.1], cuset "
             "w M (Eq. 9)\npush: weight times 1 - p, summed\nwheel or drag zooms, Shift+drag pans, "
             "double click resets");
}

void ObjectiveChart::keyPressEvent(QKeyEvent* event) {
    const bool left = event->key() == Qt::Key_Left;
    if (isEmpty() || !(left || event->key() == Qt::Key_Right))
        return PlotPanel::keyPressEvent(event);
    const int step = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
    setMarkedToken(std::clamp(std::max(0, marked_) + (left ? -step : step), 0, tokens() - 1));
    emit tokenClicked(marked_);
}

ChartTable ObjectiveChart::table() const {
    ChartTable table{{QStringLiteral("token")}, {}};
    for (int lane = 0; lane < token_objective_count; ++lane)
        table.header += nameOf(lane);
    for (int token = 0; token < tokens(); ++token) {
        QStringList row{QString::number(token)};
        for (const auto& weights : objectives_.weights)
            row += csvNumber(weights[static_cast<std::size_t>(token)]);
        table.rows.push_back(row);
    }
    return table;
}

} // namespace cuset
