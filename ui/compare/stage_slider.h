// StageSlider: a slider over the checkpoints of a run. A dot for each says whether its scores are
// there.
#pragma once

#include <vector>

#include <QSlider>

#include "ui/compare/compare_state.h"

namespace cuset {

class StageSlider : public QSlider {
    Q_OBJECT
public:
    explicit StageSlider(QWidget* parent = nullptr);

    // One position for each stage.
    void setStages(const std::vector<CompareStage>& stages);
    // The place of a stage's dot.
    QPointF dotOf(int stage) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Dot {
        CompareStage::Status status;
        QString title;
    };
    int stageAt(const QPointF& position) const;
    double dotSize() const;

    std::vector<Dot> dots_;
};

} // namespace cuset
