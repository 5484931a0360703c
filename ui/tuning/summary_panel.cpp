#include "ui/tuning/summary_panel.h"

#include <cmath>

#include <QFont>
#include <QLocale>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

const QString nothing = QStringLiteral("\u2013");

QString percent(double share) {
    return QString::number(share * 100, 'f', 1) + QStringLiteral(" %");
}

QString ranged(const Range& range) {
    return QStringLiteral("%1  (%2\u2013%3)")
        .arg(range.mean, 0, 'f', 3)
        .arg(range.min, 0, 'f', 2)
        .arg(range.max, 0, 'f', 2);
}

// p as a power of ten: "4.6e-39"; does not underflow.
QString pValue(double log10P) {
    if (log10P > -4)
        return QString::number(std::pow(10.0, log10P), 'g', 2);
    const double exponent = std::floor(log10P);
    return QStringLiteral("%1e%2")
        .arg(std::pow(10.0, log10P - exponent), 0, 'f', 1)
        .arg(exponent, 0, 'f', 0);
}

} // namespace

SummaryPanel::SummaryPanel(AnalysisState* analysis, QWidget* parent)
    : QWidget(parent)
    , analysis_(analysis)
    , grid_(new QGridLayout(this)) {
    setWhatsThis(tr(
        "The whole corpus at the present thresholds. Each figure's tooltip gives its equation."));
    const int gap = fontMetrics().height() / 2;
    grid_->setContentsMargins(gap, gap, gap, gap);
    grid_->setHorizontalSpacing(gap);
    grid_->setVerticalSpacing(gap / 3);
    grid_->setColumnStretch(0, 2);
    grid_->setColumnStretch(1, 3); // long figures go on in a second line
    corpus_ = addFigure(tr("Samples, tokens"), tr("Scored samples and their response tokens"));
    addHeading(tr("Masks"));
    kept_ = addFigure(tr("Tokens kept"),
                      tr("Share of tokens with M > 0: those that training would see (Eq. 4)"));
    confident_ = addFigure(tr("confident"), tr("Share of tokens with c > tau (Eq. 2)"));
    cuda_ = addFigure(tr("CUDA"),
                      tr("Share of tokens in a kernel body or launch configuration (Eq. 3)"));
    meanMask_ = addFigure(tr("Mean M"), tr("Mean of M over all tokens (Eq. 4)"));
    difficulty_ =
        addFigure(tr("Difficulty C"),
                  tr("C_n = min over t of C_t: mean over samples, least and most (Eq. 7)"));
    weight_ =
        addFigure(tr("Weight w"), tr("w_n = 1 - C_n: mean over samples, least and most (Eq. 8)"));
    addConfidence();
    addComparison();
    addHeading(tr("Low-confidence windows"));
    lowSamples_ = addFigure(tr("Samples with one"),
                            tr("Share of samples with at least one window of 64 tokens whose mean "
                               "confidence lies below "
                               "the mean of the neutral tokens"));
    lowWindows_ = addFigure(tr("Windows"), tr("Share of all windows of 64 tokens that are low"));
    lowSensitive_ = addFigure(tr("on sensitive code"),
                              tr("Share of the low windows that touch a CUDA-sensitive token"));
    grid_->setRowStretch(grid_->rowCount(), 1);
    connect(analysis_, &AnalysisState::corpusReset, this, &SummaryPanel::showFigures);
    connect(analysis_, &AnalysisState::corpusChanged, this, &SummaryPanel::showFigures);
    connect(analysis_, &AnalysisState::statisticsChanged, this, &SummaryPanel::showStatistics);
    showFigures();
    showStatistics();
}

void SummaryPanel::addConfidence() {
    addHeading(tr("Confidence"));
    const QString interval =
        tr("95 % interval of that mean: percentiles of 2,000 bootstrap replicates, each of whole "
           "samples drawn with replacement, because the tokens of one sample are not independent");
    sensitive_ = addFigure(tr("Sensitive"),
                           tr("Mean and standard deviation of c over CUDA-sensitive tokens"));
    sensitiveInterval_ = addFigure(tr("95 % interval"), interval);
    neutral_ =
        addFigure(tr("Neutral"), tr("Mean and standard deviation of c over CUDA-neutral tokens"));
    neutralInterval_ = addFigure(tr("95 % interval"), interval);
}

void SummaryPanel::addComparison() {
    addHeading(tr("Sensitive against neutral"));
    difference_ = addFigure(tr("Difference"),
                            tr("Mean of sensitive less mean of neutral tokens, with its 95 % "
                               "interval from the same bootstrap by sample"));
    const QString test = tr("Two-sample Kolmogorov-Smirnov test: sup |F1 - F2| and its asymptotic "
                            "two-sided p-value, of ");
    ksTokens_ = addFigure(tr("KS by token"),
                          test
                              + tr("sensitive against neutral tokens. p takes the tokens for "
                                   "independent, which those of one sample are not."));
    ksSamples_ = addFigure(
        tr("KS by sample"),
        test + tr("the samples' mean sensitive against the samples' mean neutral confidences"));
    cohen_ = addFigure(tr("Cohen's d"),
                       tr("Effect size: the difference of means over the pooled standard "
                          "deviation; by token, and by the samples' means"));
    cliff_ = addFigure(tr("Cliff's \u03b4"),
                       tr("Effect size: P(sensitive > neutral) - P(sensitive < neutral), in [-1, "
                          "1]; by token, and by the samples' means"));
    statistics_ = {sensitiveInterval_, neutralInterval_, difference_, ksTokens_,
                   ksSamples_,         cohen_,           cliff_};
    for (QLabel* label : statistics_)
        std::erase(values_, label);
}

QLabel* SummaryPanel::addFigure(const QString& title, const QString& explanation) {
    auto* name = new QLabel(title, this);
    auto* value = new QLabel(this);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setWordWrap(true);
    name->setWordWrap(true);
    value->setAccessibleName(title);
    name->setBuddy(value);
    for (QLabel* label : {name, value})
        label->setToolTip(plainToolTip(explanation));
    const int row = grid_->rowCount();
    grid_->addWidget(name, row, 0);
    grid_->addWidget(value, row, 1);
    values_.push_back(value);
    return value;
}

void SummaryPanel::addHeading(const QString& title) {
    auto* heading = new QLabel(title, this);
    QFont bold = font();
    bold.setBold(true);
    heading->setFont(bold);
    heading->setContentsMargins(0, fontMetrics().height() / 3, 0, 0);
    grid_->addWidget(heading, grid_->rowCount(), 0, 1, 2);
}

void SummaryPanel::showFigures() {
    const CorpusAnalysis* corpus = analysis_->corpus();
    if (!corpus) {
        for (QLabel* value : values_)
            value->setText(nothing);
        return;
    }
    const CorpusSummary& s = corpus->analyzer.summary();
    const QLocale locale;
    const auto moments = [](const Moments& m) {
        return m.count == 0
            ? nothing
            : QStringLiteral("%1 \u00b1 %2").arg(m.mean, 0, 'f', 4).arg(m.std, 0, 'f', 3);
    };
    corpus_->setText(
        QStringLiteral("%1, %2").arg(locale.toString(static_cast<qlonglong>(s.samples)),
                                     locale.toString(static_cast<qlonglong>(s.tokens))));
    const auto show = [](QLabel* value, bool there, const QString& text) {
        value->setText(there ? text : nothing);
    };
    const bool any = s.tokens > 0;
    show(kept_, any, percent(s.mask.supervised_share));
    show(confident_, any, percent(s.mask.confident_share));
    show(cuda_, any, percent(s.mask.cuda_share));
    show(meanMask_, any, QString::number(s.mask.mean_mask, 'f', 3));
    show(difficulty_, any, ranged(s.difficulty));
    show(weight_, any, ranged(s.weight));
    sensitive_->setText(moments(s.confidence.sensitive));
    neutral_->setText(moments(s.confidence.neutral));
    const auto counted = [&](const QString& what, const Moments& m) {
        return tr("%1, %2 tokens").arg(what, locale.toString(static_cast<qlonglong>(m.count)));
    };
    setName(sensitive_, counted(tr("Sensitive"), s.confidence.sensitive));
    setName(neutral_, counted(tr("Neutral"), s.confidence.neutral));
    const LowConfidenceSummary& low = s.low_confidence;
    show(lowSamples_, low.windows > 0, percent(low.samples_share));
    show(lowWindows_, low.windows > 0, percent(low.windows_share));
    show(lowSensitive_, low.low_windows > 0, percent(low.sensitive_share));
}

void SummaryPanel::setName(QLabel* value, const QString& text) {
    int row = 0, column = 0, rows = 0, columns = 0;
    grid_->getItemPosition(grid_->indexOf(value), &row, &column, &rows, &columns);
    if (auto* name = qobject_cast<QLabel*>(grid_->itemAtPosition(row, 0)->widget()))
        name->setText(text);
    value->setAccessibleName(text);
}

void SummaryPanel::showStatistics() {
    const SampleStatistics* s = analysis_->statistics();
    for (QLabel* value : statistics_)
        value->setText(nothing);
    if (!s)
        return;
    const QLocale locale;
    const auto bounds = [](const Interval& i) {
        return QStringLiteral("%1 \u2013 %2").arg(i.low, 0, 'f', 4).arg(i.high, 0, 'f', 4);
    };
    const auto counted = [&](const QString& what, std::int64_t samples) {
        return tr("%1, %2 samples").arg(what, locale.toString(static_cast<qlonglong>(samples)));
    };
    setName(sensitiveInterval_, counted(tr("95 % interval"), s->samples_sensitive));
    setName(neutralInterval_, counted(tr("95 % interval"), s->samples_neutral));
    if (s->samples_sensitive > 0)
        sensitiveInterval_->setText(bounds(s->sensitive));
    if (s->samples_neutral > 0)
        neutralInterval_->setText(bounds(s->neutral));
    if (s->samples_sensitive == 0 || s->samples_neutral == 0)
        return; // nothing to compare
    const auto test = [](const KsTest& ks) {
        return tr("D %1, p %2").arg(ks.statistic, 0, 'f', 3).arg(pValue(ks.log10_p));
    };
    const auto pair = [](double tokens, double samples) {
        return tr("%1 tokens, %2 samples").arg(tokens, 0, 'f', 3).arg(samples, 0, 'f', 3);
    };
    difference_->setText(QStringLiteral("%1 (%2)")
                             .arg(s->difference.estimate, 0, 'f', 4)
                             .arg(bounds(s->difference)));
    ksTokens_->setText(test(s->ks_tokens));
    setName(ksSamples_,
            tr("KS by sample, %1 and %2")
                .arg(locale.toString(static_cast<qlonglong>(s->samples_sensitive)),
                     locale.toString(static_cast<qlonglong>(s->samples_neutral))));
    ksSamples_->setText(test(s->ks_samples));
    cohen_->setText(pair(s->by_token.cohens_d, s->by_sample.cohens_d));
    cliff_->setText(pair(s->by_token.cliffs_delta, s->by_sample.cliffs_delta));
}

} // namespace cuset
