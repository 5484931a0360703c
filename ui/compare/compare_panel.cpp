#include "ui/compare/compare_panel.h"

#include <algorithm>

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "ui/editor/text_mapping.h"
#include "ui/editor/token_colors.h"
#include "ui/state/native_path.h"
#include "ui/state/table_look.h"

namespace cuset {
namespace {

// Of a column with numbers below its title and the mark of sorting.
int figureWidth(const QTableView& table, int column) {
    const QFontMetrics metrics = table.fontMetrics();
    const QString title = table.model()->headerData(column, Qt::Horizontal).toString();
    const int mark = table.style()->pixelMetric(QStyle::PM_HeaderMarkSize, nullptr, &table);
    return std::max(metrics.horizontalAdvance(title) + mark,
                    metrics.horizontalAdvance(QStringLiteral("+0.000")))
        + metrics.height() * 2 / 3;
}

} // namespace

ComparePanel::ComparePanel(CompareState* state, Workspace* workspace, SelectionState* selection,
                           QWidget* parent)
    : QWidget(parent)
    , state_(state)
    , workspace_(workspace)
    , selection_(selection)
    , sampleModel_(new SampleChangeModel(state, workspace, this))
    , kindModel_(new KindChangeModel(state, this)) {
    setWhatsThis(tr("The open scores beside others: a second score file, an adapter, or the "
                    "checkpoints of a run. The slider goes from the base to the last checkpoint; "
                    "code coloured by change, charts and tables follow. Choose a sample to see "
                    "it."));
    build();
    connectAll();
    showStages();
    showCurrent();
}

void ComparePanel::build() {
    choices_ = new QMenu(this);
    samples_ = makeTable(sampleModel_, tr("Change by sample"));
    samples_->sortByColumn(SampleChangeModel::Change, Qt::DescendingOrder);
    samples_->setSelectionMode(QAbstractItemView::SingleSelection);
    kinds_ = makeTable(kindModel_, tr("Change by kind"));
    kinds_->sortByColumn(-1, Qt::AscendingOrder);
    tabs_ = new QTabWidget(this);
    tabs_->setDocumentMode(true);
    tabs_->addTab(samples_, tr("Samples"));
    tabs_->addTab(kinds_, tr("Kinds"));
    auto* save = new QToolButton(this);
    save->setText(tr("CSV\u2026"));
    save->setToolTip(tr("Save the table in front as CSV"));
    save->setAutoRaise(true);
    connect(save, &QToolButton::clicked, this, &ComparePanel::chooseExport);
    tabs_->setCornerWidget(save);

    auto* page = new QWidget(this);
    const int gap = fontMetrics().height() / 3;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(gap);
    column->addWidget(buildHead());
    column->addWidget(tabs_, 1);

    auto* empty = new QWidget(this);
    auto* hint = new QLabel(tr("Nothing to compare yet.\n\nOpen the scores of the same samples "
                               "after training, an adapter, or a run folder: the code is coloured "
                               "by the change of confidence, and each checkpoint can be looked "
                               "at."),
                            empty);
    hint->setWordWrap(true);
    hint->setTextFormat(Qt::PlainText);
    auto* start = new QToolButton(empty);
    start->setText(tr("Compare with"));
    start->setPopupMode(QToolButton::InstantPopup);
    start->setMenu(choices_);
    auto* middle = new QVBoxLayout(empty);
    middle->setContentsMargins(gap * 4, gap * 4, gap * 4, gap * 4);
    middle->setSpacing(gap * 3);
    middle->addWidget(hint);
    middle->addWidget(start, 0, Qt::AlignLeft);
    middle->addStretch(1);

    pages_ = new QStackedWidget(this);
    pages_->addWidget(empty);
    pages_->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(gap, gap, gap, gap / 2);
    layout->addWidget(pages_);
}

QWidget* ComparePanel::buildHead() {
    auto* head = new QWidget(this);
    const int gap = fontMetrics().height() / 3;
    const auto button = [head](const QString& text, const QString& help) {
        auto* made = new QToolButton(head);
        made->setText(text);
        made->setToolTip(help);
        made->setAutoRaise(true);
        made->setFocusPolicy(Qt::TabFocus);
        return made;
    };
    const auto label = [head](bool bold) {
        auto* made = new QLabel(head);
        made->setTextFormat(Qt::PlainText);
        made->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        QFont font = made->font();
        font.setBold(bold);
        made->setFont(font);
        return made;
    };
    name_ = label(true);
    name_->setAccessibleName(tr("Compared with"));
    auto* other = button(tr("Open"), tr("Compare with something else"));
    other->setPopupMode(QToolButton::InstantPopup);
    other->setMenu(choices_);
    auto* close = button(tr("Close"), tr("Stop comparing"));
    connect(close, &QToolButton::clicked, this, &ComparePanel::closeRequested);
    slider_ = new StageSlider(head);
    stage_ = label(false);
    score_ = button(tr("Score"), tr("Score the checkpoints that have no scores yet"));
    score_->setAutoRaise(false);
    connect(score_, &QToolButton::clicked, this, &ComparePanel::scoreRequested);
    figures_ = label(false);
    figures_->setWordWrap(true);
    figures_->setAccessibleName(tr("Change of mean confidence"));

    auto* first = new QHBoxLayout;
    first->setSpacing(gap);
    first->addWidget(name_, 1);
    first->addWidget(other);
    first->addWidget(close);
    auto* second = new QHBoxLayout;
    second->setSpacing(gap);
    second->addWidget(stage_, 1);
    second->addWidget(score_);
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(gap / 2);
    column->addLayout(first);
    column->addWidget(slider_);
    column->addLayout(second);
    column->addWidget(figures_);
    return head;
}

QTableView* ComparePanel::makeTable(QAbstractItemModel* model, const QString& name) {
    auto* proxy = new QSortFilterProxyModel(this);
    proxy->setSourceModel(model);
    proxy->setSortRole(SampleChangeModel::sortRole);
    auto* table = new QTableView(this);
    table->setModel(proxy);
    table->setAccessibleName(name);
    table->setSortingEnabled(true);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    applyTableLook(table);
    QHeaderView* header = table->horizontalHeader();
    header->setHighlightSections(false);
    header->setMinimumSectionSize(fontMetrics().height());
    for (int column = 1; column < SampleChangeModel::ColumnCount; ++column)
        header->resizeSection(column, figureWidth(*table, column));
    header->setSectionResizeMode(0, QHeaderView::Stretch);
    return table;
}

// Names must be readable: in a narrow panel tokens and ln p give way to them.
void ComparePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    int figures = 0;
    for (int column = 1; column < SampleChangeModel::ColumnCount; ++column)
        figures += figureWidth(*samples_, column);
    const int name = fontMetrics().averageCharWidth() * 22;
    const bool narrow = width() < name + figures;
    for (QTableView* table : {samples_, kinds_})
        for (const int column : {SampleChangeModel::Tokens, SampleChangeModel::LogProb})
            table->setColumnHidden(column, narrow);
}

void ComparePanel::connectAll() {
    connect(state_, &CompareState::stagesChanged, this, &ComparePanel::showStages);
    connect(state_, &CompareState::stageChanged, this, &ComparePanel::showStages);
    connect(state_, &CompareState::currentChanged, this, &ComparePanel::showCurrent);
    connect(slider_, &QSlider::valueChanged, state_, &CompareState::setCurrent);
    connect(samples_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                const auto* proxy = static_cast<const QSortFilterProxyModel*>(samples_->model());
                const int row = sampleModel_->workspaceRow(proxy->mapToSource(current).row());
                if (current.isValid() && row >= 0)
                    selection_->setSample(row);
            });
    connect(selection_, &SelectionState::sampleChanged, this, &ComparePanel::showSelection);
    connect(kinds_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        const auto* proxy = static_cast<const QSortFilterProxyModel*>(kinds_->model());
        LabelBits kinds = 0;
        for (const QModelIndex& index : kinds_->selectionModel()->selectedRows())
            kinds = static_cast<LabelBits>(
                kinds | KindChangeModel::labelsOf(proxy->mapToSource(index).row()));
        selection_->setKinds(kinds);
    });
}

void ComparePanel::setChoices(const QList<QAction*>& actions) {
    choices_->addActions(actions);
}

void ComparePanel::setCanScore(bool can) {
    score_->setEnabled(can);
}

void ComparePanel::showStages() {
    const std::vector<CompareStage>& stages = state_->stages();
    pages_->setCurrentIndex(stages.empty() ? 0 : 1);
    name_->setText(visibleText(state_->name().toStdString(), 60));
    name_->setToolTip(plainToolTip(state_->name()));
    {
        const QSignalBlocker quiet(slider_); // another range is no choice of a person
        slider_->setStages(stages);
    }
    slider_->setVisible(stages.size() > 1);
    score_->setVisible(state_->missingCount() > 0);
    score_->setText(state_->missingCount() == 1
                        ? tr("Score it")
                        : tr("Score %1 checkpoints").arg(state_->missingCount()));
    if (state_->current() >= 0)
        slider_->setValue(state_->current());
    showCurrent();
}

void ComparePanel::showCurrent() {
    const int current = state_->current();
    if (current < 0)
        return;
    slider_->setValue(current);
    const CompareStage& stage = state_->stages()[static_cast<std::size_t>(current)];
    QString text = visibleText(stage.title.toStdString(), 60);
    switch (stage.status) {
    case CompareStage::Status::Missing:
        text = tr("%1: not scored yet").arg(text);
        break;
    case CompareStage::Status::Gone:
        text = tr("%1: removed before it was scored").arg(text);
        break;
    case CompareStage::Status::Computing:
        text = tr("%1: comparing\u2026").arg(text);
        break;
    case CompareStage::Status::Failed:
        text = tr("%1: %2").arg(text, stage.problem);
        break;
    case CompareStage::Status::Ready:
        if (state_->stages().size() > 1)
            text = tr("%1; %2 of %3 scored")
                       .arg(text)
                       .arg(state_->readyCount())
                       .arg(state_->stages().size());
        break;
    }
    stage_->setText(text);
    stage_->setToolTip(plainToolTip(text));
    const auto figures = state_->figures();
    figures_->setVisible(figures != nullptr);
    if (!figures)
        return;
    const Comparison& comparison = figures->comparison;
    figures_->setText(tr("c %1 \u2192 %2 (%3); sensitive %4, neutral %5")
                          .arg(comparison.all.confidence_before, 0, 'f', 3)
                          .arg(comparison.all.confidence_after, 0, 'f', 3)
                          .arg(changeText(comparison.all.confidence),
                               changeText(comparison.sensitive.confidence),
                               changeText(comparison.neutral.confidence)));
    figures_->setToolTip(plainToolTip(
        tr("Mean confidence of all compared tokens before and after, and the mean change of "
           "CUDA-sensitive and of neutral tokens")));
    showSelection();
}

void ComparePanel::showSelection() {
    const int row = sampleModel_->rowOf(selection_->sample());
    if (row < 0) {
        samples_->clearSelection();
        return;
    }
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(samples_->model());
    const QModelIndex index = proxy->mapFromSource(sampleModel_->index(row, 0));
    if (index.row() != samples_->currentIndex().row())
        samples_->setCurrentIndex(index);
}

void ComparePanel::chooseExport() {
    const bool samples = tabs_->currentWidget() == samples_;
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save the table"),
        samples ? QStringLiteral("change by sample.csv") : QStringLiteral("change by kind.csv"),
        tr("CSV (*.csv)"));
    if (!path.isEmpty())
        exportTo(path);
}

void ComparePanel::exportTo(const QString& path) {
    const ChartTable table =
        tabs_->currentWidget() == samples_ ? sampleModel_->table() : kindModel_->table();
    try {
        write_file_atomically(nativePath(path), csvText(table).toStdString());
        emit exported(path);
    } catch (const Error& error) {
        emit exportFailed(QString::fromUtf8(error.what()));
    }
}

} // namespace cuset
