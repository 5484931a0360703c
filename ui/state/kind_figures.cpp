#include "ui/state/kind_figures.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/analysis/statistics.h"
#include "ui/editor/color_scale.h"

namespace cuset {
namespace {

const QString pushChannel = QStringLiteral("push");
const QString selectedChannel = QStringLiteral("selected kinds");
constexpr int densityPoints = 256;
// A drag needs the cores for its frames: what is quick to compute follows it at this pace; what is
// not waits until the thresholds rest for as long.
constexpr int pushInterval = 120; // ms
constexpr qint64 quickPush = 10; // ms

// Push of each sample and of all. `weights`: w_n of each sample. Reads of the analyzer only what
// no threshold changes.
ObjectivePush corpusPush(const CorpusAnalysis& corpus, TokenObjective objective,
                         const std::vector<float>& weights, const MaskSettings& settings,
                         RunControl& control) {
    const ScoreSet& scores = *corpus.analyzer.scores();
    const std::span<const float> confidence = corpus.analyzer.confidence();
    ObjectivePush push;
    push.objective = objective;
    std::vector<float> tokenWeights;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        control.throw_if_stopped();
        const auto begin = static_cast<std::size_t>(scores.token_begin(n));
        const auto tokens = static_cast<std::size_t>(scores.token_end(n)) - begin;
        tokenWeights.resize(tokens);
        const auto own = confidence.subspan(begin, tokens);
        const auto labels = scores.columns().labels.subspan(begin, tokens);
        objective_weights(objective, own, scores.columns().entropy_top20.subspan(begin, tokens),
                          labels, settings, weights[static_cast<std::size_t>(n)], {}, tokenWeights);
        push.samples.push_back(push_totals(own, labels, tokenWeights));
        push.corpus.add(push.samples.back());
    }
    return push;
}

} // namespace

QString kindRowTitle(int row) {
    return row < sensitive_kind_count ? kindTitle(static_cast<SensitiveKind>(row))
                                      : KindFigures::tr("any sensitive");
}

KindFigures::KindFigures(AnalysisState* analysis, MaskSettingsState* settings,
                         SelectionState* selection, JobRunner* pool, QObject* parent)
    : QObject(parent)
    , analysis_(analysis)
    , settings_(settings)
    , selection_(selection)
    , pool_(pool) {
    connect(analysis_, &AnalysisState::corpusReset, this, [this] {
        pushKnown_ = false;
        emit changed();
        computePush();
        computeSelected();
    });
    pushTimer_.setSingleShot(true);
    pushTimer_.setInterval(pushInterval);
    connect(&pushTimer_, &QTimer::timeout, this, [this] {
        if (pool_->isRunning(pushChannel))
            pushTimer_.start(); // rather late than never: a restart would drop what is nearly done
        else
            computePush();
    });
    connect(analysis_, &AnalysisState::corpusChanged, this, [this] {
        if (!pushTimer_.isActive() || lastPush_ > quickPush)
            pushTimer_.start();
    });
    connect(selection_, &SelectionState::kindsChanged, this, &KindFigures::computeSelected);
    connect(selection_, &SelectionState::objectiveChanged, this, &KindFigures::computePush);
}

KindFigures::Row KindFigures::row(int index) const {
    Row row;
    const bool any = index >= sensitive_kind_count;
    row.labels =
        any ? static_cast<LabelBits>(~kernel_bit) : kind_bit(static_cast<SensitiveKind>(index));
    row.meanConfidence = row.push = std::numeric_limits<double>::quiet_NaN();
    const CorpusAnalysis* corpus = analysis_->corpus();
    if (!corpus)
        return row;
    const CorpusSummary& summary = corpus->analyzer.summary();
    const auto kind = static_cast<std::size_t>(any ? 0 : index);
    const Moments& moments = any ? summary.confidence.sensitive : summary.confidence.by_kind[kind];
    row.tokens = moments.count;
    if (summary.tokens > 0)
        row.share = static_cast<double>(moments.count) / static_cast<double>(summary.tokens);
    if (moments.count > 0)
        row.meanConfidence = moments.mean;
    row.lowWindows =
        any ? summary.low_confidence.sensitive_share : summary.low_confidence.by_kind[kind];
    if (pushKnown_)
        row.push = push_.corpus.total > 0
            ? (any ? push_.corpus.sensitive : push_.corpus.by_kind[kind]) / push_.corpus.total
            : 0;
    return row;
}

void KindFigures::computePush() {
    const std::shared_ptr<const CorpusAnalysis> corpus = analysis_->sharedCorpus();
    if (!corpus) {
        pool_->abandon(pushChannel);
        return;
    }
    pushStarted_.start();
    std::vector<float> weights;
    for (const SampleSummary& sample : corpus->analyzer.samples())
        weights.push_back(sample.weight);
    pool_->start(
        pushChannel,
        [corpus, weights = std::move(weights), objective = selection_->objective(),
         settings = settings_->settings()](RunControl& control) {
            return corpusPush(*corpus, objective, weights, settings, control);
        },
        [this](JobOutcome<ObjectivePush> outcome) {
            if (auto* push = std::get_if<0>(&outcome)) {
                push_ = std::move(*push);
                lastPush_ = pushStarted_.elapsed();
                pushKnown_ = true;
                emit changed();
            }
        });
}

void KindFigures::computeSelected() {
    const std::shared_ptr<const CorpusAnalysis> corpus = analysis_->sharedCorpus();
    const LabelBits kinds = selection_->kinds();
    if (!corpus || kinds == 0) {
        pool_->abandon(selectedChannel);
        density_ = {};
        counts_.clear();
        emit selectionChanged();
        return;
    }
    pool_->start(
        selectedChannel,
        [corpus, kinds](RunControl& control) {
            const ScoreSet& scores = *corpus->analyzer.scores();
            Selected selected;
            std::vector<float> values;
            for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
                control.throw_if_stopped();
                const std::size_t before = values.size();
                for (auto t = static_cast<std::size_t>(scores.token_begin(n));
                     t < static_cast<std::size_t>(scores.token_end(n)); ++t)
                    if (scores.columns().labels[t] & kinds)
                        values.push_back(corpus->analyzer.confidence()[t]);
                selected.counts.push_back(static_cast<std::int32_t>(values.size() - before));
            }
            selected.density = kernel_density(values, densityPoints);
            return selected;
        },
        [this](JobOutcome<Selected> outcome) {
            auto* selected = std::get_if<0>(&outcome);
            if (!selected)
                return;
            density_ = std::move(selected->density);
            counts_ = std::move(selected->counts);
            emit selectionChanged();
        });
}

std::int64_t KindFigures::selectedTokens(int corpusIndex) const {
    return corpusIndex >= 0 && corpusIndex < static_cast<int>(counts_.size())
        ? counts_[static_cast<std::size_t>(corpusIndex)]
        : 0;
}

const PushTotals* KindFigures::samplePush(int corpusIndex) const {
    return pushKnown_ && corpusIndex >= 0 && corpusIndex < static_cast<int>(push_.samples.size())
        ? &push_.samples[static_cast<std::size_t>(corpusIndex)]
        : nullptr;
}

bool KindFigures::isSettled() const {
    return !pushTimer_.isActive() && !pool_->isRunning(pushChannel)
        && !pool_->isRunning(selectedChannel);
}

} // namespace cuset
