// RegionNavigator: from one CUDA-sensitive span or kernel to the next, through all scored samples
// in the table's order; in a sample that is not scored, within it.
#pragma once

#include "ui/dataset/dataset_panel.h"
#include "ui/editor/editor_panel.h"

namespace cuset {

class RegionNavigator {
public:
    RegionNavigator(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                    DatasetPanel* samples, EditorPanel* editor)
        : workspace_(workspace)
        , analysis_(analysis)
        , selection_(selection)
        , samples_(samples)
        , editor_(editor) { }

    // Goes to where the next (1) or previous (-1) stretch with one of the label bits begins; starts
    // over at the table's other end. False if there is none.
    bool go(LabelBits labels, int direction);

private:
    bool goToToken(LabelBits labels, int direction);
    bool goToByte(LabelBits labels, int direction);

    Workspace* workspace_;
    AnalysisState* analysis_;
    SelectionState* selection_;
    DatasetPanel* samples_;
    EditorPanel* editor_;
};

} // namespace cuset
