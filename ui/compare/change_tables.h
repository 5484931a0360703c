// Tables of a comparison: the change of each sample, and of each class and kind of token.
#pragma once

#include <vector>

#include <QAbstractTableModel>

#include "ui/charts/chart_export.h"
#include "ui/compare/compare_state.h"

namespace cuset {

// A row for each sample that was compared. Rows stay where they are while another checkpoint shows
// the same samples.
class SampleChangeModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Id, Tokens, Before, After, Change, LogProb, ColumnCount };
    static constexpr int sortRole = Qt::UserRole; // the number or text behind a cell

    SampleChangeModel(CompareState* state, Workspace* workspace, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    // The row of the workspace, or -1.
    int workspaceRow(int row) const;
    // The row that shows a row of the workspace, or -1.
    int rowOf(int workspaceRow) const;
    // Unrounded, in the columns of `cuset compare -o FILE.csv`, most improved first.
    ChartTable table() const;

private:
    void update();

    CompareState* state_;
    Workspace* workspace_;
    std::shared_ptr<const ComparedFigures> figures_;
    std::vector<int> samples_; // [rows] index in the open scores, ascending
    std::vector<int> entries_; // [rows] index in the comparison's samples
};

// All tokens, both classes, and the kinds of CUDA-sensitive span.
class KindChangeModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Kind, Tokens, Before, After, Change, LogProb, ColumnCount };
    static constexpr int sortRole = Qt::UserRole;
    static constexpr int rows = 3 + sensitive_kind_count;

    explicit KindChangeModel(CompareState* state, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    // What picks the row's tokens out; 0 for all and for neutral tokens.
    static LabelBits labelsOf(int row);
    ChartTable table() const;

private:
    MeanChange change(int row) const;

    CompareState* state_;
    std::shared_ptr<const ComparedFigures> figures_;
};

} // namespace cuset
