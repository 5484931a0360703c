// ScoringController: scores the open data in the model lane, and holds its models against their
// references. A stop keeps what is done; results are saved before they are shown as done.
#pragma once

#include <functional>
#include <memory>

#include <QObject>
#include <QString>

#include "core/model/inference_session.h"
#include "core/model/verification.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_lane.h"
#include "ui/state/workspace.h"

namespace cuset {

struct ScoringOptions {
    SessionOptions session;
    ScoreOptions score;
};

class ScoringController : public QObject {
    Q_OBJECT
public:
    ScoringController(Workspace* workspace, ModelLane* lane, QObject* parent = nullptr);
    ~ScoringController() override;

    // Scores every sample of the open data with that model.
    void start(const QString& modelPath, const ScoringOptions& options);
    // Compares that model with its reference; loads it if it is not loaded.
    void verify(const QString& modelPath, const SessionOptions& options);
    bool isRunning() const;
    ErrorCode lastError() const { return lastError_; }
    bool hasFailed() const { return failed_; }

    // The first of NAME.scores.safetensors, NAME.MODEL.scores.safetensors, NAME.MODEL.2... that
    // does not hold another model's scores or more samples than `scores`.
    static QString freeScorePath(const QString& wanted, const ScoreSet& scores);

signals:
    void message(cuset::MessageKind kind, const QString& text);
    void finished();

private:
    struct Result;
    using OnVerified = std::function<void(const Verification&)>;
    OnVerified verifiedHandler(const QString& modelPath);
    static Result work(ModelLane::Holder& holder, const std::string& model,
                       const ScoringOptions& options, const Dataset& dataset, const QString& path,
                       const std::function<void(std::shared_ptr<const ScoreSet>)>& onPartial,
                       const OnVerified& onVerified, RunControl& control);
    void done(JobOutcome<Result> outcome);
    void report(const Result& result);
    void reportSkipped(const Result& result);

    Workspace* workspace_;
    ModelLane* lane_;
    QString runningModel_; // that the newest job loads
    quint64 job_ = 0;
    ErrorCode lastError_ = ErrorCode::failure;
    bool failed_ = false;
};

} // namespace cuset
