// KindTableModel: a row for each kind of CUDA-sensitive span, and one for all of them.
#pragma once

#include <QAbstractTableModel>

#include "ui/charts/chart_export.h"
#include "ui/state/kind_figures.h"

namespace cuset {

class KindTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Kind, Tokens, Share, Mean, LowWindows, Push, ColumnCount };
    static constexpr int sortRole = Qt::UserRole; // the number or text behind a cell

    explicit KindTableModel(KindFigures* figures, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    // All figures, unrounded; kinds by their name in the file formats.
    ChartTable table() const;

private:
    QString text(const KindFigures::Row& row, int index, int column) const;

    KindFigures* figures_;
};

} // namespace cuset
