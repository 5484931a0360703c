// FrameMeter: how long the window takes from a moved threshold to the finished painting of all that
// follows from it: one frame of a drag; by the clock, and in processor time of the GUI thread,
// which other programs disturb less. Shown over the window by View > Frame times.
#pragma once

#include <vector>

#include <QElapsedTimer>
#include <QLabel>
#include <QTimer>
#include <QWidget>

namespace cuset {

class FrameMeter : public QObject {
    Q_OBJECT
public:
    // Watches the top-level `window`.
    explicit FrameMeter(QWidget* window);

    // Something moved that a frame will show. Several before it is painted are one frame.
    void begin();
    void setShown(bool shown);
    bool isShown() const { return shown_; }
    // In milliseconds.
    struct Frame {
        double time = 0; // by the clock
        double work = 0; // processor time of the GUI thread
    };
    // The last frames, oldest first; at most `kept`.
    const std::vector<Frame>& frames() const { return frames_; }
    void clear() { frames_.clear(); }
    static constexpr std::size_t kept = 600;
    // The value that `share` of the frames do not exceed; 0 without frames.
    double quantile(double share, double Frame::*value = &Frame::time) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void customEvent(QEvent* event) override;

private:
    void finish();
    void showText();

    QWidget* window_;
    QLabel* label_;
    QTimer textTimer_; // the text is not part of what it measures
    QElapsedTimer started_;
    double workedBefore_ = 0; // ms of the GUI thread when the frame began
    bool running_ = false;
    bool posted_ = false;
    bool shown_ = false;
    std::vector<Frame> frames_;
};

} // namespace cuset
