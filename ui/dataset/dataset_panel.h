// DatasetPanel: the sample table with its filter.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QWidget>

#include "ui/dataset/sample_filter_proxy.h"
#include "ui/dataset/sample_table_model.h"

namespace cuset {

class DatasetPanel : public QWidget {
    Q_OBJECT
public:
    DatasetPanel(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                 QWidget* parent = nullptr);

    // The next or previous sample in the table's order; false at its end.
    bool step(int direction);
    // The first row in the table's order, -1 if it is empty.
    int firstRow() const;
    QTableView* table() { return table_; }

private:
    void build();
    void showSelection();
    void showCount();

    Workspace* workspace_;
    SelectionState* selection_;
    SampleTableModel* model_;
    SampleFilterProxy* proxy_;
    QLineEdit* filter_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* count_ = nullptr;
};

} // namespace cuset
