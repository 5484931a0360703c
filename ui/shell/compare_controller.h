// CompareController: opens what the open scores are compared with (a score file, a LoRA adapter, a
// run's checkpoints) and has the model lane score what is missing. Scores of checkpoints are kept
// beside their run; only the adapter is swapped from one to the next.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>

#include "core/train/run_scores.h"
#include "ui/compare/compare_state.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_lane.h"
#include "ui/shell/scoring_controller.h"

namespace cuset {

class CompareController : public QObject {
    Q_OBJECT
public:
    CompareController(Workspace* workspace, CompareState* state, ModelLane* lane, JobRunner* pool,
                      QObject* parent = nullptr);

    enum class Kind { Nothing, Scores, Adapter, Run };
    // By name and content: a score file, a PEFT adapter's folder, a run folder.
    static Kind kindOf(const QString& path);

    // Puts what is at `path` beside the open scores. Of a run, the newest checkpoint is shown.
    void open(const QString& path);
    // The model and the way of scoring that are used for an adapter, and for a run whose own model
    // is not found.
    void setModel(const QString& nameOrPath, const ScoringOptions& options);
    // Scores the stages that have none in the lane; what is done when it is stopped is kept.
    void scoreMissing();
    void close();
    bool canScore() const;
    // The adapters among what is compared with: title and folder.
    std::vector<std::pair<QString, QString>> adapters() const;
    bool isBusy() const;
    // Failures since the start, for exit codes.
    bool hasFailed() const { return failed_; }
    ErrorCode lastError() const { return lastError_; }

signals:
    void message(cuset::MessageKind kind, const QString& text);
    void adaptersChanged();
    void finished(); // a job in the lane ended

private:
    struct Opened;
    struct Job;
    static Opened read(const QString& path, Kind kind, std::shared_ptr<const ScoreSet> present,
                       bool needsData, RunControl& control);
    void opened(Opened opened);
    bool takeData(const Opened& opened);
    void show(const Opened& opened);
    static int scoreAll(ModelLane::Holder& holder, const Job& job, RunControl& control);
    void stageScored(int stage, std::shared_ptr<const ScoreSet> scores, const QString& path);
    void fail(const Error& error);
    void warnOnce();

    Workspace* workspace_;
    CompareState* state_;
    ModelLane* lane_;
    JobRunner* pool_;
    QString model_; // the open one
    QString runModel_; // the run's own, "" if it is not found
    ScoringOptions options_;
    std::vector<RunCheckpoint> checkpoints_; // of the stages; empty for a score file
    bool besideData_ = false; // scores are kept beside the data: no run is there to keep them
    quint64 job_ = 0;
    bool warned_ = false;
    bool failed_ = false;
    ErrorCode lastError_ = ErrorCode::failure;
};

} // namespace cuset
