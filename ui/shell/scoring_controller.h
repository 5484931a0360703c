// ScoringController: loads the model and scores the open data in the model lane, which owns the
// session. A stop keeps what is done; results are saved before they are shown as done.
#pragma once

#include <functional>
#include <memory>

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "core/model/inference_session.h"
#include "core/model/verification.h"
#include "ui/async/job_runner.h"
#include "ui/shell/message_bar.h"
#include "ui/state/workspace.h"

namespace cuset {

struct ScoringOptions {
    SessionOptions session;
    ScoreOptions score;
};

class ScoringController : public QObject {
    Q_OBJECT
public:
    explicit ScoringController(Workspace* workspace, QObject* parent = nullptr);
    ~ScoringController() override; // stops and waits; what is scored is saved

    // Scores every sample of the open data with that model.
    void start(const QString& modelPath, const ScoringOptions& options);
    // Compares that model with its reference; loads it if it is not loaded.
    void verify(const QString& modelPath, const SessionOptions& options);
    void stop();
    bool isRunning() const;
    // Asks the work to stop and waits for it. False if it is still loading a model after that time:
    // there is nothing to lose then, and a busy machine may take long over one large tensor.
    bool finish(int milliseconds);
    ErrorCode lastError() const { return lastError_; }
    bool hasFailed() const { return failed_; }

    // The first of NAME.scores.safetensors, NAME.MODEL.scores.safetensors, NAME.MODEL.2... that
    // does not hold another model's scores or more samples than `scores`.
    static QString freeScorePath(const QString& wanted, const ScoreSet& scores);

signals:
    void message(cuset::MessageKind kind, const QString& text);
    // `share` in [0, 1], negative when it is not known.
    void progress(double share, const QString& text);
    void started();
    void finished();

private:
    struct Session;
    struct Result;
    using OnVerified = std::function<void(const Verification&)>;
    // The loaded session. One that is loaded anew is compared with its reference if it has one.
    static InferenceSession& load(Session& holder, const std::string& model,
                                  const SessionOptions& options, const OnVerified& onVerified,
                                  RunControl& control);
    OnVerified verifiedHandler(const QString& modelPath);
    static Result work(Session& session, const std::string& model, const ScoringOptions& options,
                       const Dataset& dataset, const QString& path,
                       const std::function<void(std::shared_ptr<const ScoreSet>)>& onPartial,
                       const OnVerified& onVerified, RunControl& control);
    void showProgress(const Progress& state);
    void done(JobOutcome<Result> outcome);
    void report(const Result& result);
    void reportSkipped(const Result& result);

    Workspace* workspace_;
    std::shared_ptr<Session> session_; // touched in the lane only
    QElapsedTimer sinceScoring_;
    QString runningModel_; // that the newest job loads
    quint64 job_ = 0;
    ErrorCode lastError_ = ErrorCode::failure;
    bool failed_ = false;
    JobRunner lane_; // last: its destructor waits for the work that uses the rest
};

} // namespace cuset
