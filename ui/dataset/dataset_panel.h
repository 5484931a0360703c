// DatasetPanel: the sample table with its filter.
#pragma once

#include <vector>

#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTimer>
#include <QWidget>

#include "ui/dataset/sample_filter_proxy.h"
#include "ui/dataset/sample_table_model.h"

namespace cuset {

class DatasetPanel : public QWidget {
    Q_OBJECT
public:
    DatasetPanel(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                 KindFigures* kinds, UnitFigures* units, NoteState* notes,
                 QWidget* parent = nullptr);

    // The next or previous sample in the table's order; false at its end.
    bool step(int direction);
    // The workspace's row after (1) or before (-1) `row` in the table's order, from one end to the
    // other; -1 if the table is empty.
    int neighbour(int row, int direction) const;
    // The first row in the table's order, -1 if it is empty.
    int firstRow() const;
    QTableView* table() { return table_; }
    QLineEdit* filterField() { return filter_; }
    // What is wrong with the filter; "" if nothing is.
    QString filterError() const { return error_->text(); }
    bool isSettled() const { return !filterTimer_.isActive(); }
    // Workspace rows that the filter lets pass, in the table's order.
    std::vector<int> shownRows() const;
    // Ids of the chosen rows, of the current one if none is.
    std::vector<QString> chosenIds() const;
    // Quarantine for the chosen rows, or its end if all of them are in it.
    void toggleQuarantine();

signals:
    void exportRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void build();
    void buildColumns();
    void applyFilter();
    void showKinds();
    void showTags();
    void fitIdColumn();
    void showMenu(const QPoint& position);
    void askForTag();
    void showSelection();
    void showCount();

    Workspace* workspace_;
    SelectionState* selection_;
    UnitFigures* units_;
    NoteState* notes_;
    SampleTableModel* model_;
    SampleFilterProxy* proxy_;
    QLineEdit* filter_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* error_ = nullptr;
    QLabel* count_ = nullptr;
    bool resort_ = false; // rows are sorted by what a threshold changed
    QTimer filterTimer_; // a short rest after the last key
};

} // namespace cuset
