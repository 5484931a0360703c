#include "ui/state/what_if_state.h"

#include <utility>

namespace cuset {
namespace {

const QString channel = QStringLiteral("what-if");

} // namespace

WhatIfState::WhatIfState(AnalysisState* analysis, Workspace* workspace, MaskSettingsState* settings,
                         JobRunner* pool, QObject* parent)
    : QObject(parent)
    , analysis_(analysis)
    , workspace_(workspace)
    , settings_(settings)
    , pool_(pool) {
    connect(analysis_, &AnalysisState::corpusReset, this, [this] {
        pool_->abandon(channel);
        points_.clear();
        corpus_ = nullptr;
        stopped_ = false;
        emit changed();
        emit progressChanged();
        computeIfNeeded();
    });
    connect(settings_, &MaskSettingsState::changed, this, [this](const MaskSettings& now) {
        if (corpus_ && !same_switches(now, base_))
            computeIfNeeded();
    });
}

void WhatIfState::setWanted(bool wanted) {
    wanted_ = wanted;
    computeIfNeeded();
}

bool WhatIfState::isRunning() const {
    return pool_->isRunning(channel);
}

void WhatIfState::computeIfNeeded() {
    const CorpusAnalysis* corpus = analysis_->corpus();
    if (!wanted_ || !corpus || stopped_)
        return;
    if (corpus_ != corpus || !same_switches(base_, settings_->settings()))
        compute();
}

void WhatIfState::compute() {
    const CorpusAnalysis* corpus = analysis_->corpus();
    if (!corpus || corpus->analyzer.scores()->token_count() == 0)
        return;
    corpus_ = corpus;
    base_ = settings_->settings();
    stopped_ = false;
    progress_ = 0;
    struct Surface {
        SweepGrid grid;
        std::vector<SweepPoint> points;
    };
    pool_->start(
        channel,
        [scores = corpus->analyzer.scores(), base = base_, grid = surface_grid(base_),
         workers = analysis_->parallelFor()](RunControl& control) {
            CorpusAnalyzer analyzer(scores, control, workers);
            return Surface{grid, sweep(analyzer, base, grid, control)};
        },
        [this](JobOutcome<Surface> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* surface = std::get_if<0>(&outcome)) {
                grid_ = std::move(surface->grid);
                points_ = std::move(surface->points);
                emit changed();
            } else {
                stopped_ = true;
                corpus_ = nullptr;
            }
            emit progressChanged();
        },
        [this](const Progress& progress) {
            if (progress.total > 0)
                progress_ =
                    static_cast<double>(progress.done) / static_cast<double>(progress.total);
            emit progressChanged();
        });
    emit progressChanged();
}

void WhatIfState::stop() {
    pool_->cancel(channel);
}

} // namespace cuset
