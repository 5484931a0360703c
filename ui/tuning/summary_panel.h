// SummaryPanel: the corpus in a dozen figures, each with its equation.
#pragma once

#include <vector>

#include <QGridLayout>
#include <QLabel>
#include <QWidget>

#include "ui/state/analysis_state.h"

namespace cuset {

class SummaryPanel : public QWidget {
    Q_OBJECT
public:
    explicit SummaryPanel(AnalysisState* analysis, QWidget* parent = nullptr);

private:
    QLabel* addFigure(const QString& title, const QString& explanation);
    void addHeading(const QString& title);
    void addConfidence();
    void addComparison();
    void showFigures();
    void showStatistics();
    void setName(QLabel* value, const QString& text); // of the figure's title

    AnalysisState* analysis_;
    QGridLayout* grid_;
    QLabel* corpus_ = nullptr;
    QLabel* kept_ = nullptr;
    QLabel* confident_ = nullptr;
    QLabel* cuda_ = nullptr;
    QLabel* meanMask_ = nullptr;
    QLabel* difficulty_ = nullptr;
    QLabel* weight_ = nullptr;
    QLabel* sensitive_ = nullptr;
    QLabel* neutral_ = nullptr;
    QLabel* sensitiveInterval_ = nullptr;
    QLabel* neutralInterval_ = nullptr;
    QLabel* difference_ = nullptr;
    QLabel* ksTokens_ = nullptr;
    QLabel* ksSamples_ = nullptr;
    QLabel* cohen_ = nullptr;
    QLabel* cliff_ = nullptr;
    QLabel* lowSamples_ = nullptr;
    QLabel* lowWindows_ = nullptr;
    QLabel* lowSensitive_ = nullptr;
    std::vector<QLabel*> values_; // what thresholds or the corpus change
    std::vector<QLabel*> statistics_; // what the corpus alone changes, and later
};

} // namespace cuset
