#include "ui/dataset/dataset_panel.h"

#include <algorithm>

#include <QHeaderView>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"

namespace cuset {

DatasetPanel::DatasetPanel(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                           QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , selection_(selection)
    , model_(new SampleTableModel(workspace, analysis, this))
    , proxy_(new SampleFilterProxy(this)) {
    proxy_->setSourceModel(model_);
    setWhatsThis(tr("All samples. Sort by any column; filter by words of the id, prompt or "
                    "response, and by conditions "
                    "such as w>0.5 or tokens<400."));
    build();
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        proxy_->setFilterText(text);
        showSelection();
        showCount();
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid())
                    selection_->setSample(proxy_->mapToSource(current).row());
            });
    connect(selection_, &SelectionState::sampleChanged, this, &DatasetPanel::showSelection);
    connect(workspace_, &Workspace::samplesReset, this, &DatasetPanel::showCount);
    connect(workspace_, &Workspace::scoresChanged, this, &DatasetPanel::showCount);
    showCount();
}

void DatasetPanel::build() {
    filter_ = new QLineEdit(this);
    filter_->setPlaceholderText(tr("Filter: words, or w>0.5 tokens<400"));
    filter_->setClearButtonEnabled(true);
    filter_->setAccessibleName(tr("Filter samples"));
    filter_->setToolTip(plainToolTip(
        tr("Words are looked for in id, prompt and response. Conditions: %1 with <, <=, >, >= or "
           "=; shares in percent.")
            .arg(SampleFilterProxy::conditionNames().join(QStringLiteral(", ")))));
    table_ = new QTableView(this);
    table_->setModel(proxy_);
    table_->setAccessibleName(tr("Samples"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setShowGrid(false);
    table_->setAlternatingRowColors(true);
    table_->setWordWrap(false);
    table_->setTabKeyNavigation(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2);
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setMinimumSectionSize(fontMetrics().height());
    header->setSectionsMovable(true);
    const QFontMetrics metrics = fontMetrics();
    for (int column = 1; column < SampleTableModel::ColumnCount; ++column) {
        const QString title =
            model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const int text = std::max(metrics.horizontalAdvance(title),
                                  metrics.horizontalAdvance(QStringLiteral("0.00")));
        header->resizeSection(column, text + metrics.height());
    }
    header->setSectionResizeMode(SampleTableModel::Id, QHeaderView::Stretch);
    for (const int column : {SampleTableModel::Confident, SampleTableModel::MeanMask,
                             SampleTableModel::LowestWindow, SampleTableModel::Mean})
        table_->setColumnHidden(column, true);
    header->setContextMenuPolicy(Qt::ActionsContextMenu);
    for (int column = 1; column < SampleTableModel::ColumnCount; ++column) {
        auto* action = new QAction(
            model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(), header);
        action->setCheckable(true);
        action->setChecked(!table_->isColumnHidden(column));
        connect(action, &QAction::toggled, table_,
                [this, column](bool on) { table_->setColumnHidden(column, !on); });
        header->addAction(action);
    }
    count_ = new QLabel(this);
    count_->setForegroundRole(QPalette::PlaceholderText);
    const int gap = fontMetrics().height() / 3;
    count_->setContentsMargins(gap, gap / 2, gap, gap);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(gap, gap, gap, 0);
    layout->setSpacing(gap);
    layout->addWidget(filter_);
    layout->addWidget(table_, 1);
    layout->addWidget(count_);
}

int DatasetPanel::firstRow() const {
    return proxy_->rowCount() == 0 ? -1 : proxy_->mapToSource(proxy_->index(0, 0)).row();
}

bool DatasetPanel::step(int direction) {
    const QModelIndex current = table_->currentIndex();
    const int next = current.isValid() ? current.row() + direction : 0;
    if (next < 0 || next >= proxy_->rowCount())
        return false;
    table_->setCurrentIndex(proxy_->index(next, SampleTableModel::Id));
    return true;
}

void DatasetPanel::showSelection() {
    if (selection_->sample() < 0 || selection_->sample() >= model_->rowCount()) {
        table_->clearSelection();
        return;
    }
    const QModelIndex index =
        proxy_->mapFromSource(model_->index(selection_->sample(), SampleTableModel::Id));
    if (index.isValid() && index.row() != table_->currentIndex().row())
        table_->setCurrentIndex(index);
}

void DatasetPanel::showCount() {
    const int all = workspace_->sampleCount();
    if (all == 0) {
        count_->setText(tr("No samples. Open some with Ctrl+O."));
        return;
    }
    const int shown = proxy_->rowCount();
    const QString samples = shown == all ? tr("%n samples", nullptr, all)
                                         : tr("%1 of %n samples", nullptr, all).arg(shown);
    count_->setText(tr("%1, %2 scored").arg(samples).arg(workspace_->scoredCount()));
}

} // namespace cuset
