// KindFigures: the corpus by kind of CUDA-sensitive span. What thresholds change (push) is computed
// in the pool and follows a drag as fast as it can; counts and means come with the analysis.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "core/analysis/objective_weights.h"
#include "ui/state/analysis_state.h"

namespace cuset {

class KindFigures : public QObject {
    Q_OBJECT
public:
    KindFigures(AnalysisState* analysis, MaskSettingsState* settings, SelectionState* selection,
                JobRunner* pool, QObject* parent = nullptr);

    // A row of the table: a kind, or last all sensitive tokens.
    struct Row {
        LabelBits labels = 0; // what selects its tokens
        std::int64_t tokens = 0;
        double share = 0; // of all tokens, [0, 1]
        double meanConfidence = 0; // NaN without tokens
        double lowWindows = 0; // share of low-confidence windows that touch it, [0, 1]
        double push = 0; // its share of the push of the chosen objective, [0, 1]; NaN while unknown
    };
    static constexpr int rowCount = sensitive_kind_count + 1;
    Row row(int index) const;

    // Of the tokens that are picked out: their density, and how many a row of the workspace has;
    // empty and 0 for none.
    const Density& density() const { return density_; }
    std::int64_t selectedTokens(int corpusIndex) const;
    // Push of the chosen objective in a sample of the analyzer's; null while unknown.
    const PushTotals* samplePush(int corpusIndex) const;
    bool isSettled() const;

signals:
    void changed(); // figures of rows
    void selectionChanged(); // density and counts of the selected kinds

private:
    struct Selected {
        Density density;
        std::vector<std::int32_t> counts; // [N]
    };
    void computePush();
    void computeSelected();

    AnalysisState* analysis_;
    MaskSettingsState* settings_;
    SelectionState* selection_;
    JobRunner* pool_;
    ObjectivePush push_;
    bool pushKnown_ = false;
    QTimer pushTimer_;
    QElapsedTimer pushStarted_;
    qint64 lastPush_ = 0; // ms that the last one took
    Density density_;
    std::vector<std::int32_t> counts_;
};

// "atomic", or "any sensitive".
QString kindRowTitle(int row);

} // namespace cuset
