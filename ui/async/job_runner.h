// JobRunner: long work off the GUI thread. Jobs are numbered and belong to a channel; starting a
// job in a channel cancels the older one there and drops its result. Outcomes arrive on the
// runner's own thread as a value, an Error or Cancelled: exceptions never cross threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include <QObject>
#include <QString>
#include <QThreadPool>

#include "core/base/error.h"
#include "core/base/run_control.h"

namespace cuset {

template <class Result> using JobOutcome = std::variant<Result, Error, Cancelled>;

class JobRunner : public QObject {
    Q_OBJECT
public:
    // `threads` workers; 1 makes a lane in which jobs run one after another.
    explicit JobRunner(int threads, QObject* parent = nullptr);
    // Asks every job to stop and waits for them. Nothing is delivered afterwards.
    ~JobRunner() override;

    // Runs `work` on a worker; `done` and `progress` run on this object's thread, and not at all
    // once a newer job of that channel has been started. Returns the job's number.
    template <class Work, class Done>
    quint64 start(const QString& channel, Work work, Done done,
                  std::function<void(const Progress&)> progress = {}) {
        using Result = std::invoke_result_t<Work, RunControl&>;
        return enqueue(
            channel,
            [work = std::move(work),
             done = std::move(done)](RunControl& control) mutable -> Deliver {
                auto outcome = std::make_shared<JobOutcome<Result>>(run<Result>(work, control));
                return [outcome, done = std::move(done)]() mutable { done(std::move(*outcome)); };
            },
            std::move(progress));
    }

    // The job's outcome is still delivered: Cancelled, or what it kept.
    void cancel(const QString& channel);
    void cancelAll();
    // Asks a channel's job to stop and drops whatever it would deliver.
    void abandon(const QString& channel);
    bool isRunning(const QString& channel) const { return current_.count(channel) != 0; }
    // Waits for all workers to end, without delivering; false if they did not within the time.
    bool waitForWorkers(int milliseconds) { return pool_.waitForDone(milliseconds); }
    bool isIdle() const { return current_.empty(); }

signals:
    void runningChanged();

private:
    using Deliver = std::function<void()>;
    struct Job {
        quint64 number = 0;
        std::shared_ptr<RunControl> control;
    };

    // What `work` returned, or why it did not.
    template <class Result, class Work>
    static JobOutcome<Result> run(Work& work, RunControl& control) {
        try {
            control.throw_if_stopped();
            return JobOutcome<Result>(std::in_place_index<0>, work(control));
        } catch (const Cancelled& cancelled) {
            return JobOutcome<Result>(std::in_place_index<2>, cancelled);
        } catch (const Error& error) {
            return JobOutcome<Result>(std::in_place_index<1>, error);
        } catch (const std::bad_alloc&) {
            return JobOutcome<Result>(
                std::in_place_index<1>,
                Error(ErrorCode::out_of_memory, "not enough memory for this operation"));
        } catch (const std::exception& exception) {
            return JobOutcome<Result>(std::in_place_index<1>,
                                      Error(ErrorCode::failure, exception.what()));
        }
    }

    quint64 enqueue(const QString& channel, std::function<Deliver(RunControl&)> job,
                    std::function<void(const Progress&)> progress);
    void finish(const QString& channel, quint64 number, const Deliver& deliver);

    QThreadPool pool_;
    quint64 lastNumber_ = 0;
    std::map<QString, Job> current_;
    std::map<quint64, std::shared_ptr<RunControl>> alive_; // superseded ones too, until they end
};

} // namespace cuset
