// LowestTableModel: one row a stretch of low confidence.
#pragma once

#include <QAbstractTableModel>

#include "ui/state/lowest_state.h"

namespace cuset {

class LowestTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Mean, Minimum, Tokens, Kinds, Sample, Line, Text, ColumnCount };
    static constexpr int sortRole = Qt::UserRole;

    explicit LowestTableModel(LowestState* lowest, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant value(const LowUnit& low, int row, int column) const;
    QString text(const LowUnit& low, int column) const;

    LowestState* lowest_;
    int rows_ = 0;
};

} // namespace cuset
