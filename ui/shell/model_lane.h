// ModelLane: the one thread that runs models. It owns the InferenceSession; scoring, comparing and
// generating take turns here, so that two models are never in memory at once.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include "core/model/inference_session.h"
#include "ui/async/job_runner.h"

namespace cuset {

class ModelLane : public QObject {
    Q_OBJECT
public:
    explicit ModelLane(QObject* parent = nullptr);
    ~ModelLane() override; // stops and waits

    // Touched by jobs of the lane only.
    class Holder {
    public:
        // The session for that model with that adapter. Another model is let go first; if only the
        // adapter is another one, only that is changed. Throws as InferenceSession.
        InferenceSession& open(const std::string& model, const SessionOptions& options,
                               RunControl& control);
        // True once for each model that was loaded: it has not been held against its reference.
        bool takeUnverified() { return std::exchange(unverified_, false); }
        bool isLoading() const { return loading_; } // on any thread

    private:
        std::unique_ptr<InferenceSession> session_;
        std::string model_;
        SessionOptions options_;
        bool unverified_ = false;
        std::atomic<bool> loading_{false};
    };

    // `work(Holder&, RunControl&)` runs in the lane, after what is there already; `done` gets its
    // outcome on this thread. A job of the same channel that has not ended is stopped and dropped.
    template <class Work, class Done> quint64 start(const QString& channel, Work work, Done done) {
        const bool first = runner_.isIdle();
        const quint64 number = runner_.start(
            channel,
            [holder = holder_, work = std::move(work)](RunControl& control) {
                return work(*holder, control);
            },
            std::move(done), [this](const Progress& state) { showProgress(state); });
        if (first)
            emit progress(-1, tr("Loading the model"));
        return number;
    }

    void stop(); // whatever runs or waits; outcomes are still delivered
    void stop(const QString& channel);
    bool isRunning() const { return !runner_.isIdle(); }
    bool isRunning(const QString& channel) const { return runner_.isRunning(channel); }
    // What the job that runs is about, put before its progress: "step 8". "" for nothing.
    void setTitle(const QString& title) { title_ = title; }
    // Asks the work to stop and waits for it. False if it is still loading a model after that time:
    // there is nothing to lose then, and a busy machine may take long over one large tensor.
    bool finish(int milliseconds);

signals:
    // `share` in [0, 1], negative when it is not known.
    void progress(double share, const QString& text);
    void runningChanged();

private:
    void showProgress(const Progress& state);

    std::shared_ptr<Holder> holder_;
    QElapsedTimer sinceStage_;
    qint64 stageTotal_ = -1;
    QString title_;
    JobRunner runner_; // last: its destructor waits for the work that uses the rest
};

} // namespace cuset
