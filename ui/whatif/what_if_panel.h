// WhatIfPanel: what the corpus' figures would be at other thresholds, as a heat map over two of
// tau, lambda and the window; a slider holds the third. A click adopts a cell.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSlider>
#include <QWidget>

#include "ui/charts/heat_map_chart.h"
#include "ui/state/what_if_state.h"

namespace cuset {

class WhatIfPanel : public QWidget {
    Q_OBJECT
public:
    WhatIfPanel(WhatIfState* state, MaskSettingsState* settings, QWidget* parent = nullptr);

    HeatMapChart* chart() { return chart_; }
    QComboBox* figureChoice() { return figure_; }
    QComboBox* planeChoice() { return plane_; }
    QSlider* heldSlider() { return held_; }
    // What a cell stands for, with the present switches.
    MaskSettings settingsAt(int column, int row) const;

signals:
    // A cell is wanted as a training run. Its menu entry is there while somebody listens.
    void runRequested(const cuset::MaskSettings& settings);

private:
    void build();
    void showAxes();
    void showSurface();
    void showCurrent();
    void showCell(int column, int row);
    void showProgress();
    void addCellActions(QMenu* menu, int column, int row);
    SweepAxis xAxis() const;
    SweepAxis yAxis() const;
    SweepAxis heldAxis() const { return third_axis(xAxis(), yAxis()); }
    int nearestHeld(const MaskSettings& settings) const;

    WhatIfState* state_;
    MaskSettingsState* settings_;
    HeatMapChart* chart_ = nullptr;
    QComboBox* plane_ = nullptr;
    QComboBox* figure_ = nullptr;
    QLabel* heldName_ = nullptr;
    QSlider* held_ = nullptr;
    QLabel* heldValue_ = nullptr;
    QPushButton* stop_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QLabel* now_ = nullptr;
};

} // namespace cuset
