#include "ui/import/preview_table_model.h"

#include <utility>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr int shown_units = 80;
constexpr int tip_units = 1000;

} // namespace

PreviewTableModel::PreviewTableModel(QObject* parent)
    : QAbstractTableModel(parent) { }

void PreviewTableModel::setPreview(DataPreview preview) {
    beginResetModel();
    preview_ = std::move(preview);
    endResetModel();
}

int PreviewTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(preview_.rows.size());
}

int PreviewTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(preview_.columns.size());
}

QVariant PreviewTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const std::string& cell = preview_.cell(static_cast<std::size_t>(index.row()),
                                            static_cast<std::size_t>(index.column()));
    switch (role) {
    case Qt::DisplayRole:
        return visibleText(cell, shown_units);
    case Qt::ToolTipRole:
        return plainToolTip(visibleText(cell, tip_units));
    default:
        return {};
    }
}

QVariant PreviewTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || section < 0)
        return {};
    const auto at = static_cast<std::size_t>(section);
    if (orientation == Qt::Horizontal)
        return at < preview_.columns.size() ? visibleText(preview_.columns[at], shown_units)
                                            : QString();
    return at < preview_.lines.size() ? QVariant(static_cast<qlonglong>(preview_.lines[at]))
                                      : QVariant();
}

} // namespace cuset
