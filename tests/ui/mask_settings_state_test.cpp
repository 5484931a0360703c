#include "ui/state/mask_settings_state.h"

#include <limits>

#include <QSignalSpy>
#include <QSlider>

#include <gtest/gtest.h>

#include "ui/tuning/mask_panel.h"

namespace cuset {
namespace {

TEST(MaskSettingsState, ADragIsOneUndoStep) {
    MaskSettingsState state;
    QSignalSpy changes(&state, &MaskSettingsState::changed);
    state.beginGesture(QStringLiteral("Change tau"));
    for (int step = 1; step <= 50; ++step)
        state.setTau(0.1 + step * 0.01);
    state.endGesture();
    EXPECT_EQ(changes.count(), 50);
    EXPECT_EQ(state.undoStack()->count(), 1);
    state.undoStack()->undo();
    EXPECT_DOUBLE_EQ(state.settings().tau, 0.1);
    state.undoStack()->redo();
    EXPECT_DOUBLE_EQ(state.settings().tau, 0.6);
}

TEST(MaskSettingsState, ADragThatEndsWhereItBeganIsNoStep) {
    MaskSettingsState state;
    state.beginGesture(QStringLiteral("Change tau"));
    state.setTau(0.7);
    state.setTau(0.1);
    state.endGesture();
    EXPECT_EQ(state.undoStack()->count(), 0);
}

TEST(MaskSettingsState, ValuesAreBroughtIntoRange) {
    MaskSettings wild;
    wild.tau = 3;
    wild.lambda = -1;
    wild.window = 0;
    const MaskSettings tame = MaskSettingsState::clamped(wild);
    EXPECT_DOUBLE_EQ(tame.tau, 1);
    EXPECT_GT(tame.lambda, 0);
    EXPECT_EQ(tame.window, 1);
    wild.tau = std::numeric_limits<double>::quiet_NaN();
    EXPECT_DOUBLE_EQ(MaskSettingsState::clamped(wild).tau, 0.1);
}

TEST(MaskPanel, DraggingASliderIsOneStepAndMovesTheState) {
    MaskSettingsState state;
    MaskPanel panel(&state);
    auto* tau = panel.findChild<QSlider*>();
    ASSERT_NE(tau, nullptr);
    tau->setSliderDown(true);
    for (const int position : {200, 300, 400})
        tau->setValue(position);
    tau->setSliderDown(false);
    EXPECT_DOUBLE_EQ(state.settings().tau, 0.4);
    EXPECT_EQ(state.undoStack()->count(), 1);
    state.undoStack()->undo();
    EXPECT_EQ(tau->value(), 100);
}

TEST(MaskPanel, EveryControlHasANameAndCanBeReachedByKeyboard) {
    MaskSettingsState state;
    MaskPanel panel(&state);
    for (const QWidget* widget : panel.findChildren<QWidget*>()) {
        if (!qobject_cast<const QSlider*>(widget) && !qobject_cast<const QAbstractSpinBox*>(widget))
            continue;
        EXPECT_FALSE(widget->accessibleName().isEmpty());
        EXPECT_TRUE(widget->focusPolicy() & Qt::TabFocus);
    }
}

} // namespace
} // namespace cuset
