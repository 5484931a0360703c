#include "ui/state/unit_figures.h"

#include <array>
#include <utility>

namespace cuset {
namespace {

const QString unitChannel = QStringLiteral("lowest of samples");
constexpr int windowDelay = 250; // ms

} // namespace

UnitFigures::UnitFigures(AnalysisState* analysis, MaskSettingsState* settings, JobRunner* pool,
                         QObject* parent)
    : QObject(parent)
    , analysis_(analysis)
    , settings_(settings)
    , pool_(pool) {
    query_.unit = TextUnit::line;
    windowTimer_.setSingleShot(true);
    windowTimer_.setInterval(windowDelay);
    connect(&windowTimer_, &QTimer::timeout, this, &UnitFigures::compute);
    connect(analysis_, &AnalysisState::corpusReset, this, [this] {
        forget();
        compute();
    });
    connect(settings_, &MaskSettingsState::changed, this, [this](const MaskSettings& now) {
        if (now.window == query_.window || query_.unit != TextUnit::window)
            return;
        known_ = false;
        windowTimer_.start();
    });
}

void UnitFigures::setUnit(TextUnit unit, Aggregate how) {
    if (unit == query_.unit && how == query_.how)
        return;
    query_.unit = unit;
    query_.how = how;
    forget();
    emit unitChanged();
    compute();
}

QString UnitFigures::title() const {
    const std::array<QString, text_unit_names.size()> units{
        tr("lowest token"), tr("lowest line"), tr("lowest statement"), tr("lowest window"),
        tr("lowest region")};
    const QString unit = units[static_cast<std::size_t>(query_.unit)];
    if (query_.unit == TextUnit::token)
        return unit;
    return query_.how == Aggregate::mean ? tr("%1, mean").arg(unit) : tr("%1, minimum").arg(unit);
}

void UnitFigures::setWanted(bool wanted) {
    wanted_ = wanted;
    compute();
}

const SpanConfidence* UnitFigures::lowest(int corpusIndex) const {
    if (corpusIndex < 0 || corpusIndex >= static_cast<int>(lowest_.size()))
        return nullptr;
    const SpanConfidence& found = lowest_[static_cast<std::size_t>(corpusIndex)];
    return found.tokens > 0 ? &found : nullptr;
}

bool UnitFigures::isSettled() const {
    return !windowTimer_.isActive() && !pool_->isRunning(unitChannel);
}

void UnitFigures::forget() {
    pool_->abandon(unitChannel);
    known_ = false;
    lowest_.clear();
    emit changed();
}

void UnitFigures::compute() {
    const std::shared_ptr<const CorpusAnalysis> corpus = analysis_->sharedCorpus();
    if (!wanted_ || known_ || !corpus)
        return;
    known_ = true;
    query_.window = settings_->settings().window;
    query_.least_tokens = default_least_tokens(query_.unit);
    pool_->start(
        unitChannel,
        [corpus, query = query_](RunControl& control) {
            return lowest_of_samples(corpus->analyzer, query, control);
        },
        [this](JobOutcome<std::vector<SpanConfidence>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* found = std::get_if<0>(&outcome)) {
                lowest_ = std::move(*found);
                emit changed();
            }
        });
}

} // namespace cuset
