// ProgressDelegate: a cell's text over a bar as long as the run's share of its steps.
#pragma once

#include <QStyledItemDelegate>

namespace cuset {

class ProgressDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

} // namespace cuset
