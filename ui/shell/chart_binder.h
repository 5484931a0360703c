// ChartBinder: gives the charts their values and takes what a person picked in them to selection
// and thresholds. The charts know nothing of the workspace, and nothing else knows the charts.
#pragma once

#include <memory>
#include <vector>

#include <QObject>

#include "core/analysis/sweep.h"
#include "ui/async/job_runner.h"
#include "ui/charts/bar_list_chart.h"
#include "ui/charts/density_chart.h"
#include "ui/charts/sweep_chart.h"
#include "ui/charts/token_bar_chart.h"
#include "ui/charts/window_chart.h"
#include "ui/state/analysis_state.h"
#include "ui/state/kind_figures.h"

namespace cuset {

class ChartBinder : public QObject {
    Q_OBJECT
public:
    ChartBinder(AnalysisState* analysis, Workspace* workspace, MaskSettingsState* settings,
                SelectionState* selection, KindFigures* kinds, JobRunner* pool, QWidget* parent);

    DensityChart* density() { return density_; }
    WindowChart* window() { return window_; }
    TokenBarChart* bars() { return bars_; }
    SweepChart* sweep() { return sweep_; }
    BarListChart* shares() { return shares_; }
    std::vector<ChartPanel*> charts() { return {density_, window_, bars_, sweep_, shares_}; }
    // The sweep costs a second on large corpora: it is computed while its chart is in sight only.
    void setSweepVisible(bool visible);
    bool isSettled() const;

signals:
    void failed(const QString& message);

private:
    void connectCharts();
    void showCorpus();
    void showShares();
    void showSample();
    void showBars();
    void showSelection();
    void showPicked();
    void showPickedDensity();
    QColor pickedColor() const;
    void computeSweep();

    AnalysisState* analysis_;
    Workspace* workspace_;
    MaskSettingsState* settings_;
    SelectionState* selection_;
    KindFigures* kinds_;
    JobRunner* pool_;
    DensityChart* density_;
    WindowChart* window_;
    TokenBarChart* bars_;
    SweepChart* sweep_;
    BarListChart* shares_;
    bool sweepVisible_ = false;
    std::shared_ptr<const ScoreSet> barsScores_;
    std::shared_ptr<const ScoreSet> barsCompared_;
    std::shared_ptr<const ScoreSet> sweptScores_;
    MaskSettings sweptSettings_;
    int barsBegin_ = 0;
    int barsEnd_ = 0;
    int barsSample_ = -1;
};

} // namespace cuset
