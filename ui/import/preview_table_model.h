// PreviewTableModel: the first records of a data file, a row each.
#pragma once

#include <QAbstractTableModel>

#include "core/io/data_preview.h"

namespace cuset {

class PreviewTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit PreviewTableModel(QObject* parent = nullptr);

    void setPreview(DataPreview preview);
    const DataPreview& preview() const { return preview_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    DataPreview preview_;
};

} // namespace cuset
