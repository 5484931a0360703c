#include "ui/state/lowest_state.h"

#include <utility>

namespace cuset {
namespace {

const QString lowestChannel = QStringLiteral("lowest");
constexpr int windowDelay = 250; // ms

} // namespace

LowestState::LowestState(AnalysisState* analysis, MaskSettingsState* settings, JobRunner* pool,
                         QObject* parent)
    : QObject(parent)
    , analysis_(analysis)
    , settings_(settings)
    , pool_(pool) {
    query_.window = settings_->settings().window;
    windowTimer_.setSingleShot(true);
    windowTimer_.setInterval(windowDelay);
    connect(&windowTimer_, &QTimer::timeout, this, &LowestState::look);
    connect(analysis_, &AnalysisState::corpusReset, this, [this] {
        stale_ = true;
        clear();
        look();
    });
    connect(settings_, &MaskSettingsState::changed, this, [this](const MaskSettings& now) {
        if (now.window == query_.window)
            return;
        query_.window = now.window;
        if (query_.unit != TextUnit::window)
            return;
        stale_ = true;
        windowTimer_.start();
    });
}

void LowestState::setQuery(const LowestQuery& query) {
    query_ = query;
    query_.window = settings_->settings().window;
    stale_ = true;
    look();
}

void LowestState::setActive(bool active) {
    active_ = active;
    look();
}

void LowestState::clear() {
    pool_->abandon(lowestChannel);
    units_.clear();
    scores_.reset();
    emit changed();
}

bool LowestState::isLooking() const {
    return windowTimer_.isActive() || pool_->isRunning(lowestChannel);
}

void LowestState::look() {
    const std::shared_ptr<const CorpusAnalysis> corpus = analysis_->sharedCorpus();
    if (!active_ || !stale_ || !corpus)
        return;
    stale_ = false;
    pool_->start(
        lowestChannel,
        [corpus, query = query_](RunControl& control) {
            return lowest_units(corpus->analyzer, query, control);
        },
        [this, corpus](JobOutcome<std::vector<LowUnit>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* units = std::get_if<0>(&outcome)) {
                units_ = std::move(*units);
                scores_ = corpus->analyzer.scores();
            }
            emit changed();
        });
    emit changed();
}

} // namespace cuset
