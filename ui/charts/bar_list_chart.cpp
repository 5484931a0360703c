#include "ui/charts/bar_list_chart.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "ui/charts/chart_header.h"
#include "ui/editor/color_scale.h"

namespace cuset {

BarListChart::BarListChart(const QString& name, QWidget* parent)
    : ChartPanel(name, parent) { }

void BarListChart::setRows(std::vector<BarRowItem> rows, double most, const QStringList& columns) {
    rows_ = std::move(rows);
    columns_ = columns;
    most_ = most;
    QStringList spoken;
    for (const BarRowItem& row : rows_) {
        if (std::isfinite(row.value))
            most_ = std::max(most_, row.value);
        if (!row.heading)
            spoken += row.label + QLatin1Char(' ') + row.numbers;
    }
    if (!(most_ > 0))
        most_ = 1;
    if (current_ >= static_cast<int>(rows_.size()))
        current_ = -1;
    setAccessibleDescription(isEmpty() ? emptyText() : spoken.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

void BarListChart::setPartName(const QString& name) {
    partName_ = name;
    update();
}

void BarListChart::setCurrent(int row) {
    current_ = row >= 0 && row < static_cast<int>(rows_.size()) ? row : -1;
    update();
}

QSize BarListChart::minimumSizeHint() const {
    const double lines = static_cast<double>(std::max<std::size_t>(rows_.size(), 4)) + 1.6;
    return QSizeF(18 * em(), lines * em() * 1.05).toSize();
}

double BarListChart::rowHeight() const {
    const double room = height() - headerHeight(labelFont()) - em() * 0.3;
    const double lines = static_cast<double>(std::max<std::size_t>(rows_.size(), 1));
    return std::clamp(room / lines, em() * 1.02, em() * 1.8);
}

QRectF BarListChart::rowRect(int row) const {
    return {0, headerHeight(labelFont()) + row * rowHeight(), static_cast<double>(width()),
            rowHeight()};
}

double BarListChart::labelWidth() const {
    const QFontMetricsF metrics(labelFont());
    double widest = 0;
    for (const BarRowItem& row : rows_)
        if (!row.heading)
            widest = std::max(widest, metrics.horizontalAdvance(row.label));
    return std::min(widest + em(), width() * 0.4);
}

double BarListChart::numbersWidth() const {
    const QFontMetricsF metrics(labelFont());
    double widest = 0;
    for (const BarRowItem& row : rows_)
        widest = std::max(widest, metrics.horizontalAdvance(row.numbers));
    return std::min(widest + em() * 0.8, width() * 0.45);
}

void BarListChart::paintRow(QPainter& painter, int index) const {
    const BarRowItem& row = rows_[static_cast<std::size_t>(index)];
    const QFontMetricsF metrics(labelFont());
    const QRectF place = rowRect(index);
    const double baseline = place.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    if (row.heading) {
        QFont bold = labelFont();
        bold.setBold(true);
        painter.setFont(bold);
        painter.setPen(theme().text);
        painter.drawText(QPointF(em() * 0.4, baseline), row.label);
        painter.setFont(labelFont());
        return;
    }
    if (index == current_) {
        painter.fillRect(place, mixed(theme().marker, theme().background, 0.16));
        painter.fillRect(QRectF(place.topLeft(), QSizeF(em() * 0.2, place.height())),
                         theme().marker);
    }
    const double label = labelWidth();
    painter.setPen(theme().text);
    painter.drawText(QPointF(em() * 0.5, baseline),
                     metrics.elidedText(row.label, Qt::ElideMiddle, label - em() * 0.6));
    const double room = std::max(1.0, width() - label - numbersWidth());
    const double length =
        std::isfinite(row.value) ? room * std::clamp(row.value / most_, 0.0, 1.0) : 0;
    const double thick = std::min(place.height() * 0.66, em());
    const QRectF bar(label, place.center().y() - thick / 2, length, thick);
    painter.fillRect(bar, mixed(theme().neutral, theme().background, 0.55));
    if (row.part > 0 && row.value > 0) {
        QRectF part = bar;
        part.setWidth(length * std::clamp(row.part / row.value, 0.0, 1.0));
        painter.fillRect(part, theme().sensitive);
        paintHatch(painter, part, mixed(theme().background, theme().sensitive, 0.35), em() * 0.4,
                   penWidth());
    }
    painter.setPen(theme().text);
    painter.drawText(
        QPointF(label + length + em() * 0.4, baseline),
        metrics.elidedText(row.numbers, Qt::ElideRight, width() - label - length - em() * 0.5));
}

void BarListChart::paintChart(QPainter& painter) const {
    const QRectF area({0, 0}, QSizeF(size()));
    if (isEmpty())
        return paintEmptyState(painter, area);
    painter.fillRect(area, theme().background);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(labelFont());
    std::vector<HeaderItem> header;
    if (!partName_.isEmpty()) {
        HeaderItem item{partName_, theme().sensitive};
        item.bar = HeaderItem::Bar::hatched;
        header.push_back(item);
    }
    paintHeader(painter, QRectF(0, 0, width(), em()), labelFont(), penWidth(), accessibleName(),
                theme().text, header);
    for (int row = 0; row < static_cast<int>(rows_.size()); ++row)
        paintRow(painter, row);
    if (hasFocus() && current_ >= 0) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette().color(QPalette::Highlight), penWidth() * 1.5));
        painter.drawRect(rowRect(current_).adjusted(1, 1, -1, -1));
    }
}

void BarListChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintChart(painter);
}

int BarListChart::rowAt(const QPointF& position) const {
    const int row =
        static_cast<int>(std::floor((position.y() - headerHeight(labelFont())) / rowHeight()));
    if (row < 0 || row >= static_cast<int>(rows_.size())
        || rows_[static_cast<std::size_t>(row)].heading)
        return -1;
    return row;
}

void BarListChart::pick(int row) {
    if (!pickable_ || row < 0)
        return;
    setCurrent(row);
    emit rowClicked(row);
}

void BarListChart::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || isEmpty())
        return;
    setFocus(Qt::MouseFocusReason);
    pick(rowAt(event->position()));
}

void BarListChart::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Up ? -1 : event->key() == Qt::Key_Down ? 1 : 0;
    if (step == 0 || !pickable_ || isEmpty()) {
        event->ignore();
        return;
    }
    int row = current_ < 0 && step < 0 ? static_cast<int>(rows_.size()) : current_;
    do
        row += step;
    while (row >= 0 && row < static_cast<int>(rows_.size())
           && rows_[static_cast<std::size_t>(row)].heading);
    if (row >= 0 && row < static_cast<int>(rows_.size()))
        pick(row);
}

void BarListChart::focusInEvent(QFocusEvent*) {
    update();
}
void BarListChart::focusOutEvent(QFocusEvent*) {
    update();
}

QString BarListChart::tooltipAt(const QPointF& position) const {
    const int row = rowAt(position);
    if (row < 0)
        return {};
    const BarRowItem& item = rows_[static_cast<std::size_t>(row)];
    return item.label + QStringLiteral(": ") + item.numbers + QLatin1Char('\n') + item.explanation;
}

ChartTable BarListChart::table() const {
    ChartTable table{columns_, {}};
    for (const BarRowItem& row : rows_) {
        if (row.heading)
            continue;
        QStringList cells{row.label};
        for (const double figure : row.figures)
            cells += csvNumber(figure);
        table.rows.push_back(cells);
    }
    return table;
}

} // namespace cuset
