#include "ui/shell/model_lane.h"

#include <QLocale>

namespace cuset {
namespace {

// Set while a model is being loaded, however that ends.
class LoadingMark {
public:
    explicit LoadingMark(std::atomic<bool>& flag)
        : flag_(flag) {
        flag_ = true;
    }
    ~LoadingMark() { flag_ = false; }
    LoadingMark(const LoadingMark&) = delete;
    LoadingMark& operator=(const LoadingMark&) = delete;

private:
    std::atomic<bool>& flag_;
};

bool sameButAdapter(const SessionOptions& a, const SessionOptions& b) {
    return a.device == b.device && a.dtype == b.dtype && a.threads == b.threads;
}

QString duration(double seconds) {
    const auto whole = static_cast<qint64>(seconds + 0.5);
    if (whole >= 3600)
        return QStringLiteral("%1:%2:%3")
            .arg(whole / 3600)
            .arg(whole / 60 % 60, 2, 10, QLatin1Char('0'))
            .arg(whole % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
}

} // namespace

InferenceSession& ModelLane::Holder::open(const std::string& model, const SessionOptions& options,
                                          RunControl& control) {
    if (session_ && model_ == model && sameButAdapter(options_, options)) {
        session_->set_adapter(options.adapter);
        return *session_;
    }
    session_.reset(); // two models at once might not fit
    const LoadingMark mark(loading_);
    session_ = std::make_unique<InferenceSession>(model, options, control);
    model_ = model;
    options_ = options;
    unverified_ = true;
    return *session_;
}

ModelLane::ModelLane(QObject* parent)
    : QObject(parent)
    , holder_(std::make_shared<Holder>())
    , runner_(1) {
    connect(&runner_, &JobRunner::runningChanged, this, [this] {
        if (runner_.isIdle()) {
            title_.clear();
            stageTotal_ = -1;
        }
        emit runningChanged();
    });
}

ModelLane::~ModelLane() {
    runner_.disconnect(this); // what is torn down tells nobody
}

void ModelLane::stop() {
    runner_.cancelAll();
    if (isRunning())
        emit progress(-1, tr("Stopping"));
}

void ModelLane::stop(const QString& channel) {
    runner_.cancel(channel);
    if (isRunning(channel))
        emit progress(-1, tr("Stopping"));
}

bool ModelLane::finish(int milliseconds) {
    runner_.cancelAll();
    return runner_.waitForWorkers(milliseconds) || !holder_->isLoading();
}

void ModelLane::showProgress(const Progress& state) {
    const double share =
        state.total > 0 ? static_cast<double>(state.done) / static_cast<double>(state.total) : -1;
    const QLocale locale;
    QString text = QString::fromStdString(state.stage);
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    if (state.unit == "tokens" && state.total > 0) {
        if (stageTotal_ != state.total) {
            stageTotal_ = state.total;
            sinceStage_.start();
        }
        const double seconds = static_cast<double>(sinceStage_.elapsed()) / 1000;
        text = tr("%1 of %2 tokens")
                   .arg(locale.toString(static_cast<qlonglong>(state.done)),
                        locale.toString(static_cast<qlonglong>(state.total)));
        if (seconds > 0.5 && state.done > 0) {
            const double rate = static_cast<double>(state.done) / seconds;
            text += tr(", %1 tokens/s, %2 left")
                        .arg(locale.toString(static_cast<qlonglong>(rate)),
                             duration(static_cast<double>(state.total - state.done) / rate));
        }
    }
    emit progress(share, title_.isEmpty() ? text : tr("%1: %2").arg(title_, text));
}

} // namespace cuset
