// TrainingPanel: the runs, and what they did: table at the left; curves, settings, log and sweeps
// at the right. It only shows; starting and stopping are its signals.
#pragma once

#include <functional>
#include <vector>

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSlider>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QWidget>

#include "ui/training/config_difference_model.h"
#include "ui/training/run_charts.h"
#include "ui/training/run_registry.h"
#include "ui/training/run_table_model.h"
#include "ui/training/sweep_panel.h"

namespace cuset {

class TrainingPanel : public QWidget {
    Q_OBJECT
public:
    explicit TrainingPanel(RunRegistry* registry, QWidget* parent = nullptr);

    std::vector<RunFollower*> selectedRuns() const;
    // Selects runs, now or as soon as they are known; a sweep's folder stands for its runs.
    void select(const QStringList& folders);
    void selectAll();
    void showTab(const QString& name); // curves, settings, log, sweep
    bool isSettled() const { return charts_->isSettled(); }
    RunCharts* charts() { return charts_; }
    SweepPanel* sweeps() { return sweeps_; }

signals:
    void newRequested();
    void againRequested(const QString& folder); // with changes
    void stopRequested(const QString& folder);
    void resumeRequested(const QString& folder);
    void removeRequested(const QString& folder); // confirmed
    void compareRequested(const QString& folder); // its checkpoints with the open scores
    void openRequested(); // a folder of runs
    void selectionChanged();
    void exported(const QString& path);
    void exportFailed(const QString& text);

private:
    void buildTable();
    void buildBar(QHBoxLayout* row);
    void buildTabs();
    QToolButton* addButton(const QString& text, const QString& help,
                           const std::function<void()>& run);
    void runAdded(int row);
    void addToSelection(const RunFollower* run, bool alone);
    void showSelected();
    void showDetails();
    void showLog(const RunFollower& run);
    void showSettings();
    void confirmRemoval();
    void reveal();
    void chooseExport();
    void contextMenu(const QPoint& position);

    RunRegistry* registry_;
    RunTableModel* model_;
    QSortFilterProxyModel* proxy_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* empty_ = nullptr;
    QLabel* status_ = nullptr;
    QToolButton* stop_ = nullptr;
    QToolButton* resume_ = nullptr;
    QToolButton* resumeHere_ = nullptr; // beside the cause
    QToolButton* again_ = nullptr;
    QToolButton* compare_ = nullptr;
    QToolButton* reveal_ = nullptr;
    QToolButton* remove_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    RunCharts* charts_ = nullptr;
    QPlainTextEdit* log_ = nullptr;
    QTableView* settings_ = nullptr;
    QCheckBox* onlyDifferences_ = nullptr;
    ConfigDifferenceModel* differences_ = nullptr;
    SweepPanel* sweeps_ = nullptr;
    QStringList wanted_; // folders of runs to select when they are there
    QStringList shownSettings_; // folders
};

} // namespace cuset
