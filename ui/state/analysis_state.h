// AnalysisState: everything derived from scores, thresholds and selection. Views read it and never
// each other. The corpus' constant part is computed in the pool; a moved threshold is followed on
// the GUI thread, at most once for each turn of the event loop.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <QObject>
#include <QTimer>

#include "core/analysis/corpus_summary.h"
#include "core/analysis/sample_filter.h"
#include "core/analysis/sample_statistics.h"
#include "core/cuda/structure.h"
#include "ui/async/job_runner.h"
#include "ui/state/mask_settings_state.h"
#include "ui/state/selection_state.h"
#include "ui/state/token_figures.h"
#include "ui/state/workspace.h"

namespace cuset {

// What no threshold changes, and the analyzer. Shared with jobs that read confidences and labels:
// those do not change either.
struct CorpusAnalysis {
    // `which` samples of the workspace's scores `scores` holds; empty for all.
    CorpusAnalysis(std::shared_ptr<const ScoreSet> scores, std::vector<std::int64_t> which,
                   RunControl& control, const ParallelFor& parallelFor)
        : analyzer(std::move(scores), control, parallelFor)
        , fields(analyzer)
        , chosen(std::move(which)) { }
    CorpusAnalysis(const CorpusAnalysis&) = delete; // fields points to the analyzer
    CorpusAnalysis& operator=(const CorpusAnalysis&) = delete;

    CorpusAnalyzer analyzer;
    SampleFields fields;
    Density sensitive;
    Density neutral;
    std::vector<std::int64_t> chosen; // [N] ascending indices of the workspace's scores, or empty

    // The analyzer's index of a sample of the workspace's scores; -1 if it is not among them.
    int indexOf(int scoredIndex) const;
    // The other way round.
    int scoredIndexOf(int index) const;
};

class AnalysisState : public QObject {
    Q_OBJECT
public:
    AnalysisState(Workspace* workspace, MaskSettingsState* settings, SelectionState* selection,
                  JobRunner* pool, QObject* parent = nullptr);
    ~AnalysisState() override;

    // Threads to lend to work over the whole corpus, on any thread: whoever comes second works
    // alone.
    const ParallelFor& parallelFor() const { return parallelFor_; }

    // Samples with these ids count in no figure of the corpus; they can still be looked at.
    void leaveOut(std::set<std::string> ids);
    // The scores that count: the workspace's without those left out. Null if there is none.
    std::shared_ptr<const ScoreSet> countedScores() const;

    // Null until there are scores and they have been looked through.
    const CorpusAnalysis* corpus() const { return corpus_.get(); }
    std::shared_ptr<const CorpusAnalysis> sharedCorpus() const { return corpus_; }
    // A row's figures, or null while it is unscored or not looked through.
    const SampleSummary* sample(int row) const;
    // The analyzer's index of a row's sample, -1 while it has none.
    int corpusIndex(int row) const;
    // The row of a sample of the analyzer's.
    int rowOf(int corpusIndex) const;
    // Intervals, tests and effect sizes of the corpus; null until they have been computed. No
    // threshold changes them.
    const SampleStatistics* statistics() const { return statistics_ ? &*statistics_ : nullptr; }
    // The corpus is being looked through.
    bool isAnalysing() const;
    // Of the selected sample; null if it is not scored.
    const std::shared_ptr<const TokenFigures>& figures() const { return figures_; }
    // Of the selected sample's response; null until found.
    const std::shared_ptr<const CudaStructure>& structure() const { return structure_; }
    // Scores to set beside the open ones: `indices` [N of the workspace's scores] says where each
    // sample is in them, -1 for none. Null takes them away. Emits figuresChanged().
    void setCompared(std::shared_ptr<const ScoreSet> after, std::vector<int> indices);
    // True when nothing is being computed or waits to be.
    bool isSettled() const;

signals:
    void corpusReset(); // another corpus: densities, KS, all rows
    void corpusChanged(); // the same corpus at other thresholds
    void statisticsChanged();
    void progress(double share); // of looking through the corpus, [0, 1]
    void figuresChanged(); // the selected sample's numbers
    void structureChanged(); // the selected sample's CUDA structure
    void failed(const QString& message);

private:
    void rebuildCorpus();
    void takeCorpus(std::shared_ptr<CorpusAnalysis> corpus);
    void computeStatistics();
    void rebuildSample();
    void refresh();
    void findStructure();

    Workspace* workspace_;
    MaskSettingsState* settings_;
    SelectionState* selection_;
    JobRunner* pool_;
    QTimer refreshTimer_;
    ParallelFor parallelFor_;
    std::set<std::string> leftOut_;
    std::shared_ptr<CorpusAnalysis> corpus_;
    std::optional<SampleStatistics> statistics_;
    std::shared_ptr<const ScoreSet> compared_;
    std::vector<int> comparedIndices_;
    std::shared_ptr<const TokenFigures> figures_;
    std::shared_ptr<const CudaStructure> structure_;
};

} // namespace cuset
