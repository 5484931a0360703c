#include "ui/state/analysis_state.h"

#include <mutex>
#include <string>
#include <utility>

#include "core/analysis/statistics.h"
#include "core/analysis/worker_pool.h"

namespace cuset {
namespace {

constexpr int densityPoints = 256;
const QString corpusChannel = QStringLiteral("corpus");
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

std::shared_ptr<CorpusAnalysis> analyse(const std::shared_ptr<const ScoreSet>& scores,
                                        const MaskSettings& settings,
                                        const ParallelFor& parallelFor, RunControl& control) {
    auto analysis = std::make_shared<CorpusAnalysis>(scores, control, parallelFor);
    control.throw_if_stopped();
    analysis->sensitive = kernel_density(analysis->analyzer.sorted_sensitive(), densityPoints);
    control.throw_if_stopped();
    analysis->neutral = kernel_density(analysis->analyzer.sorted_neutral(), densityPoints);
    analysis->analyzer.update(settings);
    return analysis;
}

} // namespace

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
        rebuildCorpus();
        rebuildSample();
    });
    connect(selection_, &SelectionState::sampleChanged, this, [this] {
        rebuildSample();
        findStructure();
    });
}

AnalysisState::~AnalysisState() = default;

const SampleSummary* AnalysisState::sample(int row) const {
    const int index = workspace_->scoredIndex(row);
    if (!corpus_ || index < 0 || index >= static_cast<int>(corpus_->analyzer.samples().size()))
        return nullptr;
    return &corpus_->analyzer.samples()[static_cast<std::size_t>(index)];
}

bool AnalysisState::isSettled() const {
    return !pool_->isRunning(corpusChannel) && !pool_->isRunning(structureChannel)
        && !refreshTimer_.isActive();
}

void AnalysisState::rebuildCorpus() {
    const std::shared_ptr<const ScoreSet> scores = workspace_->scores();
    if (!scores || scores->sample_count() == 0) {
        pool_->abandon(corpusChannel);
        corpus_.reset();
        emit corpusReset();
        return;
    }
    // An analysis of other samples must not be shown beside these rows; one of the same, growing
    // set may.
    const bool grows = corpus_
        && corpus_->analyzer.scores()->sample_count() <= scores->sample_count()
        && (corpus_->analyzer.scores()->sample_count() == 0
            || corpus_->analyzer.scores()->id(0) == scores->id(0));
    if (!grows) {
        corpus_.reset();
        emit corpusReset();
    }
    const MaskSettings settings = settings_->settings();
    pool_->start(
        corpusChannel,
        [scores, settings, workers = parallelFor_](RunControl& control) {
            return analyse(scores, settings, workers, control);
        },
        [this](JobOutcome<std::shared_ptr<CorpusAnalysis>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            auto* analysis = std::get_if<0>(&outcome);
            if (!analysis)
                return;
            corpus_ = std::move(*analysis);
            corpus_->analyzer.update(settings_->settings());
            emit corpusReset();
        });
}

void AnalysisState::rebuildSample() {
    const int index = workspace_->scoredIndex(selection_->sample());
    figures_ = index < 0
        ? nullptr
        : std::make_shared<const TokenFigures>(workspace_->scores(), index, settings_->settings());
    emit figuresChanged();
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
