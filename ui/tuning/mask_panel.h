// MaskPanel: tau, lambda, the window and the three switches. One drag is one undo step.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSlider>
#include <QSpinBox>
#include <QWidget>

#include "ui/state/mask_settings_state.h"

namespace cuset {

class MaskPanel : public QWidget {
    Q_OBJECT
public:
    explicit MaskPanel(MaskSettingsState* state, QWidget* parent = nullptr);

private:
    void build();
    void connectSlider(QSlider* slider, const QString& what, void (MaskPanel::*change)(int));
    void tauMoved(int position);
    void lambdaMoved(int position);
    void windowMoved(int position);
    void showSettings();
    void applyPreset(int index);

    MaskSettingsState* state_;
    QCheckBox* confidenceMask_ = nullptr;
    QCheckBox* cudaMask_ = nullptr;
    QCheckBox* regionWeight_ = nullptr;
    QCheckBox* wholeIfShort_ = nullptr;
    QSlider* tauSlider_ = nullptr;
    QSlider* lambdaSlider_ = nullptr;
    QSlider* windowSlider_ = nullptr;
    QDoubleSpinBox* tau_ = nullptr;
    QDoubleSpinBox* lambda_ = nullptr;
    QSpinBox* window_ = nullptr;
    QComboBox* preset_ = nullptr;
    bool showing_ = false;
};

} // namespace cuset
