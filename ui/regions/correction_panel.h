// CorrectionPanel: the labels a person corrected, in all samples; each can be looked up and taken
// back.
#pragma once

#include <QAbstractTableModel>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QWidget>

#include "ui/state/label_state.h"
#include "ui/state/selection_state.h"

namespace cuset {

class CorrectionTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Sample, Label, Text, ColumnCount };

    CorrectionTableModel(LabelState* labels, Workspace* workspace, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    // The workspace's row of the corrected sample; -1 if it is not open.
    int sampleRow(int row) const;

private:
    void reset();

    LabelState* labels_;
    Workspace* workspace_;
    std::vector<int> sampleRows_;
};

class CorrectionPanel : public QWidget {
    Q_OBJECT
public:
    CorrectionPanel(LabelState* labels, Workspace* workspace, SelectionState* selection,
                    QWidget* parent = nullptr);

    QTableView* tableView() { return table_; }

signals:
    void spanRequested(int sampleRow, cuset::ByteSpan span);

private:
    void build();
    void showState();
    void removeChosen();

    LabelState* labels_;
    CorrectionTableModel* model_;
    QTableView* table_ = nullptr;
    QLabel* state_ = nullptr;
    QPushButton* remove_ = nullptr;
};

} // namespace cuset
