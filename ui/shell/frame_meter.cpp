#include "ui/shell/frame_meter.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <QCoreApplication>
#include <QEvent>
#include <QWindow>

namespace cuset {
namespace {

constexpr double frameGoal = 1000.0 / 60; // ms
constexpr int textInterval = 400; // ms
// After all repainting that waits.
constexpr int afterPainting = Qt::LowEventPriority - 1;

QEvent::Type endOfFrame() {
    static const int type = QEvent::registerEventType();
    return static_cast<QEvent::Type>(type);
}

// Milliseconds that the calling thread has computed.
double threadWork() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

} // namespace

FrameMeter::FrameMeter(QWidget* window)
    : QObject(window)
    , window_(window)
    , label_(new QLabel(window)) {
    label_->setTextFormat(Qt::PlainText);
    label_->setAutoFillBackground(true);
    label_->setBackgroundRole(QPalette::ToolTipBase);
    label_->setForegroundRole(QPalette::ToolTipText);
    label_->setMargin(label_->fontMetrics().height() / 3);
    label_->setAttribute(Qt::WA_TransparentForMouseEvents);
    label_->setAccessibleName(tr("Frame times"));
    label_->hide();
    textTimer_.setInterval(textInterval);
    connect(&textTimer_, &QTimer::timeout, this, &FrameMeter::showText);
}

void FrameMeter::begin() {
    if (running_ || !shown_)
        return;
    running_ = true;
    posted_ = false;
    workedBefore_ = threadWork();
    started_.start();
}

bool FrameMeter::eventFilter(QObject* watched, QEvent* event) {
    if (running_ && !posted_ && event->type() == QEvent::UpdateRequest
        && (watched == window_ || watched == window_->windowHandle())) {
        posted_ = true;
        QCoreApplication::postEvent(this, new QEvent(endOfFrame()), afterPainting);
    }
    return QObject::eventFilter(watched, event);
}

void FrameMeter::customEvent(QEvent* event) {
    if (event->type() == endOfFrame() && running_)
        finish();
}

void FrameMeter::finish() {
    running_ = false;
    frames_.push_back(
        {static_cast<double>(started_.nsecsElapsed()) / 1e6, threadWork() - workedBefore_});
    if (frames_.size() > kept)
        frames_.erase(frames_.begin());
}

double FrameMeter::quantile(double share, double Frame::*value) const {
    if (frames_.empty())
        return 0;
    std::vector<double> sorted;
    for (const Frame& frame : frames_)
        sorted.push_back(frame.*value);
    std::sort(sorted.begin(), sorted.end());
    const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(at, 1, sorted.size()) - 1];
}

void FrameMeter::setShown(bool shown) {
    shown_ = shown;
    label_->setVisible(shown);
    frames_.clear();
    running_ = false;
    if (!shown) {
        QCoreApplication::instance()->removeEventFilter(this);
        textTimer_.stop();
        return;
    }
    // Repainting is asked for at the widget, or at its native window.
    QCoreApplication::instance()->installEventFilter(this);
    textTimer_.start();
    showText();
}

void FrameMeter::showText() {
    const auto late = std::count_if(frames_.begin(), frames_.end(),
                                    [](const Frame& frame) { return frame.time > frameGoal; });
    const QString text = frames_.empty()
        ? tr("Frame times: move a threshold")
        : tr("last %1 ms   median %2   95 % below %3   worst %4   work of the GUI thread: median "
             "%5   %6 frames, %7 over 16.7 ms")
              .arg(frames_.back().time, 0, 'f', 1)
              .arg(quantile(0.5), 0, 'f', 1)
              .arg(quantile(0.95), 0, 'f', 1)
              .arg(quantile(1), 0, 'f', 1)
              .arg(quantile(0.5, &Frame::work), 0, 'f', 1)
              .arg(frames_.size())
              .arg(late);
    if (text != label_->text())
        label_->setText(text);
    label_->adjustSize();
    label_->move((window_->width() - label_->width()) / 2,
                 window_->height() - label_->height() - label_->fontMetrics().height());
    label_->raise();
}

} // namespace cuset
