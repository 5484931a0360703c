#include "ui/state/analysis_state.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "core/analysis/statistics.h"
#include "core/analysis/worker_pool.h"

namespace cuset {
namespace {

constexpr int densityPoints = 256;
const QString corpusChannel = QStringLiteral("corpus");
const QString statisticsChannel = QStringLiteral("statistics");
const QString structureChannel = QStringLiteral("structure");

// The machine's cores, for one caller at a time; the GUI thread never waits for a job's turn.
ParallelFor sharedWorkers() {
    struct Workers {
        WorkerPool pool{0};
        std::mutex busy;
    };
    auto workers = std::make_shared<Workers>();
    return [workers](std::int64_t count, const std::function<void(std::int64_t)>& body) {
        const std::unique_lock turn(workers->busy, std::try_to_lock);
        if (turn)
            workers->pool.parallel_for()(count, body);
        else
            serial_for(count, body);
    };
}

std::vector<std::int64_t> countedSamples(const ScoreSet& scores,
                                         const std::set<std::string>& leftOut) {
    std::vector<std::int64_t> chosen;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n)
        if (!leftOut.contains(scores.id(n)))
            chosen.push_back(n);
    return chosen;
}

bool leavesOutAny(const ScoreSet& scores, const std::set<std::string>& leftOut) {
    for (std::int64_t n = 0; !leftOut.empty() && n < scores.sample_count(); ++n)
        if (leftOut.contains(scores.id(n)))
            return true;
    return false;
}

std::shared_ptr<CorpusAnalysis> analyse(std::shared_ptr<const ScoreSet> scores,
                                        const std::set<std::string>& leftOut,
                                        const MaskSettings& settings,
                                        const ParallelFor& parallelFor, RunControl& control) {
    std::vector<std::int64_t> chosen;
    if (leavesOutAny(*scores, leftOut)) {
        chosen = countedSamples(*scores, leftOut);
        scores = scores->select(chosen);
    }
    auto analysis = std::make_shared<CorpusAnalysis>(std::move(scores), std::move(chosen), control,
                                                     parallelFor);
    control.throw_if_stopped();
    analysis->sensitive = kernel_density(analysis->analyzer.sorted_sensitive(), densityPoints);
    control.throw_if_stopped();
    analysis->neutral = kernel_density(analysis->analyzer.sorted_neutral(), densityPoints);
    analysis->analyzer.update(settings);
    return analysis;
}

} // namespace

int CorpusAnalysis::indexOf(int scoredIndex) const {
    if (scoredIndex < 0)
        return -1;
    if (chosen.empty())
        return scoredIndex < static_cast<int>(analyzer.samples().size()) ? scoredIndex : -1;
    const auto at = std::lower_bound(chosen.begin(), chosen.end(), scoredIndex);
    return at == chosen.end() || *at != scoredIndex ? -1 : static_cast<int>(at - chosen.begin());
}

int CorpusAnalysis::scoredIndexOf(int index) const {
    return chosen.empty() || index < 0 ? index
                                       : static_cast<int>(chosen[static_cast<std::size_t>(index)]);
}

AnalysisState::AnalysisState(Workspace* workspace, MaskSettingsState* settings,
                             SelectionState* selection, JobRunner* pool, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , settings_(settings)
    , selection_(selection)
    , pool_(pool)
    , parallelFor_(sharedWorkers()) {
    refreshTimer_.setSingleShot(true);
    refreshTimer_.setInterval(0);
    connect(&refreshTimer_, &QTimer::timeout, this, &AnalysisState::refresh);
    connect(settings_, &MaskSettingsState::changed, this, [this] { refreshTimer_.start(); });
    connect(workspace_, &Workspace::scoresChanged, this, [this] {
        compared_.reset(); // it was set beside the old ones
        rebuildCorpus();
        rebuildSample();
    });
    connect(selection_, &SelectionState::sampleChanged, this, [this] {
        rebuildSample();
        findStructure();
    });
    connect(selection_, &SelectionState::objectiveChanged, this, &AnalysisState::rebuildSample);
}

AnalysisState::~AnalysisState() = default;

const SampleSummary* AnalysisState::sample(int row) const {
    const int index = corpusIndex(row);
    return index < 0 ? nullptr : &corpus_->analyzer.samples()[static_cast<std::size_t>(index)];
}

int AnalysisState::corpusIndex(int row) const {
    return corpus_ ? corpus_->indexOf(workspace_->scoredIndex(row)) : -1;
}

int AnalysisState::rowOf(int corpusIndex) const {
    return corpus_ ? workspace_->rowOfScored(corpus_->scoredIndexOf(corpusIndex)) : -1;
}

void AnalysisState::leaveOut(std::set<std::string> ids) {
    if (ids == leftOut_)
        return;
    const std::shared_ptr<const ScoreSet>& scores = workspace_->scores();
    const bool matters =
        scores && countedSamples(*scores, ids) != countedSamples(*scores, leftOut_);
    leftOut_ = std::move(ids);
    if (matters)
        rebuildCorpus();
}

std::shared_ptr<const ScoreSet> AnalysisState::countedScores() const {
    const std::shared_ptr<const ScoreSet>& scores = workspace_->scores();
    if (!scores || !leavesOutAny(*scores, leftOut_))
        return scores;
    return scores->select(countedSamples(*scores, leftOut_));
}

bool AnalysisState::isAnalysing() const {
    return pool_->isRunning(corpusChannel);
}

bool AnalysisState::isSettled() const {
    return !isAnalysing() && !pool_->isRunning(statisticsChannel)
        && !pool_->isRunning(structureChannel) && !refreshTimer_.isActive();
}

void AnalysisState::rebuildCorpus() {
    const std::shared_ptr<const ScoreSet> scores = workspace_->scores();
    if (!scores || scores->sample_count() == 0) {
        pool_->abandon(corpusChannel);
        takeCorpus(nullptr);
        return;
    }
    // An analysis of other samples must not be shown beside these rows; one of the same, growing
    // set may.
    const bool grows = corpus_ && corpus_->chosen.empty()
        && corpus_->analyzer.scores()->sample_count() <= scores->sample_count()
        && (corpus_->analyzer.scores()->sample_count() == 0
            || corpus_->analyzer.scores()->id(0) == scores->id(0));
    if (!grows)
        takeCorpus(nullptr);
    const MaskSettings settings = settings_->settings();
    pool_->start(
        corpusChannel,
        [scores, leftOut = leftOut_, settings, workers = parallelFor_](RunControl& control) {
            return analyse(scores, leftOut, settings, workers, control);
        },
        [this](JobOutcome<std::shared_ptr<CorpusAnalysis>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            auto* analysis = std::get_if<0>(&outcome);
            if (!analysis)
                return;
            (*analysis)->analyzer.update(settings_->settings());
            takeCorpus(std::move(*analysis));
        },
        [this](const Progress& state) {
            emit progress(state.total > 0
                              ? static_cast<double>(state.done) / static_cast<double>(state.total)
                              : 0);
        });
}

void AnalysisState::takeCorpus(std::shared_ptr<CorpusAnalysis> corpus) {
    corpus_ = std::move(corpus);
    statistics_.reset();
    emit corpusReset();
    emit statisticsChanged();
    computeStatistics();
}

void AnalysisState::computeStatistics() {
    if (!corpus_) {
        pool_->abandon(statisticsChannel);
        return;
    }
    pool_->start(
        statisticsChannel,
        [corpus = sharedCorpus()](RunControl& control) {
            return sample_statistics(corpus->analyzer, BootstrapOptions{}, control);
        },
        [this](JobOutcome<SampleStatistics> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (const auto* found = std::get_if<0>(&outcome)) {
                statistics_ = *found;
                emit statisticsChanged();
            }
        });
}

void AnalysisState::rebuildSample() {
    const int index = workspace_->scoredIndex(selection_->sample());
    ComparedSample beside;
    if (index >= 0 && compared_ && index < static_cast<int>(comparedIndices_.size())
        && comparedIndices_[static_cast<std::size_t>(index)] >= 0)
        beside = {compared_, comparedIndices_[static_cast<std::size_t>(index)]};
    figures_ = index < 0
        ? nullptr
        : std::make_shared<const TokenFigures>(workspace_->scores(), index, settings_->settings(),
                                               selection_->objective(), beside);
    emit figuresChanged();
}

void AnalysisState::setCompared(std::shared_ptr<const ScoreSet> after, std::vector<int> indices) {
    compared_ = std::move(after);
    comparedIndices_ = std::move(indices);
    rebuildSample();
}

void AnalysisState::refresh() {
    if (corpus_)
        corpus_->analyzer.update(settings_->settings());
    if (figures_)
        rebuildSample();
    if (corpus_)
        emit corpusChanged();
}

void AnalysisState::findStructure() {
    structure_.reset();
    emit structureChanged();
    if (selection_->sample() < 0) {
        pool_->abandon(structureChannel);
        return;
    }
    std::string text(workspace_->response(selection_->sample()));
    pool_->start(
        structureChannel,
        [text = std::move(text)](RunControl&) {
            return std::make_shared<const CudaStructure>(find_cuda_structure(text));
        },
        [this](JobOutcome<std::shared_ptr<const CudaStructure>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* found = std::get_if<0>(&outcome)) {
                structure_ = *found;
                emit structureChanged();
            }
        });
}

} // namespace cuset
