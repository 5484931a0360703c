// ObjectivePanel: the push of the six objectives over the corpus, and in the selected sample token
// by token. Picks the objective whose push is shown everywhere.
#pragma once

#include <QComboBox>
#include <QWidget>

#include "ui/charts/bar_list_chart.h"
#include "ui/charts/objective_chart.h"
#include "ui/state/objective_figures.h"
#include "ui/state/selection_state.h"

namespace cuset {

class ObjectivePanel : public QWidget {
    Q_OBJECT
public:
    ObjectivePanel(ObjectiveFigures* figures, SelectionState* selection, QWidget* parent = nullptr);

    BarListChart* bars() { return bars_; }
    ObjectiveChart* curves() { return curves_; }
    QComboBox* choice() { return choice_; }

private:
    void showCorpus();
    void showSample();
    void showChosen();

    ObjectiveFigures* figures_;
    SelectionState* selection_;
    BarListChart* bars_;
    ObjectiveChart* curves_;
    QComboBox* choice_;
};

} // namespace cuset
