#include "ui/editor/token_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QFontDatabase>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr int shownAlternatives = 5;
constexpr int maxTokenUnits = 24;

// The token's bytes: of the set's vocabulary, else of the text.
std::string_view bytesOf(const TokenFigures& figures, int token) {
    if (const auto text = figures.scores().token_text(figures.tokenId(token)))
        return *text;
    const ByteSpan span = figures.spans()[static_cast<std::size_t>(token)];
    const std::string_view response = figures.scores().response(figures.index());
    if (span.begin < 0 || span.begin > static_cast<int>(response.size()))
        return {};
    return response.substr(static_cast<std::size_t>(span.begin),
                           static_cast<std::size_t>(span.size()));
}

// A token's text with its blanks visible: most tokens begin with one.
QString tokenLabel(std::string_view bytes) {
    return visibleText(bytes, maxTokenUnits).replace(QLatin1Char(' '), QChar(0x00b7));
}

QString hexBytes(std::string_view bytes) {
    const std::string_view head = bytes.substr(0, 12);
    const QByteArray raw(head.data(), static_cast<qsizetype>(head.size()));
    return QString::fromLatin1(raw.toHex(' '))
        + (bytes.size() > head.size() ? QStringLiteral(" \u2026") : QString());
}

} // namespace

AlternativesView::AlternativesView(QWidget* parent)
    : QWidget(parent) {
    setAccessibleName(tr("What the model would have written instead"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void AlternativesView::setAlternatives(std::vector<Alternative> alternatives) {
    if (alternatives == alternatives_)
        return;
    alternatives_ = std::move(alternatives);
    QStringList words;
    for (const Alternative& a : alternatives_)
        words += tr("%1 %2").arg(a.label).arg(a.probability, 0, 'f', 3);
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

QSize AlternativesView::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 46, fontMetrics().height() * shownAlternatives};
}

QSize AlternativesView::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 30, fontMetrics().height() * 4};
}

void AlternativesView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QFont mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    const QFontMetricsF metrics(mono);
    painter.setFont(mono);
    const SeriesColors colors = seriesColors(palette());
    const qreal rows = std::max(1.0, static_cast<qreal>(alternatives_.size()));
    const qreal rowHeight = std::min<qreal>(metrics.height() * 1.25, height() / rows);
    const qreal labelWidth = metrics.averageCharWidth() * 16;
    const qreal numberWidth = metrics.averageCharWidth() * 7;
    const qreal barWidth = std::max<qreal>(
        10, std::min(width() - labelWidth - numberWidth - 12, metrics.averageCharWidth() * 50));
    qreal y = 0;
    for (const Alternative& a : alternatives_) {
        const QColor bar = a.target
            ? colors.sensitive
            : mixed(palette().color(QPalette::Text), palette().color(QPalette::Window), 0.30);
        painter.setPen(a.target ? readableOn(colors.sensitive, palette().color(QPalette::Window))
                                : palette().color(QPalette::WindowText));
        painter.drawText(QRectF(0, y, labelWidth, rowHeight), Qt::AlignRight | Qt::AlignVCenter,
                         metrics.elidedText(a.label, Qt::ElideMiddle, labelWidth));
        painter.fillRect(QRectF(labelWidth + 6, y + rowHeight * 0.2,
                                std::max(1.0, barWidth * a.probability), rowHeight * 0.6),
                         bar);
        painter.drawText(
            QRectF(labelWidth + 8 + barWidth * a.probability, y, numberWidth, rowHeight),
            Qt::AlignLeft | Qt::AlignVCenter, QString::number(a.probability, 'f', 3));
        y += rowHeight;
    }
}

TokenPanel::TokenPanel(AnalysisState* analysis, SelectionState* selection, LabelState* labels,
                       QWidget* parent)
    : QWidget(parent)
    , analysis_(analysis)
    , selection_(selection)
    , labels_(labels) {
    setAccessibleName(tr("Token"));
    setWhatsThis(tr("The token under the pointer, else the selected one: what the model gives it, "
                    "how far training "
                    "would move it, and what it would have written instead."));
    build();
    connect(analysis_, &AnalysisState::figuresChanged, this, &TokenPanel::showToken);
    connect(analysis_, &AnalysisState::structureChanged, this, &TokenPanel::showToken);
    connect(labels_, &LabelState::changed, this, &TokenPanel::showToken);
    connect(selection_, &SelectionState::tokenChanged, this, &TokenPanel::showToken);
    connect(selection_, &SelectionState::hoverChanged, this, &TokenPanel::showToken);
    showToken();
}

void TokenPanel::build() {
    const int gap = fontMetrics().height() / 2;
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(gap, gap / 2, gap, gap / 2);
    row->setSpacing(gap * 3);

    auto* names = new QVBoxLayout;
    names->setSpacing(gap / 2);
    text_ = new QLabel(this);
    text_->setTextFormat(Qt::PlainText);
    QFont large = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    large.setPointSizeF(large.pointSizeF() * 1.35);
    large.setBold(true);
    text_->setFont(large);
    identity_ = new QLabel(this);
    identity_->setTextFormat(Qt::PlainText);
    identity_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    regions_ = new QLabel(this);
    regions_->setTextFormat(Qt::PlainText);
    regions_->setWordWrap(true);
    names->addWidget(text_);
    names->addWidget(identity_);
    names->addWidget(regions_);
    names->addStretch(1);
    const int nameWidth = fontMetrics().averageCharWidth() * 44;
    for (QLabel* label : {text_, identity_, regions_}) {
        label->setMinimumWidth(nameWidth);
        label->setMaximumWidth(nameWidth * 3 / 2);
    }
    row->addLayout(names);

    static const std::array<std::pair<const char*, const char*>, FigureCount> titles{{
        {QT_TR_NOOP("p"), QT_TR_NOOP("c = probability of this token after all before it (Eq. 1)")},
        {QT_TR_NOOP("ln p"),
         QT_TR_NOOP("Its natural logarithm; minus this is the token's plain loss")},
        {QT_TR_NOOP("H"),
         QT_TR_NOOP("Entropy of the model's distribution here, in nats: - sum p ln p")},
        {QT_TR_NOOP("rank"),
         QT_TR_NOOP("How many tokens the model finds more probable; 0 is its first choice")},
        {QT_TR_NOOP("M"), QT_TR_NOOP("Mask: 1[c > tau] + lambda 1[CUDA region] (Eq. 2-4)")},
        {QT_TR_NOOP("w"), QT_TR_NOOP("Weight of the sample: 1 - min over t of C_t (Eq. 7, 8)")},
        {QT_TR_NOOP("w M"), QT_TR_NOOP("What multiplies this token's -ln p in the loss (Eq. 9)")},
        {QT_TR_NOOP("push"), QT_TR_NOOP("w M (1 - c): how far one training step moves it")},
    }};
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(gap * 2);
    grid->setVerticalSpacing(gap / 3);
    for (int figure = 0; figure < FigureCount; ++figure) {
        const auto index = static_cast<std::size_t>(figure);
        auto* title = new QLabel(tr(titles[index].first), this);
        auto* value = new QLabel(this);
        title->setForegroundRole(QPalette::PlaceholderText);
        value->setAccessibleName(title->text());
        value->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("-00.0000")));
        QFont bold = font();
        bold.setBold(true);
        value->setFont(bold);
        for (QLabel* label : {title, value})
            label->setToolTip(plainToolTip(tr(titles[index].second)));
        const int column = figure / 4 * 2;
        grid->addWidget(title, figure % 4, column);
        grid->addWidget(value, figure % 4, column + 1);
        values_[index] = value;
    }
    grid->setRowStretch(4, 1);
    row->addLayout(grid);
    alternatives_ = new AlternativesView(this);
    row->addWidget(alternatives_, 1);
}

void TokenPanel::showEmpty() {
    text_->setText(analysis_->figures() ? tr("No token selected") : tr("No scores"));
    identity_->setText(analysis_->figures() ? tr("Point at a token, or move the caret.")
                                            : tr("Open a model and samples, then press Score."));
    regions_->clear();
    for (QLabel* value : values_)
        value->setText(QStringLiteral("\u2013"));
    alternatives_->setAlternatives({});
}

void TokenPanel::showToken() {
    const auto figures = analysis_->figures();
    const int token = selection_->shownToken();
    if (!figures || token < 0 || token >= figures->count()) {
        showEmpty();
        return;
    }
    const auto number = [](double value, int decimals) {
        return QString::number(value, 'f', decimals);
    };
    const double confidence =
        static_cast<double>(figures->confidence()[static_cast<std::size_t>(token)]);
    const auto probability = [&](double p) {
        return p < 1e-4 ? QString::number(p, 'e', 1) : number(p, 4);
    };
    values_[Probability]->setText(probability(confidence));
    if (figures->isCompared())
        values_[Probability]->setText(
            tr("%1 \u2192 %2")
                .arg(probability(confidence),
                     probability(static_cast<double>(
                         figures->confidenceAfter()[static_cast<std::size_t>(token)]))));
    values_[LogProbability]->setText(
        number(static_cast<double>(figures->logProbability(token)), 3));
    values_[Entropy]->setText(
        tr("%1 nats").arg(number(static_cast<double>(figures->entropy(token)), 2)));
    values_[Rank]->setText(QString::number(figures->rank(token)));
    values_[Mask]->setText(QString::number(static_cast<double>(figures->mask(token)), 'g', 4));
    values_[Weight]->setText(number(static_cast<double>(figures->masked().weight), 3));
    values_[TrainingWeight]->setText(
        number(static_cast<double>(figures->trainingWeight(token)), 3));
    values_[Push]->setText(number(static_cast<double>(figures->push(token)), 3));
    showText(*figures, token);
    showRegions(*figures, token);
    showAlternatives(*figures, token);
}

void TokenPanel::showText(const TokenFigures& figures, int token) {
    const std::string_view bytes = bytesOf(figures, token);
    const bool end = figures.spans()[static_cast<std::size_t>(token)].empty();
    text_->setText(tokenLabel(bytes) + (end ? tr("  (end of turn)") : QString()));
    identity_->setText(tr("token %1 of %2, id %3, bytes %4")
                           .arg(token + 1)
                           .arg(figures.count())
                           .arg(figures.tokenId(token))
                           .arg(hexBytes(bytes)));
}

void TokenPanel::showRegions(const TokenFigures& figures, int token) {
    const LabelBits labels = figures.labels()[static_cast<std::size_t>(token)];
    const ByteSpan span = figures.spans()[static_cast<std::size_t>(token)];
    const int correction =
        span.empty() ? -1 : labels_->touching(figures.scores().id(figures.index()), span);
    QStringList parts;
    if (labels & kernel_bit)
        parts += tr("kernel body");
    if (labels & launch_bit)
        parts += tr("launch configuration");
    for (int kind = 0; kind < sensitive_kind_count; ++kind) {
        const auto which = static_cast<SensitiveKind>(kind);
        if (!(labels & kind_bit(which)))
            continue;
        QString part = kindTitle(which);
        if (const auto& structure = analysis_->structure(); structure && correction < 0) {
            const auto rule = std::find_if(
                structure->spans.begin(), structure->spans.end(),
                [&](const SensitiveSpan& s) { return s.kind == which && s.span.overlaps(span); });
            if (rule != structure->spans.end())
                part += tr(" (%1)").arg(QString::fromUtf8(
                    rule->rule.data(), static_cast<qsizetype>(rule->rule.size())));
        }
        parts += part;
    }
    QString line = parts.isEmpty() ? tr("no CUDA region") : parts.join(QStringLiteral(", "));
    if (correction >= 0)
        line +=
            tr("; %1: corrected by you")
                .arg(correctionTitle(labels_->corrections()[static_cast<std::size_t>(correction)]));
    regions_->setText(line);
}

void TokenPanel::showAlternatives(const TokenFigures& figures, int token) {
    std::vector<AlternativesView::Alternative> rows;
    const auto ids = figures.alternatives(token);
    const auto logs = figures.alternativeLogProbabilities(token);
    const auto label = [&](std::int32_t id) {
        const auto text = figures.scores().token_text(id);
        return text ? tokenLabel(*text) : tr("id %1").arg(id);
    };
    bool target = false;
    for (std::size_t k = 0; k < ids.size() && rows.size() < shownAlternatives; ++k) {
        const bool same = ids[k] == figures.tokenId(token);
        target |= same;
        rows.push_back({label(ids[k]), std::exp(static_cast<double>(logs[k])), same});
    }
    if (!target) {
        if (rows.size() == shownAlternatives)
            rows.pop_back();
        rows.push_back({tokenLabel(bytesOf(figures, token)),
                        static_cast<double>(figures.confidence()[static_cast<std::size_t>(token)]),
                        true});
    }
    alternatives_->setAlternatives(std::move(rows));
}

} // namespace cuset
