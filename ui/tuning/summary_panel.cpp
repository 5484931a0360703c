#include "ui/tuning/summary_panel.h"

#include <cmath>

#include <QFont>
#include <QLocale>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

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
    grid_->setColumnStretch(0, 1);
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
    addHeading(tr("Confidence"));
    sensitive_ = addFigure(tr("Sensitive"),
                           tr("Mean and standard deviation of c over CUDA-sensitive tokens"));
    neutral_ =
        addFigure(tr("Neutral"), tr("Mean and standard deviation of c over CUDA-neutral tokens"));
    ks_ = addFigure(tr("KS distance, p"),
                    tr("Two-sample Kolmogorov-Smirnov test of sensitive against neutral tokens: "
                       "sup |F1 - F2| and its "
                       "asymptotic two-sided p-value"));
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
    showFigures();
}

QLabel* SummaryPanel::addFigure(const QString& title, const QString& explanation) {
    auto* name = new QLabel(title, this);
    auto* value = new QLabel(this);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setAccessibleName(title);
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
            value->setText(QStringLiteral("\u2013"));
        return;
    }
    const CorpusSummary& s = corpus->analyzer.summary();
    const QLocale locale;
    const auto moments = [](const Moments& m) {
        return QStringLiteral("%1 \u00b1 %2").arg(m.mean, 0, 'f', 4).arg(m.std, 0, 'f', 3);
    };
    corpus_->setText(
        QStringLiteral("%1, %2").arg(locale.toString(static_cast<qlonglong>(s.samples)),
                                     locale.toString(static_cast<qlonglong>(s.tokens))));
    kept_->setText(percent(s.mask.supervised_share));
    confident_->setText(percent(s.mask.confident_share));
    cuda_->setText(percent(s.mask.cuda_share));
    meanMask_->setText(QString::number(s.mask.mean_mask, 'f', 3));
    difficulty_->setText(ranged(s.difficulty));
    weight_->setText(ranged(s.weight));
    sensitive_->setText(moments(s.confidence.sensitive));
    neutral_->setText(moments(s.confidence.neutral));
    ks_->setText(QStringLiteral("%1, %2")
                     .arg(s.confidence.ks.statistic, 0, 'f', 3)
                     .arg(pValue(s.confidence.ks.log10_p)));
    lowSamples_->setText(percent(s.low_confidence.samples_share));
    lowWindows_->setText(percent(s.low_confidence.windows_share));
    lowSensitive_->setText(percent(s.low_confidence.sensitive_share));
}

} // namespace cuset
