// ComparePanel: what the open scores are compared with, the slider over checkpoints, and the
// changes by sample and by kind.
#pragma once

#include <QLabel>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QWidget>

#include "ui/compare/change_tables.h"
#include "ui/compare/stage_slider.h"

namespace cuset {

class ComparePanel : public QWidget {
    Q_OBJECT
public:
    ComparePanel(CompareState* state, Workspace* workspace, SelectionState* selection,
                 QWidget* parent = nullptr);

    StageSlider* slider() { return slider_; }
    QTableView* sampleTable() { return samples_; }
    QTableView* kindTable() { return kinds_; }
    QTabWidget* tabs() { return tabs_; }
    // What can be compared with: actions of the window.
    void setChoices(const QList<QAction*>& actions);
    // Whether "Score" would do something now.
    void setCanScore(bool can);
    // Writes the table in front as CSV. Says how it went through the signals.
    void exportTo(const QString& path);

signals:
    void scoreRequested();
    void closeRequested();
    void exported(const QString& path);
    void exportFailed(const QString& message);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    QWidget* buildHead();
    QTableView* makeTable(QAbstractItemModel* model, const QString& name);
    void connectAll();
    void showStages();
    void showCurrent();
    void showSelection();
    void chooseExport();

    CompareState* state_;
    Workspace* workspace_;
    SelectionState* selection_;
    SampleChangeModel* sampleModel_;
    KindChangeModel* kindModel_;
    QStackedWidget* pages_ = nullptr;
    QMenu* choices_ = nullptr;
    QList<QToolButton*> choiceButtons_;
    QLabel* name_ = nullptr;
    StageSlider* slider_ = nullptr;
    QLabel* stage_ = nullptr;
    QLabel* figures_ = nullptr;
    QToolButton* score_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    QTableView* samples_ = nullptr;
    QTableView* kinds_ = nullptr;
};

} // namespace cuset
