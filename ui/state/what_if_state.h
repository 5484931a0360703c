// WhatIfState: the corpus' figures over a grid of tau, lambda and the window, around the present
// settings. Computed in the pool while somebody looks; a stopped one keeps the older grid.
#pragma once

#include <memory>
#include <vector>

#include <QObject>

#include "core/analysis/sweep.h"
#include "ui/state/analysis_state.h"

namespace cuset {

class WhatIfState : public QObject {
    Q_OBJECT
public:
    WhatIfState(AnalysisState* analysis, Workspace* workspace, MaskSettingsState* settings,
                JobRunner* pool, QObject* parent = nullptr);

    // Nothing is computed while nobody looks.
    void setWanted(bool wanted);
    void compute(); // anew, at the present settings
    void stop();

    const SweepGrid& grid() const { return grid_; }
    const std::vector<SweepPoint>& points() const { return points_; } // as sweep() gives them
    bool isRunning() const;
    bool isStopped() const { return stopped_; } // before there was a grid for these scores
    // Of the running computation, [0, 1].
    double progress() const { return progress_; }

signals:
    void changed();
    void progressChanged(); // also when it begins and ends
    void failed(const QString& message);

private:
    void computeIfNeeded();

    AnalysisState* analysis_;
    Workspace* workspace_;
    MaskSettingsState* settings_;
    JobRunner* pool_;
    SweepGrid grid_;
    std::vector<SweepPoint> points_;
    // What the points hold for.
    const CorpusAnalysis* corpus_ = nullptr;
    MaskSettings base_;
    double progress_ = 0;
    bool wanted_ = false;
    bool stopped_ = false;
};

} // namespace cuset
