#include "ui/training/progress_delegate.h"

#include <QPainter>

#include "ui/editor/color_scale.h"
#include "ui/training/run_table_model.h"

namespace cuset {

void ProgressDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const double share = qBound(0.0, index.data(RunTableModel::progressRole).toDouble(), 1.0);
    if (share <= 0)
        return;
    // A line at the cell's foot: the text above it keeps its contrast.
    const int height = qMax(2, option.fontMetrics.height() / 8);
    QRect bar = option.rect.adjusted(height, 0, -height, -1);
    bar.setTop(bar.bottom() - height + 1);
    QColor ground = option.palette.color(QPalette::Text);
    ground.setAlphaF(0.15f);
    painter->fillRect(bar, ground);
    bar.setWidth(static_cast<int>(bar.width() * share));
    painter->fillRect(bar, seriesColors(option.palette).accent);
}

} // namespace cuset
