// ChartPanel: what every chart shares. It follows palette and font, shows an empty state, exports
// itself, explains itself in a tooltip and has accessible texts. Charts take values and emit what
// was picked; they know no workspace.
#pragma once

#include <QWidget>

#include "ui/charts/chart_export.h"
#include "ui/charts/chart_theme.h"

class QMenu;

namespace cuset {

class ChartPanel : public QWidget {
    Q_OBJECT

public:
    // `name` is the accessible name and the title of exports.
    explicit ChartPanel(const QString& name, QWidget* parent = nullptr);

    // What is shown instead of a chart without data: what the user should do next.
    void setEmptyText(const QString& text);
    const QString& emptyText() const { return emptyText_; }

    virtual bool isEmpty() const = 0;
    // The data behind what is drawn, undecimated.
    virtual ChartTable table() const = 0;
    // Draws the whole chart at chartSize(), in logical pixels from (0, 0).
    virtual void paintChart(QPainter& painter) const = 0;
    virtual QSize chartSize() const { return size(); }
    // The accessible name as a file name without suffix.
    QString fileBaseName() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void exported(const QString& path);
    void exportFailed(const QString& message);

protected:
    const ChartTheme& theme() const { return theme_; }
    QFont labelFont() const; // a little smaller than the application's
    double em() const; // height of a line of labels: the unit of all sizes
    double penWidth() const; // of a curve

    // Called after the palette or the font changed.
    virtual void styleChanged() = 0;
    // Plain text shown over a place of the chart; empty for none.
    virtual QString tooltipAt(const QPointF& position) const = 0;
    // Options of the chart, put above the export actions.
    virtual void addMenuActions(QMenu&) { }

    void paintEmptyState(QPainter& painter, const QRectF& area) const;
    void showTooltip(const QPoint& global, const QPointF& position);

    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    ChartTheme theme_;
    QString emptyText_;
};

} // namespace cuset
