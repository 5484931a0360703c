#include "ui/state/objective_figures.h"

#include <utility>

namespace cuset {
namespace {

const QString channel = QStringLiteral("objectives");
constexpr int interval = 80; // ms; a drag needs the cores for its frames

// `weights`: w_n of each sample. Reads of the analyzer only what no threshold changes.
ObjectiveFigures::Totals corpusTotals(const CorpusAnalysis& corpus,
                                      const std::vector<float>& weights,
                                      const MaskSettings& settings, RunControl& control) {
    const ScoreSet& scores = *corpus.analyzer.scores();
    ObjectiveFigures::Totals totals{};
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        control.throw_if_stopped();
        const auto begin = static_cast<std::size_t>(scores.token_begin(n));
        const auto tokens = static_cast<std::size_t>(scores.token_end(n)) - begin;
        const SampleObjectives own =
            sample_objectives(corpus.analyzer.confidence().subspan(begin, tokens),
                              scores.columns().entropy_top20.subspan(begin, tokens),
                              scores.columns().labels.subspan(begin, tokens), settings,
                              weights[static_cast<std::size_t>(n)]);
        for (std::size_t i = 0; i < totals.size(); ++i)
            totals[i].add(own.push[i]);
    }
    return totals;
}

} // namespace

ObjectiveFigures::ObjectiveFigures(AnalysisState* analysis, MaskSettingsState* settings,
                                   JobRunner* pool, QObject* parent)
    : QObject(parent)
    , analysis_(analysis)
    , settings_(settings)
    , pool_(pool) {
    timer_.setSingleShot(true);
    timer_.setInterval(interval);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (pool_->isRunning(channel))
            timer_.start(); // rather late than never
        else
            computeCorpus();
    });
    connect(analysis_, &AnalysisState::corpusReset, this, [this] {
        corpus_.reset();
        emit corpusChanged();
        computeCorpus();
    });
    connect(analysis_, &AnalysisState::corpusChanged, this, [this] {
        if (wanted_ && !timer_.isActive())
            timer_.start();
    });
    connect(analysis_, &AnalysisState::figuresChanged, this, &ObjectiveFigures::computeSample);
}

void ObjectiveFigures::setWanted(bool wanted) {
    if (wanted == wanted_)
        return;
    wanted_ = wanted;
    computeCorpus();
    computeSample();
}

void ObjectiveFigures::computeCorpus() {
    const std::shared_ptr<const CorpusAnalysis> corpus = analysis_->sharedCorpus();
    if (!corpus || !wanted_) {
        pool_->abandon(channel);
        return;
    }
    std::vector<float> weights;
    for (const SampleSummary& sample : corpus->analyzer.samples())
        weights.push_back(sample.weight);
    pool_->start(
        channel,
        [corpus, weights = std::move(weights), settings = settings_->settings()](
            RunControl& control) { return corpusTotals(*corpus, weights, settings, control); },
        [this](JobOutcome<Totals> outcome) {
            if (const auto* totals = std::get_if<0>(&outcome)) {
                corpus_ = *totals;
                emit corpusChanged();
            }
        });
}

void ObjectiveFigures::computeSample() {
    sample_.reset();
    if (const auto& figures = analysis_->figures(); figures && wanted_)
        sample_ = std::make_shared<const SampleObjectives>(
            sample_objectives(figures->confidence(), figures->entropyTop20(), figures->labels(),
                              figures->settings(), figures->masked().weight));
    emit sampleChanged();
}

bool ObjectiveFigures::isSettled() const {
    return !timer_.isActive() && !pool_->isRunning(channel);
}

} // namespace cuset
