// SampleTableModel: one row a sample, with the figures that tell samples apart.
#pragma once

#include <QAbstractTableModel>

#include "ui/state/analysis_state.h"
#include "ui/state/kind_figures.h"

namespace cuset {

class SampleTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Id,
        Tokens,
        Mean,
        Difficulty,
        Weight,
        Kept,
        Cuda,
        Confident,
        MeanMask,
        LowestWindow,
        Picked, // tokens of the kinds that are picked out
        ColumnCount
    };
    // The number or text behind a cell; invalid for an unscored sample.
    static constexpr int sortRole = Qt::UserRole;
    static constexpr int textRole = Qt::UserRole + 1; // id, prompt and response, for the filter

    SampleTableModel(Workspace* workspace, AnalysisState* analysis, KindFigures* kinds,
                     QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant value(int row, int column) const;
    void figuresChanged();

    Workspace* workspace_;
    AnalysisState* analysis_;
    KindFigures* kinds_;
    int rows_ = 0;
};

} // namespace cuset
