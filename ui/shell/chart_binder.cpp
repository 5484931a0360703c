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

constexpr int histogramBins = 50;

// Counts in equal bins of [0, 1]; the last one includes 1. `sorted` ascends.
std::vector<std::int64_t> binCounts(std::span<const float> sorted) {
    std::vector<std::int64_t> counts;
    auto from = std::lower_bound(sorted.begin(), sorted.end(), 0.0f);
    for (int bin = 1; bin <= histogramBins; ++bin) {
        const float edge = static_cast<float>(bin) / histogramBins;
        const auto to = bin == histogramBins ? std::upper_bound(from, sorted.end(), edge)
                                             : std::lower_bound(from, sorted.end(), edge);
        counts.push_back(to - from);
        from = to;
    }
    return counts;
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
    , sweep_(new SweepChart(parent))
    , shares_(new BarListChart(tr("Low-confidence windows over the corpus"), parent)) {
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
        if (sweptScores_ && !same_switches(now, sweptSettings_))
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
    showShares();
    if (!corpus) {
        density_->clear();
        return;
    }
    const ConfidenceSummary& confidence = corpus->analyzer.summary().confidence;
    density_->setDensities(corpus->sensitive, corpus->neutral, confidence.sensitive,
                           confidence.neutral, confidence.ks);
    density_->setHistograms(binCounts(corpus->analyzer.sorted_sensitive()),
                            binCounts(corpus->analyzer.sorted_neutral()));
}

// Section 3 of the paper: how many samples have a low-confidence window, and what such windows
// touch.
void ChartBinder::showShares() {
    const CorpusAnalysis* corpus = analysis_->corpus();
    if (!corpus) {
        shares_->clear();
        return;
    }
    const LowConfidenceSummary& low = corpus->analyzer.summary().low_confidence;
    const QString definition =
        tr("a window of %1 tokens is low if its mean confidence lies below that of the neutral "
           "tokens, %2")
            .arg(low.window)
            .arg(corpus->analyzer.summary().confidence.neutral.mean, 0, 'f', 4);
    std::vector<BarRowItem> rows;
    const auto heading = [&rows](const QString& text) {
        rows.push_back({.label = text, .numbers = {}, .explanation = {}, .heading = true});
    };
    const auto add = [&](const QString& label, double share, bool sensitive, const QString& of) {
        rows.push_back({.label = label,
                        .value = share,
                        .part = sensitive ? share : 0,
                        .numbers = QString::number(share * 100, 'f', 2) + QStringLiteral(" %"),
                        .explanation = of + QLatin1Char('\n') + definition,
                        .figures = {share}});
    };
    heading(tr("of all samples"));
    add(tr("with a low window"), low.samples_share, false, tr("share of the samples with tokens"));
    heading(tr("of all windows"));
    add(tr("low"), low.windows_share, false,
        tr("%1 of %2 windows").arg(low.low_windows).arg(low.windows));
    heading(tr("of the low windows, those that touch"));
    add(tr("any sensitive token"), low.sensitive_share, true, tr("share of the low windows"));
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        add(kindRowTitle(kind), low.by_kind[static_cast<std::size_t>(kind)], true,
            tr("share of the low windows; one may touch several kinds"));
    shares_->setRows(std::move(rows), 1, {QStringLiteral("figure"), QStringLiteral("share")});
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
                            lowestWindowAt(*figures), figures->windowMeanAfter());
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
        && barsCompared_ == figures->comparedScores()
        && (token < 0 || (token >= barsBegin_ && token < barsEnd_)))
        return;
    const int centre = token >= 0 ? token : std::max(0, lowestWindowAt(*figures));
    const WindowRange range = window_at(centre, figures->count(), barWindow, false);
    barsBegin_ = range.begin;
    barsEnd_ = range.end;
    barsSample_ = selection_->sample();
    barsScores_ = workspace_->scores();
    barsCompared_ = figures->comparedScores();
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
        if (figures->isCompared())
            bars.back().compared = figures->confidenceAfter()[index];
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
    if (!sweepVisible_ || (sweptScores_ == scores && same_switches(base, sweptSettings_)))
        return;
    sweptScores_ = scores;
    sweptSettings_ = base;
    pool_->start(
        sweepChannel,
        [scores, base, workers = analysis_->parallelFor()](RunControl& control) {
            CorpusAnalyzer analyzer(scores, control, workers);
            return cuset::sweep(analyzer, base, with_settings({}, base), control);
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
