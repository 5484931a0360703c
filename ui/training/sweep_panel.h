// SweepPanel: the results of a sweep as a heat map over two of its settings, and its queue.
#pragma once

#include <optional>
#include <vector>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <QWidget>

#include "core/train/run_sweep.h"
#include "ui/charts/heat_map_chart.h"
#include "ui/training/run_registry.h"

namespace cuset {

// What a sweep varies, as figures of a run.
enum class RunAxis { Tau, Lambda, Window, LearningRate, Objective };
enum class RunFigure { BestValidation, LastLoss, LastNll, SensitiveConfidence };

// The heat map of a sweep's runs. Runs that have no such figure yet are empty cells; of several
// runs in a cell (other axes) the one with the best figure is shown.
HeatMap sweepHeatMap(const std::vector<const RunFollower*>& runs, RunAxis x, RunAxis y,
                     RunFigure figure);
// The axes that vary among the runs, those of the most values first.
std::vector<RunAxis> varyingAxes(const std::vector<const RunFollower*>& runs);

class SweepPanel : public QWidget {
    Q_OBJECT
public:
    SweepPanel(RunRegistry* registry, QWidget* parent = nullptr);

    void setSweep(const QString& folder); // "" for none
    const QString& sweep() const { return folder_; }
    HeatMapChart* chart() { return chart_; }

signals:
    void resumeRequested(const QString& folder, int jobs);
    void stopRequested(const QString& folder);
    void runPicked(const QString& folder);

private:
    void build();
    void fillSweeps();
    void showSweep();
    void watchQueue();
    std::vector<const RunFollower*> runs() const;

    RunRegistry* registry_;
    QString folder_;
    QTimer timer_;
    QComboBox* sweeps_ = nullptr;
    QComboBox* figure_ = nullptr;
    QComboBox* x_ = nullptr;
    QComboBox* y_ = nullptr;
    QSpinBox* jobs_ = nullptr;
    QPushButton* resume_ = nullptr;
    QPushButton* stop_ = nullptr;
    QLabel* state_ = nullptr;
    HeatMapChart* chart_ = nullptr;
    HeatMap map_;
};

} // namespace cuset
