// SelectionState: what a person looks at: a sample, a token in it, and the token under the pointer.
#pragma once

#include <QObject>

#include "core/analysis/objective_weights.h"
#include "core/data/token_labels.h"

namespace cuset {

class SelectionState : public QObject {
    Q_OBJECT
public:
    explicit SelectionState(QObject* parent = nullptr);

    int sample() const { return sample_; } // row of the workspace, -1 for none
    int token() const { return token_; } // index in the sample's response, -1 for none
    int hover() const { return hover_; } // the same, under the pointer
    // The token that panels describe: the one under the pointer, else the selected one.
    int shownToken() const { return hover_ >= 0 ? hover_ : token_; }

    // Label bits of the kinds whose tokens are picked out everywhere; 0 for none.
    LabelBits kinds() const { return kinds_; }

    void setSample(int sample); // clears token and hover
    void setToken(int token);
    void setHover(int token);
    void setKinds(LabelBits kinds);

    // The objective whose push is shown everywhere.
    TokenObjective objective() const { return objective_; }
    void setObjective(TokenObjective objective);

signals:
    void sampleChanged(int sample);
    void tokenChanged(int token);
    void hoverChanged(int token);
    void kindsChanged(cuset::LabelBits kinds);
    void objectiveChanged(cuset::TokenObjective objective);

private:
    int sample_ = -1;
    int token_ = -1;
    int hover_ = -1;
    LabelBits kinds_ = 0;
    TokenObjective objective_ = TokenObjective::cuset;
};

} // namespace cuset
