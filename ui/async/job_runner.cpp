#include "ui/async/job_runner.h"

#include <QMetaObject>
#include <QRunnable>

namespace cuset {

JobRunner::JobRunner(int threads, QObject* parent)
    : QObject(parent) {
    pool_.setMaxThreadCount(threads);
    pool_.setExpiryTimeout(-1);
}

JobRunner::~JobRunner() {
    for (const auto& [number, control] : alive_)
        control->request_stop();
    pool_.waitForDone();
}

quint64 JobRunner::enqueue(const QString& channel, std::function<Deliver(RunControl&)> job,
                           std::function<void(const Progress&)> progress) {
    abandon(channel);
    const quint64 number = ++lastNumber_;
    RunControl::Report report;
    if (progress) {
        report = [this, channel, number, progress = std::move(progress)](const Progress& state) {
            QMetaObject::invokeMethod(
                this,
                [this, channel, number, progress, state] {
                    const auto found = current_.find(channel);
                    if (found != current_.end() && found->second.number == number)
                        progress(state);
                },
                Qt::QueuedConnection);
        };
    }
    auto control = std::make_shared<RunControl>(std::move(report));
    current_[channel] = {number, control};
    alive_[number] = control;
    pool_.start(QRunnable::create([this, channel, number, control, job = std::move(job)] {
        Deliver deliver = job(*control);
        QMetaObject::invokeMethod(
            this,
            [this, channel, number, deliver = std::move(deliver)] {
                finish(channel, number, deliver);
            },
            Qt::QueuedConnection);
    }));
    emit runningChanged();
    return number;
}

void JobRunner::finish(const QString& channel, quint64 number, const Deliver& deliver) {
    alive_.erase(number);
    const auto found = current_.find(channel);
    if (found == current_.end() || found->second.number != number)
        return;
    current_.erase(found);
    emit runningChanged();
    deliver();
}

void JobRunner::cancel(const QString& channel) {
    const auto found = current_.find(channel);
    if (found != current_.end())
        found->second.control->request_stop();
}

void JobRunner::cancelAll() {
    for (const auto& [channel, job] : current_)
        job.control->request_stop();
}

void JobRunner::abandon(const QString& channel) {
    const auto found = current_.find(channel);
    if (found == current_.end())
        return;
    found->second.control->request_stop();
    current_.erase(found);
    emit runningChanged();
}

} // namespace cuset
