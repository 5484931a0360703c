// CompareState: scores to set beside the open ones: a second score file, an adapter, or the
// checkpoints of a run, one of which is shown. Figures of each are computed in the pool as its
// scores come, so that going from one to another costs a frame.
#pragma once

#include <memory>
#include <vector>

#include <QObject>
#include <QString>

#include "core/analysis/comparison.h"
#include "core/analysis/data_map.h"
#include "core/analysis/statistics.h"
#include "ui/async/job_runner.h"
#include "ui/state/analysis_state.h"

namespace cuset {

// What is known of one set of scores beside the open ones.
struct ComparedFigures {
    Comparison comparison;
    std::vector<int> indices; // [N of the open scores] the sample's index in B, -1: not compared
    Density sensitiveAfter, neutralAfter;
    Moments sensitiveAfterMoments, neutralAfterMoments;
};

struct CompareStage {
    enum class Status {
        Missing, // can be scored
        Gone, // neither scores nor the checkpoint are there
        Computing, // scores are there, figures are on their way
        Ready,
        Failed, // `problem` says why
    };
    QString title; // "base", "step 8", a file's name
    qint64 step = -1; // of a run, or -1
    Status status = Status::Missing;
    QString problem;
    std::shared_ptr<const ScoreSet> scores;
    std::shared_ptr<const ComparedFigures> figures;
};

class CompareState : public QObject {
    Q_OBJECT
public:
    CompareState(Workspace* workspace, AnalysisState* analysis, JobRunner* pool,
                 QObject* parent = nullptr);

    // Other things to compare with; `current` is shown once it is ready.
    void setStages(const QString& name, std::vector<CompareStage> stages, int current);
    void clear();
    // Scores of a stage came. The base of a run is the open scores themselves.
    void setScores(int stage, std::shared_ptr<const ScoreSet> scores);
    void setProblem(int stage, const QString& problem);
    void setCurrent(int stage);

    const QString& name() const { return name_; } // of the run, adapter or file; "" for nothing
    const std::vector<CompareStage>& stages() const { return stages_; }
    int current() const { return current_; } // -1 for none
    int readyCount() const;
    int missingCount() const;
    // Of the stage that is shown; null while it has none.
    std::shared_ptr<const ComparedFigures> figures() const;
    // The data map of the stages that are ready; null with fewer than two.
    std::shared_ptr<const DataMap> dataMap() const { return map_; }
    // The map costs a look at every token of every stage: it is made while it is in sight only.
    void setDataMapWanted(bool wanted);
    bool isSettled() const;

signals:
    void stagesChanged(); // other stages
    void stageChanged(int stage); // one stage's status, scores or figures
    void currentChanged(); // what is shown: another stage, or its figures came
    void dataMapChanged();
    void failed(const QString& message);

private:
    void compute(int stage);
    void showCurrent();
    void computeDataMap();
    void baseChanged();
    QString channelOf(int stage) const;

    Workspace* workspace_;
    AnalysisState* analysis_;
    JobRunner* pool_;
    QString name_;
    std::vector<CompareStage> stages_;
    int current_ = -1;
    bool mapWanted_ = false;
    std::shared_ptr<const DataMap> map_;
};

// One line for the message bar: what was left out and what was made in another way; "" if there is
// nothing to say.
QString comparisonWarning(const Comparison& comparison);

} // namespace cuset
