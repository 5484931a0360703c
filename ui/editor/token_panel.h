// TokenPanel: one token's figures and what the model would have written instead.
#pragma once

#include <array>
#include <vector>

#include <QLabel>
#include <QWidget>

#include "ui/state/analysis_state.h"
#include "ui/state/label_state.h"

namespace cuset {

// The model's most probable tokens as labelled bars; the token that stands there is marked.
class AlternativesView : public QWidget {
    Q_OBJECT
public:
    explicit AlternativesView(QWidget* parent = nullptr);

    struct Alternative {
        QString label;
        double probability = 0;
        bool target = false;
        friend bool operator==(const Alternative&, const Alternative&) = default;
    };
    void setAlternatives(std::vector<Alternative> alternatives);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<Alternative> alternatives_;
};

class TokenPanel : public QWidget {
    Q_OBJECT
public:
    TokenPanel(AnalysisState* analysis, SelectionState* selection, LabelState* labels,
               QWidget* parent = nullptr);

private:
    enum Figure {
        Probability,
        LogProbability,
        Entropy,
        Rank,
        Mask,
        Weight,
        TrainingWeight,
        Push,
        FigureCount
    };

    void build();
    void showToken();
    void showEmpty();
    void showText(const TokenFigures& figures, int token);
    void showRegions(const TokenFigures& figures, int token);
    void showAlternatives(const TokenFigures& figures, int token);

    AnalysisState* analysis_;
    SelectionState* selection_;
    LabelState* labels_;
    QLabel* text_ = nullptr;
    QLabel* identity_ = nullptr;
    QLabel* regions_ = nullptr;
    std::array<QLabel*, FigureCount> values_{};
    AlternativesView* alternatives_ = nullptr;
};

} // namespace cuset
