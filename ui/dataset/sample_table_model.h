// SampleTableModel: one row a sample, with the figures that tell samples apart.
#pragma once

#include <optional>

#include <QAbstractTableModel>

#include "ui/state/analysis_state.h"
#include "ui/state/kind_figures.h"
#include "ui/state/note_state.h"
#include "ui/state/unit_figures.h"

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
        Push, // of the chosen objective, all of the sample
        PushSensitive, // its share on sensitive tokens
        LowestUnit, // confidence of the sample's lowest line, statement, ...
        Tags, // editable
        Note, // editable
        ColumnCount
    };
    // The number or text behind a cell; invalid for an unscored sample.
    static constexpr int sortRole = Qt::UserRole;
    // Id, prompt, response, tags and note, for the filter.
    static constexpr int textRole = Qt::UserRole + 1;

    SampleTableModel(Workspace* workspace, AnalysisState* analysis, KindFigures* kinds,
                     UnitFigures* units, NoteState* notes, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    // The number behind a cell, for sorting many; nothing for a text and an unscored sample.
    std::optional<double> number(int row, int column) const;
    // False for what no threshold changes.
    static bool followsThresholds(int column);

private:
    QVariant value(int row, int column) const;
    QVariant noted(int row, int column) const;
    QString shown(int row, int column) const;
    QString toolTip(int row, int column) const;
    bool isQuarantined(int row) const;
    QString searchText(int row) const;
    void figuresChanged(int first, int last);

    Workspace* workspace_;
    AnalysisState* analysis_;
    KindFigures* kinds_;
    UnitFigures* units_;
    NoteState* notes_;
    int rows_ = 0;
};

} // namespace cuset
