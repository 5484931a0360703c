// GenerateController: runs a request of the generate panel in the model lane and hands over tokens
// as they come. A stop keeps what is written.
#pragma once

#include <QObject>

#include "ui/generate/generate_panel.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_lane.h"
#include "ui/shell/scoring_controller.h"

namespace cuset {

class GenerateController : public QObject {
    Q_OBJECT
public:
    explicit GenerateController(ModelLane* lane, QObject* parent = nullptr);

    void start(const QString& modelPath, const ScoringOptions& options,
               const GenerateRequest& request);
    void stop();
    bool isRunning() const;
    bool hasFailed() const { return failed_; }
    ErrorCode lastError() const { return lastError_; }

signals:
    void variantStarted(int variant, const QString& title);
    void tokenCame(int variant, const cuset::AnswerToken& token);
    void variantEnded(int variant, const QString& why);
    void message(cuset::MessageKind kind, const QString& text);
    void finished();

private:
    struct Run;
    static bool work(ModelLane::Holder& holder, const Run& run, RunControl& control);
    // Calls `emission` on this thread, unless another request has been started since.
    void deliver(quint64 request, const std::function<void()>& emission);

    ModelLane* lane_;
    quint64 request_ = 0;
    int runningVariant_ = -1;
    bool failed_ = false;
    ErrorCode lastError_ = ErrorCode::failure;
};

} // namespace cuset
