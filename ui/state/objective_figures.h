// ObjectiveFigures: where one training step would push under each of the six objectives: over the
// corpus (computed in the pool while somebody looks) and in the selected sample.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <QObject>
#include <QTimer>

#include "core/analysis/objective_weights.h"
#include "ui/state/analysis_state.h"

namespace cuset {

class ObjectiveFigures : public QObject {
    Q_OBJECT
public:
    using Totals = std::array<PushTotals, token_objective_count>;

    ObjectiveFigures(AnalysisState* analysis, MaskSettingsState* settings, JobRunner* pool,
                     QObject* parent = nullptr);

    // Nothing is computed while nobody looks.
    void setWanted(bool wanted);
    // Of the corpus at the present thresholds; nothing until computed.
    const std::optional<Totals>& corpus() const { return corpus_; }
    // Of the selected sample; null if it is not scored or nobody looks.
    const std::shared_ptr<const SampleObjectives>& sample() const { return sample_; }
    bool isSettled() const;

signals:
    void corpusChanged();
    void sampleChanged();

private:
    void computeCorpus();
    void computeSample();

    AnalysisState* analysis_;
    MaskSettingsState* settings_;
    JobRunner* pool_;
    QTimer timer_;
    bool wanted_ = false;
    std::optional<Totals> corpus_;
    std::shared_ptr<const SampleObjectives> sample_;
};

} // namespace cuset
