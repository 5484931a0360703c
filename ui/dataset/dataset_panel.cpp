#include "ui/dataset/dataset_panel.h"

#include <algorithm>
#include <utility>

#include <QEvent>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QVBoxLayout>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/table_look.h"

namespace cuset {
namespace {

constexpr int filterDelay = 200; // ms

} // namespace

DatasetPanel::DatasetPanel(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                           KindFigures* kinds, UnitFigures* units, NoteState* notes,
                           QWidget* parent)
    : QWidget(parent)
    , workspace_(workspace)
    , selection_(selection)
    , units_(units)
    , notes_(notes)
    , model_(new SampleTableModel(workspace, analysis, kinds, units, notes, this))
    , proxy_(new SampleFilterProxy(workspace, analysis, notes, this)) {
    proxy_->setSourceModel(model_);
    setWhatsThis(tr("All samples. Sort by any column; filter by words of the id, prompt, response, "
                    "tags or note, or by an expression such as difficulty > 0.7 and "
                    "kind.shared_memory < 10%, tag = \"race\", or not quarantined. The header's "
                    "menu chooses columns; a row's menu tags, quarantines and exports."));
    build();
    filterTimer_.setSingleShot(true);
    filterTimer_.setInterval(filterDelay);
    connect(filter_, &QLineEdit::textChanged, &filterTimer_, qOverload<>(&QTimer::start));
    connect(filter_, &QLineEdit::returnPressed, this, &DatasetPanel::applyFilter);
    connect(&filterTimer_, &QTimer::timeout, this, &DatasetPanel::applyFilter);
    // An expression holds for other samples at other thresholds, and rows have another order, once
    // the thresholds rest.
    const auto again = [this] {
        resort_ = SampleTableModel::followsThresholds(proxy_->sortColumn());
        if (proxy_->hasExpression() || resort_)
            filterTimer_.start();
    };
    connect(analysis, &AnalysisState::corpusReset, this, again);
    connect(analysis, &AnalysisState::corpusChanged, this, again);
    connect(notes_, &NoteState::changed, this, again);
    connect(notes_, &NoteState::changed, this, &DatasetPanel::showTags);
    connect(selection_, &SelectionState::kindsChanged, this, &DatasetPanel::showKinds);
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
    filter_->setPlaceholderText(tr("Filter: words, difficulty > 0.7, tag = \"x\""));
    filter_->setClearButtonEnabled(true);
    filter_->setAccessibleName(tr("Filter samples"));
    filter_->setToolTip(plainToolTip(
        tr("Words are looked for in id, prompt, response, tags and note. An expression compares "
           "%1 with <, <=, >, >=, = or !=, joined by and, or, not and brackets; tag = \"x\", "
           "quarantined and noted are expressions too. Both, with a semicolon between: softmax; "
           "w > 50%")
            .arg(SampleFilterProxy::fieldNames().join(QStringLiteral(", ")))));
    table_ = new QTableView(this);
    table_->setModel(proxy_);
    table_->setAccessibleName(tr("Samples"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(table_, &QWidget::customContextMenuRequested, this, &DatasetPanel::showMenu);
    applyTableLook(table_);
    table_->viewport()->installEventFilter(this);
    buildColumns();
    error_ = new QLabel(this);
    error_->setTextFormat(Qt::PlainText);
    error_->setWordWrap(true);
    error_->setAccessibleName(tr("What is wrong with the filter"));
    error_->hide();
    count_ = new QLabel(this);
    count_->setForegroundRole(QPalette::PlaceholderText);
    const int gap = fontMetrics().height() / 3;
    count_->setContentsMargins(gap, gap / 2, gap, gap);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(gap, gap, gap, 0);
    layout->setSpacing(gap);
    layout->addWidget(filter_);
    layout->addWidget(error_);
    layout->addWidget(table_, 1);
    layout->addWidget(count_);
}

void DatasetPanel::buildColumns() {
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setMinimumSectionSize(fontMetrics().height());
    header->setSectionsMovable(true);
    const QFontMetrics metrics = fontMetrics();
    for (int column = 1; column < SampleTableModel::ColumnCount; ++column) {
        const QString title =
            model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const char* widest = column == SampleTableModel::Push ? "1000.0"
            : column == SampleTableModel::Tokens || column == SampleTableModel::LowestWindow
            ? "32768"
            : "0.00";
        const int text = std::max(metrics.horizontalAdvance(title),
                                  metrics.horizontalAdvance(QString::fromLatin1(widest)));
        header->resizeSection(column, text + metrics.height() * 2 / 3);
    }
    for (const int column : {SampleTableModel::Tags, SampleTableModel::Note})
        header->resizeSection(column, metrics.height() * 8);
    for (const int column :
         {SampleTableModel::Cuda, SampleTableModel::Confident, SampleTableModel::MeanMask,
          SampleTableModel::LowestWindow, SampleTableModel::Mean, SampleTableModel::Picked,
          SampleTableModel::Push, SampleTableModel::PushSensitive, SampleTableModel::LowestUnit,
          SampleTableModel::Tags, SampleTableModel::Note})
        table_->setColumnHidden(column, true);
    header->setContextMenuPolicy(Qt::ActionsContextMenu);
    for (int column = 1; column < SampleTableModel::ColumnCount; ++column) {
        if (column == SampleTableModel::Picked)
            continue; // comes and goes with what is picked out
        auto* action = new QAction(
            model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(), header);
        action->setCheckable(true);
        action->setChecked(!table_->isColumnHidden(column));
        connect(action, &QAction::toggled, table_, [this, column](bool on) {
            table_->setColumnHidden(column, !on);
            if (column == SampleTableModel::LowestUnit)
                units_->setWanted(on);
            fitIdColumn();
        });
        action->setData(column);
        header->addAction(action);
    }
}

// The name takes what the figures leave, but never less than a dozen letters: the table scrolls
// then.
void DatasetPanel::fitIdColumn() {
    QHeaderView* header = table_->horizontalHeader();
    int others = 0;
    for (int column = 1; column < SampleTableModel::ColumnCount; ++column)
        if (!table_->isColumnHidden(column))
            others += header->sectionSize(column);
    const int least = fontMetrics().averageCharWidth() * 18;
    header->resizeSection(SampleTableModel::Id,
                          std::max(least, table_->viewport()->width() - others));
}

// The room for columns also changes when the scroll bar comes or goes.
bool DatasetPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_->viewport() && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &DatasetPanel::fitIdColumn, Qt::QueuedConnection);
    return QWidget::eventFilter(watched, event);
}

// The first tag brings its column; a person may hide it again.
void DatasetPanel::showTags() {
    if (notes_->allTags().empty())
        return;
    for (QAction* action : table_->horizontalHeader()->actions())
        if (action->data().toInt() == SampleTableModel::Tags
            && !action->property("seen").toBool()) {
            action->setProperty("seen", true);
            action->setChecked(true);
        }
}

std::vector<int> DatasetPanel::shownRows() const {
    std::vector<int> rows;
    for (int row = 0; row < proxy_->rowCount(); ++row)
        rows.push_back(proxy_->mapToSource(proxy_->index(row, 0)).row());
    return rows;
}

std::vector<QString> DatasetPanel::chosenIds() const {
    std::vector<QString> ids;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows())
        ids.push_back(workspace_->sampleId(proxy_->mapToSource(index).row()));
    if (ids.empty() && selection_->sample() >= 0
        && selection_->sample() < workspace_->sampleCount())
        ids.push_back(workspace_->sampleId(selection_->sample()));
    return ids;
}

void DatasetPanel::toggleQuarantine() {
    const std::vector<QString> ids = chosenIds();
    const bool all = std::all_of(ids.begin(), ids.end(), [this](const QString& id) {
        const SampleNote* note = notes_->find(id);
        return note && note->quarantined;
    });
    if (!ids.empty())
        notes_->setQuarantined(ids, !all);
}

void DatasetPanel::askForTag() {
    const std::vector<QString> ids = chosenIds();
    bool accepted = false;
    const QString tag = QInputDialog::getText(this, tr("Add a tag"), tr("Tag:"), QLineEdit::Normal,
                                              QString(), &accepted);
    if (accepted)
        notes_->addTag(ids, tag);
}

void DatasetPanel::showMenu(const QPoint& position) {
    if (!table_->indexAt(position).isValid())
        return;
    QMenu menu(this);
    menu.addAction(tr("&Quarantine or end it"), this, &DatasetPanel::toggleQuarantine);
    QMenu* tags = menu.addMenu(tr("Add &tag"));
    for (const std::string& tag : notes_->allTags()) {
        const QString text = QString::fromStdString(tag);
        tags->addAction(QString(text).replace(QLatin1Char('&'), QLatin1String("&&")), this,
                        [this, text] { notes_->addTag(chosenIds(), text); });
    }
    if (!tags->isEmpty())
        tags->addSeparator();
    tags->addAction(tr("&New tag\u2026"), this, &DatasetPanel::askForTag);
    menu.addSeparator();
    menu.addAction(tr("&Export samples\u2026"), this, &DatasetPanel::exportRequested);
    menu.exec(table_->viewport()->mapToGlobal(position));
}

void DatasetPanel::applyFilter() {
    filterTimer_.stop();
    const QString problem = proxy_->setFilterText(filter_->text());
    if (std::exchange(resort_, false))
        proxy_->sort(proxy_->sortColumn(), proxy_->sortOrder());
    QPalette colors = error_->palette();
    colors.setColor(QPalette::WindowText,
                    readableOn(seriesColors(palette()).warning, palette().color(QPalette::Window)));
    error_->setPalette(colors);
    error_->setText(problem);
    error_->setVisible(!problem.isEmpty());
    showSelection();
    showCount();
}

void DatasetPanel::showKinds() {
    table_->setColumnHidden(SampleTableModel::Picked, selection_->kinds() == 0);
    fitIdColumn();
}

int DatasetPanel::neighbour(int row, int direction) const {
    const int rows = proxy_->rowCount();
    if (rows == 0)
        return -1;
    const QModelIndex current = proxy_->mapFromSource(model_->index(row, SampleTableModel::Id));
    const int at = current.isValid() ? current.row() : direction > 0 ? -1 : 0;
    return proxy_->mapToSource(proxy_->index((at + direction + rows) % rows, 0)).row();
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
    QString samples = all == 1 ? tr("1 sample") : tr("%1 samples").arg(all);
    if (shown != all)
        samples = tr("%1 of %2").arg(shown).arg(samples);
    count_->setText(tr("%1, %2 scored").arg(samples).arg(workspace_->scoredCount()));
}

} // namespace cuset
