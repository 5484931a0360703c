#include "ui/shell/chart_binder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/analysis/window.h"
#include "ui/editor/color_scale.h"
#include "ui/state/navigation.h"

namespace cuset {
namespace {

constexpr int barWindow = 64; // tokens zoomed into, the paper's window of section 3
const QString sweepChannel = QStringLiteral("sweep");

bool sameSwitches(const MaskSettings& a, const MaskSettings& b) {
    return a.confidence_mask == b.confidence_mask && a.cuda_mask == b.cuda_mask
        && a.region_weight == b.region_weight && a.whole_if_short == b.whole_if_short;
}

// The grid of the paper's sweeps, with the present values among them.
SweepGrid gridAround(const MaskSettings& settings) {
    SweepGrid grid;
    const auto insert = [](auto& values, auto value) {
        const auto at = std::lower_bound(values.begin(), values.end(), value);
        if (at == values.end() || *at != value)
            values.insert(at, value);
    };
    insert(grid.tau, settings.tau);
    insert(grid.lambda, settings.lambda);
    insert(grid.window, settings.window);
    return grid;
}

} // namespace

ChartBinder::ChartBinder(AnalysisState* analysis, Workspace* workspace, MaskSettingsState* settings,
                         SelectionState* selection, KindFigures* kinds, JobRunner* pool,
                         QWidget* parent)
    : QObject(parent)
    , analysis_(analysis)
    , workspace_(workspace)
    , settings_(settings)
    , selection_(selection)
    , kinds_(kinds)
    , pool_(pool)
    , density_(new DensityChart(parent))
    , window_(new WindowChart(parent))
    , bars_(new TokenBarChart(parent))
    , sweep_(new SweepChart(parent)) {
    density_->setTau(settings_->settings().tau);
    sweep_->setCurrent(settings_->settings());
    connectCharts();
    connect(analysis_, &AnalysisState::corpusReset, this, [this] {
        showCorpus();
        showSample();
        computeSweep();
    });
    connect(analysis_, &AnalysisState::figuresChanged, this, &ChartBinder::showSample);
    connect(selection_, &SelectionState::tokenChanged, this, &ChartBinder::showSelection);
    connect(selection_, &SelectionState::hoverChanged, this, &ChartBinder::showSelection);
    connect(selection_, &SelectionState::kindsChanged, this, &ChartBinder::showPicked);
    connect(kinds_, &KindFigures::selectionChanged, this, &ChartBinder::showPickedDensity);
    connect(settings_, &MaskSettingsState::changed, this, [this](const MaskSettings& now) {
        density_->setTau(now.tau);
        sweep_->setCurrent(now);
        if (sweptScores_ && !sameSwitches(now, sweptSettings_))
            computeSweep();
    });
}

void ChartBinder::connectCharts() {
    connect(density_, &DensityChart::tauDragged, this, [this](double tau) {
        settings_->beginGesture(tr("Change tau"));
        settings_->setTau(tau);
    });
    connect(density_, &DensityChart::tauDragFinished, this, [this](double tau) {
        settings_->setTau(tau);
        settings_->endGesture();
    });
    connect(window_, &WindowChart::tokenClicked, selection_, &SelectionState::setToken);
    connect(window_, &WindowChart::tokenHovered, selection_, &SelectionState::setHover);
    connect(bars_, &TokenBarChart::tokenClicked, selection_, &SelectionState::setToken);
    connect(bars_, &TokenBarChart::tokenHovered, selection_, &SelectionState::setHover);
    connect(sweep_, &SweepChart::settingsChosen, this, [this](const MaskSettings& chosen) {
        settings_->set(chosen, tr("Choose from the sweep"));
    });
}

void ChartBinder::showCorpus() {
    const CorpusAnalysis* corpus = analysis_->corpus();
    if (!corpus) {
        density_->clear();
        return;
    }
    const ConfidenceSummary& confidence = corpus->analyzer.summary().confidence;
    density_->setDensities(corpus->sensitive, corpus->neutral, confidence.sensitive,
                           confidence.neutral, confidence.ks);
}

void ChartBinder::showSample() {
    const auto& figures = analysis_->figures();
    if (!figures) {
        window_->clear();
        bars_->clear();
        barsSample_ = -1;
        return;
    }
    const CorpusAnalysis* corpus = analysis_->corpus();
    const double neutralMean = corpus && corpus->analyzer.summary().confidence.neutral.count > 0
        ? corpus->analyzer.summary().confidence.neutral.mean
        : std::numeric_limits<double>::quiet_NaN();
    window_->setWindowMeans(figures->masked().window_mean, neutralMean, figures->settings().window,
                            lowestWindowAt(*figures));
    showSelection();
    showPicked();
}

QColor ChartBinder::pickedColor() const {
    const QPalette colors = density_->palette();
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (selection_->kinds() == kind_bit(static_cast<SensitiveKind>(kind)))
            return kindColor(static_cast<SensitiveKind>(kind), colors);
    return seriesColors(colors).accent;
}

void ChartBinder::showPicked() {
    const LabelBits kinds = selection_->kinds();
    std::vector<int> tokens;
    if (const auto& figures = analysis_->figures(); figures && kinds != 0)
        for (int t = 0; t < figures->count(); ++t)
            if (figures->labels()[static_cast<std::size_t>(t)] & kinds)
                tokens.push_back(t);
    window_->setPickedTokens(std::move(tokens), pickedColor());
    bars_->setPickedLabels(kinds);
}

void ChartBinder::showPickedDensity() {
    QStringList names;
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (selection_->kinds() & kind_bit(static_cast<SensitiveKind>(kind)))
            names += kindRowTitle(kind);
    density_->setPicked(kinds_->density(),
                        names.size() > 1 ? tr("%1 kinds").arg(names.size()) : names.join(QString()),
                        pickedColor());
}

void ChartBinder::showBars() {
    const auto& figures = analysis_->figures();
    if (!figures || figures->count() == 0) {
        bars_->clear();
        barsSample_ = -1;
        return;
    }
    const int token = selection_->token();
    if (barsSample_ == selection_->sample() && barsScores_ == workspace_->scores()
        && (token < 0 || (token >= barsBegin_ && token < barsEnd_)))
        return;
    const int centre = token >= 0 ? token : std::max(0, lowestWindowAt(*figures));
    const WindowRange range = window_at(centre, figures->count(), barWindow, false);
    barsBegin_ = range.begin;
    barsEnd_ = range.end;
    barsSample_ = selection_->sample();
    barsScores_ = workspace_->scores();
    std::vector<TokenBar> bars;
    double sum = 0;
    for (int t = barsBegin_; t < barsEnd_; ++t) {
        const auto index = static_cast<std::size_t>(t);
        const ByteSpan span = figures->spans()[index];
        const std::string_view response = figures->scores().response(figures->index());
        std::string_view text;
        if (const auto known = figures->scores().token_text(figures->tokenId(t)))
            text = *known;
        else if (span.begin >= 0 && span.end <= static_cast<int>(response.size()))
            text = response.substr(static_cast<std::size_t>(span.begin),
                                   static_cast<std::size_t>(span.size()));
        bars.push_back({QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())),
                        figures->confidence()[index], figures->labels()[index], t});
        sum += static_cast<double>(figures->confidence()[index]);
    }
    const double mean = sum / std::max(1.0, static_cast<double>(bars.size()));
    bars_->setTokens(std::move(bars), mean);
}

void ChartBinder::showSelection() {
    showBars();
    window_->setMarkedToken(selection_->shownToken());
    bars_->setMarkedToken(selection_->shownToken());
}

void ChartBinder::setSweepVisible(bool visible) {
    sweepVisible_ = visible;
    if (visible)
        computeSweep();
}

void ChartBinder::computeSweep() {
    const std::shared_ptr<const ScoreSet> scores = workspace_->scores();
    if (!scores || scores->token_count() == 0) {
        sweep_->clear();
        sweptScores_.reset();
        return;
    }
    const MaskSettings base = settings_->settings();
    if (!sweepVisible_ || (sweptScores_ == scores && sameSwitches(base, sweptSettings_)))
        return;
    sweptScores_ = scores;
    sweptSettings_ = base;
    pool_->start(
        sweepChannel,
        [scores, base, workers = analysis_->parallelFor()](RunControl& control) {
            CorpusAnalyzer analyzer(scores, control, workers);
            return cuset::sweep(analyzer, base, gridAround(base), control);
        },
        [this](JobOutcome<std::vector<SweepPoint>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (const auto* points = std::get_if<0>(&outcome))
                sweep_->setSweep(*points, settings_->settings());
        });
}

bool ChartBinder::isSettled() const {
    return !pool_->isRunning(sweepChannel);
}

} // namespace cuset
