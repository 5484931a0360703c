// FrameMeter: how long the window takes from a moved threshold to the finished painting of all that
// follows from it: one frame of a drag. Shown over the window by View > Frame times.
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
    // Milliseconds of the last frames, oldest first; at most `kept`.
    const std::vector<double>& frames() const { return frames_; }
    void clear() { frames_.clear(); }
    static constexpr std::size_t kept = 600;
    // The value that `share` of the frames do not exceed; 0 without frames.
    double quantile(double share) const;

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
    bool running_ = false;
    bool posted_ = false;
    bool shown_ = false;
    std::vector<double> frames_;
};

} // namespace cuset
