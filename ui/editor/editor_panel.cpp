#include "ui/editor/editor_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QEvent>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/editor/region_layer.h"

namespace cuset {
namespace {

constexpr double wantedStrength =
    0.62; // of the map over the paper; less if text would lose its contrast
constexpr double changeStrength = 0.95; // its middle is the paper: only large changes are strong
constexpr int promptLines = 4;
constexpr int maxPromptUnits = 200000;

std::vector<Legend::Tick> ticksFor(ColorBy by, const ColorScale& scale) {
    std::vector<Legend::Tick> ticks;
    if (by == ColorBy::Rank) {
        for (const double rank : {0.0, 9.0, 99.0, 999.0, 9999.0})
            ticks.push_back({std::log10(1.0 + rank), QString::number(rank)});
        return ticks;
    }
    if (by == ColorBy::Change) {
        for (const double change : {-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0})
            ticks.push_back({changePosition(change),
                             (change > 0       ? QStringLiteral("+%1")
                                  : change < 0 ? QStringLiteral("\u2212%1")
                                               : QStringLiteral("%1"))
                                 .arg(std::abs(change))});
        return ticks;
    }
    for (const double value : scale.ticks(5))
        ticks.push_back({value, QString::number(value)});
    if (by == ColorBy::Entropy && !ticks.empty())
        ticks.back().label += QLatin1Char('+');
    return ticks;
}

} // namespace

EditorPanel::EditorPanel(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                         LabelState* labels, QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , analysis_(analysis)
    , selection_(selection)
    , labels_(labels) {
    build();
    connectAll();
    showLegend();
    showSample();
}

void EditorPanel::build() {
    colorChoice_ = new QComboBox(this);
    colorChoice_->setAccessibleName(tr("Colour tokens by"));
    for (std::size_t i = 0; i < allColorModes.size(); ++i) {
        const ColorMode mode = colorMode(allColorModes[i]);
        colorChoice_->addItem(mode.title);
        colorChoice_->setItemData(static_cast<int>(i), plainToolTip(mode.explanation),
                                  Qt::ToolTipRole);
    }
    auto* colorLabel = new QLabel(tr("&Colour by"), this);
    colorLabel->setBuddy(colorChoice_);
    legend_ = new Legend(this);
    kinds_ = new KindBar(this);
    auto* bar = new QHBoxLayout;
    const int gap = fontMetrics().height() / 2;
    bar->setContentsMargins(gap, gap / 2, gap, gap / 2);
    bar->setSpacing(gap);
    bar->addWidget(colorLabel);
    bar->addWidget(colorChoice_);
    bar->addWidget(legend_, 1);
    bar->addWidget(kinds_);

    promptToggle_ = new QToolButton(this);
    promptToggle_->setCheckable(true);
    promptToggle_->setAutoRaise(true);
    promptToggle_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    promptToggle_->setArrowType(Qt::RightArrow);
    promptToggle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    promptToggle_->setToolTip(tr("The prompt. It is never scored: only the response is."));
    prompt_ = new QPlainTextEdit(this);
    prompt_->setReadOnly(true);
    prompt_->setTabChangesFocus(true);
    prompt_->setFrameShape(QFrame::NoFrame);
    prompt_->setAccessibleName(tr("Prompt of the selected sample"));
    prompt_->setMaximumHeight(fontMetrics().lineSpacing() * promptLines + gap * 2);
    prompt_->hide();
    header_ = new QLabel(this);
    header_->setTextFormat(Qt::PlainText);
    header_->setForegroundRole(QPalette::PlaceholderText);
    header_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    header_->setAccessibleName(tr("What the response consists of"));
    gutterButton_ = new QToolButton(this);
    gutterButton_->setAutoRaise(true);
    gutterButton_->setPopupMode(QToolButton::InstantPopup);
    gutterButton_->setToolTip(tr("What the bars beside the code show"));
    auto* headerRow = new QHBoxLayout;
    headerRow->setContentsMargins(gap / 2, 0, gap, 0);
    headerRow->setSpacing(gap);
    headerRow->addWidget(gutterButton_);
    headerRow->addWidget(header_, 1);

    code_ = new CodeView(this);
    gutter_ = new ConfidenceGutter(code_, this);
    ruler_ = new HeatRuler(this);
    auto* codeRow = new QHBoxLayout;
    codeRow->setSpacing(0);
    codeRow->addWidget(gutter_);
    codeRow->addWidget(code_, 1);
    codeRow->addWidget(ruler_);
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(bar);
    column->addWidget(promptToggle_);
    column->addWidget(prompt_);
    column->addLayout(headerRow);
    column->addLayout(codeRow, 1);

    pages_ = new QStackedWidget(this);
    pages_->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(pages_);
}

void EditorPanel::connectAll() {
    connect(colorChoice_, &QComboBox::activated, this,
            [this](int index) { setColorBy(allColorModes[static_cast<std::size_t>(index)]); });
    connect(promptToggle_, &QToolButton::toggled, this, [this](bool open) {
        promptToggle_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
        prompt_->setVisible(open);
    });
    connect(kinds_, &KindBar::shownKindsChanged, code_, &CodeView::setShownKinds);
    connect(workspace_, &Workspace::samplesReset, this, &EditorPanel::showSample);
    connect(selection_, &SelectionState::sampleChanged, this, &EditorPanel::showSample);
    connect(analysis_, &AnalysisState::figuresChanged, this, &EditorPanel::showFigures);
    connect(analysis_, &AnalysisState::corpusReset, this, &EditorPanel::showFigures);
    connect(analysis_, &AnalysisState::structureChanged, this, &EditorPanel::showRegions);
    connect(labels_, &LabelState::changed, this, &EditorPanel::showRegions);
    connect(selection_, &SelectionState::kindsChanged, this, &EditorPanel::showPicked);
    connect(selection_, &SelectionState::tokenChanged, this, [this](int token) {
        showSelection();
        if (token >= 0)
            code_->revealByte(spanOf(token).begin);
    });
    connect(selection_, &SelectionState::hoverChanged, this,
            [this](int token) { code_->setHoveredSpan(spanOf(token)); });
    connect(code_, &CodeView::byteHovered, this,
            [this](int byte) { selection_->setHover(tokenAt(byte)); });
    connect(code_, &CodeView::byteSelected, this,
            [this](int byte) { selection_->setToken(tokenAt(byte)); });
    connect(code_, &CodeView::viewportChanged, this, &EditorPanel::updateViewport);
    connect(ruler_, &HeatRuler::lineClicked, code_, &CodeView::scrollToLine);
    code_->setToolTipSource([this](int byte) { return describe(byte); });
}

void EditorPanel::setEmptyPage(QWidget* page) {
    pages_->insertWidget(1, page);
    showSample();
}

void EditorPanel::setColorBy(ColorBy by) {
    colorBy_ = by;
    const auto found = std::find(allColorModes.begin(), allColorModes.end(), by);
    colorChoice_->setCurrentIndex(static_cast<int>(found - allColorModes.begin()));
    showFigures();
    emit colorByChanged();
}

void EditorPanel::setColorMap(ColorMap map) {
    map_ = map;
    showFigures();
    emit colorByChanged();
}

void EditorPanel::setGutterMode(const GutterMode& mode) {
    gutter_->setMode(mode);
    gutterButton_->setText(tr("Gutter: %1").arg(gutterModeTitle(mode)));
    emit gutterModeChanged();
}

void EditorPanel::showSample() {
    const int row = selection_->sample();
    const bool any = row >= 0 && row < workspace_->sampleCount();
    pages_->setCurrentIndex(any || pages_->count() < 2 ? 0 : 1);
    if (!any) {
        code_->setResponse({});
        return;
    }
    const std::string_view prompt = workspace_->prompt(row);
    promptToggle_->setVisible(!prompt.empty());
    promptToggle_->setText(tr("Prompt  %1").arg(visibleText(prompt, 160)));
    if (prompt.empty())
        promptToggle_->setChecked(false);
    const std::string_view shown = prompt.substr(0, maxPromptUnits);
    prompt_->setPlainText(QString::fromUtf8(shown.data(), static_cast<qsizetype>(shown.size())));
    code_->setResponse(workspace_->response(row));
    showFigures();
    showRegions();
    showSelection();
}

void EditorPanel::showFigures() {
    showLegend();
    const std::shared_ptr<const TokenFigures>& figures = analysis_->figures();
    showHeader();
    gutter_->setFigures(figures);
    if (!figures) {
        code_->paintTokens({}, {});
        code_->setLowestWindow({});
        ruler_->setLines({});
        ruler_->setLowestWindow(-1, -1);
        return;
    }
    const std::vector<QColor> colors = tokenColors(*figures, colorBy_, scale_, code_->palette());
    code_->paintTokens(figures->spans(), colors);
    const MaskedSample& masked = figures->masked();
    if (masked.min_window_begin < masked.min_window_end) {
        const ByteSpan lowest{
            figures->spans()[static_cast<std::size_t>(masked.min_window_begin)].begin,
            figures->spans()[static_cast<std::size_t>(masked.min_window_end - 1)].end};
        code_->setLowestWindow(lowest);
        ruler_->setLowestWindow(code_->lineOfByte(lowest.begin),
                                code_->lineOfByte(std::max(0, lowest.end - 1)));
    }
    updateRuler(colors);
    // The structure does not depend on thresholds; labels stand in for it until it is found.
    if (!analysis_->structure())
        showRegions();
    else
        showPicked();
}

void EditorPanel::updateRuler(const std::vector<QColor>& colors) {
    const TokenFigures& figures = *analysis_->figures();
    struct Sum {
        double red = 0, green = 0, blue = 0, bytes = 0, doubt = 0;
        bool kernel = false;
    };
    std::vector<Sum> sums(static_cast<std::size_t>(code_->lineCount()));
    for (std::size_t t = 0; t < colors.size(); ++t) {
        const ByteSpan span = figures.spans()[t];
        if (span.empty() || !colors[t].isValid())
            continue;
        Sum& sum = sums[static_cast<std::size_t>(code_->lineOfByte(span.begin))];
        const double bytes = span.size();
        sum.red += bytes * colors[t].red();
        sum.green += bytes * colors[t].green();
        sum.blue += bytes * colors[t].blue();
        sum.bytes += bytes;
        const double doubt = colorBy_ == ColorBy::Change
            ? std::abs(static_cast<double>(figures.change(static_cast<int>(t))))
            : 1.0 - static_cast<double>(figures.confidence()[t]);
        sum.doubt = std::max(sum.doubt, doubt);
        sum.kernel |= (figures.labels()[t] & kernel_bit) != 0;
    }
    std::vector<HeatRuler::Line> lines(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const Sum& sum = sums[i];
        lines[i].kernel = sum.kernel;
        lines[i].salience = static_cast<float>(sum.doubt);
        if (sum.bytes > 0)
            lines[i].color = QColor(static_cast<int>(sum.red / sum.bytes),
                                    static_cast<int>(sum.green / sum.bytes),
                                    static_cast<int>(sum.blue / sum.bytes));
    }
    ruler_->setLines(std::move(lines));
    updateViewport();
}

void EditorPanel::showRegions() {
    marks_.clear();
    std::array<int, sensitive_kind_count> counts{};
    const int row = selection_->sample();
    const bool any = row >= 0 && row < workspace_->sampleCount();
    const LabelState::List corrections =
        any ? labels_->ofSample(workspace_->sampleId(row).toStdString()) : LabelState::List();
    if (const auto& structure = analysis_->structure(); structure && any) {
        marks_ = regionMarks(*structure, corrections,
                             static_cast<int>(workspace_->response(row).size()));
        for (const SensitiveSpan& span : structure->spans)
            ++counts[static_cast<std::size_t>(span.kind)];
        code_->setIslands(islandMarks(*structure));
    } else if (const auto& figures = analysis_->figures()) {
        marks_ = regionMarks(*figures);
    }
    std::vector<ByteSpan> corrected;
    for (const LabelCorrection& correction : corrections)
        corrected.push_back(correction.span);
    kinds_->setCounts(counts);
    code_->setRegions(marks_);
    code_->setCorrectedSpans(corrected);
    showHeader();
    showPicked();
}

void EditorPanel::showPicked() {
    const LabelBits kinds = selection_->kinds();
    std::vector<ByteSpan> spans;
    if (kinds != 0)
        spans = analysis_->figures() ? pickedSpans(*analysis_->figures(), kinds)
                                     : pickedSpans(marks_, kinds);
    QColor color = seriesColors(code_->palette()).accent;
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (kinds == kind_bit(static_cast<SensitiveKind>(kind)))
            color = kindColor(static_cast<SensitiveKind>(kind), code_->palette());
    code_->setPickedSpans(spans, color);
}

void EditorPanel::showHeader() {
    QStringList parts;
    const int row = selection_->sample();
    if (!analysis_->figures() && row >= 0)
        parts += tr("Not scored: open a model, then Score (F5).");
    else if (colorBy_ == ColorBy::Change && analysis_->figures()
             && !analysis_->figures()->isCompared())
        parts += tr("Nothing to compare with yet: choose scores, an adapter or a run, or score a "
                    "checkpoint, in Compare (Ctrl+K).");
    if (analysis_->structure() && row >= 0)
        parts += placementText(*analysis_->structure(), analysis_->figures().get());
    if (code_->hasLongLines() && row >= 0)
        parts += tr("Lines over 16 kB are coloured only around what is in sight.");
    header_->setText(parts.join(QStringLiteral("   ")));
    header_->setToolTip(plainToolTip(header_->text() + QLatin1Char('\n')
                                     + tr("Placed: the share of the response that was told to be "
                                          "source, prose or another known kind.")));
}

ByteSpan EditorPanel::chosenSpan() const {
    const ByteSpan selected = code_->selectedBytes();
    return selected.empty() ? spanOf(selection_->token()) : selected;
}

void EditorPanel::showSelection() {
    const ByteSpan span = spanOf(selection_->token());
    code_->setSelectedSpan(span);
    ruler_->setSelectedLine(span.empty() ? -1 : code_->lineOfByte(span.begin));
}

void EditorPanel::showLegend() {
    const MaskSettings settings =
        analysis_->figures() ? analysis_->figures()->settings() : MaskSettings{};
    const QPalette colors = code_->palette();
    const double largestWeight =
        analysis_->corpus() ? analysis_->corpus()->analyzer.summary().weight.max : 1;
    const TokenObjective objective = selection_->objective();
    scale_ = colorScaleFor(colorBy_, map_, settings, largestWeight, objective);
    scale_.setPaper(
        colors.color(QPalette::Base),
        readableStrength(scale_.map(), colors.color(QPalette::Base), code_->textColors(),
                         colorBy_ == ColorBy::Change ? changeStrength : wantedStrength));
    ColorScale confidence(map_, 0, 1);
    confidence.setPaper(colors.color(QPalette::Base), 1);
    gutter_->setColors(confidence);
    ColorMode mode = colorMode(colorBy_);
    if (colorBy_ == ColorBy::Push)
        mode.unit = pushFormula(objective).section(QLatin1Char(','), 0, 0);
    legend_->setToolTip(plainToolTip(mode.explanation));
    kinds_->setVisible(colorBy_ != ColorBy::Region); // the legend names the kinds then
    std::vector<Legend::Swatch> swatches;
    if (colorBy_ == ColorBy::Region) {
        for (int kind = 0; kind < sensitive_kind_count; ++kind) {
            const auto which = static_cast<SensitiveKind>(kind);
            swatches.push_back(
                {kindColor(which, colors), tr("%1 %2").arg(kindSign(which)).arg(kindTitle(which))});
        }
        legend_->showSwatches(swatches);
    } else if (colorBy_ == ColorBy::Mask) {
        std::vector<double> values{0};
        if (settings.confidence_mask || !settings.cuda_mask)
            values.push_back(1);
        if (settings.cuda_mask) {
            values.push_back(settings.lambda);
            if (settings.confidence_mask)
                values.push_back(1 + settings.lambda);
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        for (const double value : values)
            swatches.push_back({scale_.color(value), tr("M = %1").arg(value)});
        legend_->showSwatches(swatches);
    } else {
        legend_->showScale(scale_, mode.unit, ticksFor(colorBy_, scale_));
    }
}

void EditorPanel::updateViewport() {
    ruler_->setVisibleLines(code_->firstVisibleLine(), code_->visibleLines());
}

int EditorPanel::tokenAt(int byte) const {
    return analysis_->figures() && byte >= 0 ? analysis_->figures()->tokenAt(byte) : -1;
}

ByteSpan EditorPanel::spanOf(int token) const {
    const auto& figures = analysis_->figures();
    if (!figures || token < 0 || token >= figures->count())
        return {};
    return figures->spans()[static_cast<std::size_t>(token)];
}

QString EditorPanel::describe(int byte) const {
    QStringList lines;
    const int token = tokenAt(byte);
    if (token >= 0) {
        const TokenFigures& figures = *analysis_->figures();
        lines +=
            tr("p %1   H %2 nats   rank %3   M %4")
                .arg(static_cast<double>(figures.confidence()[static_cast<std::size_t>(token)]), 0,
                     'f', 3)
                .arg(static_cast<double>(figures.entropy(token)), 0, 'f', 2)
                .arg(figures.rank(token))
                .arg(static_cast<double>(figures.mask(token)), 0, 'g', 3);
        if (figures.isCompared())
            lines += tr("after %1, change %2")
                         .arg(static_cast<double>(
                                  figures.confidenceAfter()[static_cast<std::size_t>(token)]),
                              0, 'f', 3)
                         .arg(changeText(static_cast<double>(figures.change(token))));
    }
    if (const auto& structure = analysis_->structure()) {
        for (const Island& island : structure->islands)
            if (island.kind != IslandKind::cuda_source && island.span.contains(byte))
                lines += islandTitle(island.kind);
        for (const SensitiveSpan& span : structure->spans)
            if (span.span.contains(byte))
                lines += tr("%1: %2").arg(
                    kindTitle(span.kind),
                    QString::fromUtf8(span.rule.data(), static_cast<qsizetype>(span.rule.size())));
    }
    return lines.join(QLatin1Char('\n'));
}

void EditorPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !code_)
        return;
    // The code view gets its new palette after this widget.
    QMetaObject::invokeMethod(this, &EditorPanel::showFigures, Qt::QueuedConnection);
}

} // namespace cuset
