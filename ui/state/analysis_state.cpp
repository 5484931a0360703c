#include "ui/state/analysis_state.h"

#include <string>
#include <utility>
#include <vector>

#include "core/analysis/statistics.h"

namespace cuset {
namespace {

constexpr int densityPoints = 256;
const QString corpusChannel = QStringLiteral("corpus");
const QString structureChannel = QStringLiteral("structure");

std::unique_ptr<CorpusAnalysis> analyse(std::shared_ptr<const ScoreSet> scores,
                                        const MaskSettings& settings, RunControl& control) {
    auto analysis =
        std::make_unique<CorpusAnalysis>(CorpusAnalysis{CorpusAnalyzer(scores, control), {}, {}});
    std::vector<float> sensitive;
    std::vector<float> neutral;
    const std::span<const float> confidence = analysis->analyzer.confidence();
    const std::span<const LabelBits> labels = scores->columns().labels;
    for (std::size_t t = 0; t < confidence.size(); ++t)
        (is_cuda_sensitive(labels[t]) ? sensitive : neutral).push_back(confidence[t]);
    control.throw_if_stopped();
    analysis->sensitive = kernel_density(sensitive, densityPoints);
    control.throw_if_stopped();
    analysis->neutral = kernel_density(neutral, densityPoints);
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
    , pool_(pool) {
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
        [scores, settings](RunControl& control) { return analyse(scores, settings, control); },
        [this](JobOutcome<std::unique_ptr<CorpusAnalysis>> outcome) {
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
