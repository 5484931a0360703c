#include "ui/regions/correction_panel.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <QAction>
#include <QDir>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"
#include "ui/state/table_look.h"

namespace cuset {
namespace {

constexpr int maxTextUnits = 60;

} // namespace

CorrectionTableModel::CorrectionTableModel(LabelState* labels, Workspace* workspace,
                                           QObject* parent)
    : QAbstractTableModel(parent)
    , labels_(labels)
    , workspace_(workspace) {
    connect(labels_, &LabelState::changed, this, &CorrectionTableModel::reset);
    connect(workspace_, &Workspace::samplesReset, this, &CorrectionTableModel::reset);
    reset();
}

void CorrectionTableModel::reset() {
    beginResetModel();
    std::unordered_map<std::string, int> rows;
    if (!labels_->corrections().empty())
        for (int row = workspace_->sampleCount(); row-- > 0;)
            rows[workspace_->sampleId(row).toStdString()] = row;
    sampleRows_.clear();
    for (const LabelCorrection& correction : labels_->corrections()) {
        const auto found = rows.find(correction.sample_id);
        sampleRows_.push_back(found == rows.end() ? -1 : found->second);
    }
    endResetModel();
}

int CorrectionTableModel::sampleRow(int row) const {
    return sampleRows_[static_cast<std::size_t>(row)];
}

int CorrectionTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(sampleRows_.size());
}

int CorrectionTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CorrectionTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)
        || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
        return {};
    const LabelCorrection& correction =
        labels_->corrections()[static_cast<std::size_t>(index.row())];
    QString text;
    if (index.column() == Sample) {
        text = visibleText(correction.sample_id, maxTextUnits);
    } else if (index.column() == Label) {
        text = correctionTitle(correction);
    } else if (const int row = sampleRow(index.row()); row < 0) {
        text = tr("not open");
    } else {
        const std::string_view response = workspace_->response(row);
        const auto begin =
            std::min(static_cast<std::size_t>(correction.span.begin), response.size());
        text = visibleText(response.substr(begin, static_cast<std::size_t>(correction.span.size())),
                           maxTextUnits);
    }
    return role == Qt::ToolTipRole ? plainToolTip(text) : text;
}

QVariant CorrectionTableModel::headerData(int section, Qt::Orientation orientation,
                                          int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == Sample ? tr("Sample") : section == Label ? tr("Marked as") : tr("Text");
}

CorrectionPanel::CorrectionPanel(LabelState* labels, Workspace* workspace,
                                 SelectionState* selection, QWidget* parent)
    : QWidget(parent)
    , labels_(labels)
    , model_(new CorrectionTableModel(labels, workspace, this)) {
    setWhatsThis(tr("What you corrected of the labels that were found. Select code and mark it "
                    "with the Edit menu or the right mouse button; corrections are saved beside "
                    "the data at once, and statistics and training use them."));
    build();
    connect(model_, &QAbstractItemModel::modelReset, this, &CorrectionPanel::showState);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &CorrectionPanel::showState);
    const auto go = [this, selection](const QModelIndex& index) {
        if (!index.isValid() || model_->sampleRow(index.row()) < 0)
            return;
        const ByteSpan span = labels_->corrections()[static_cast<std::size_t>(index.row())].span;
        selection->setSample(model_->sampleRow(index.row()));
        emit spanRequested(model_->sampleRow(index.row()), span);
    };
    connect(table_, &QTableView::clicked, this, go);
    connect(table_, &QTableView::activated, this, go);
    showState();
}

void CorrectionPanel::build() {
    table_ = new QTableView(this);
    table_->setModel(model_);
    table_->setAccessibleName(tr("Corrections"));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    applyTableLook(table_);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setStretchLastSection(true);
    auto* removal = new QAction(tr("Remove"), table_);
    removal->setShortcut(QKeySequence::Delete);
    removal->setShortcutContext(Qt::WidgetShortcut);
    table_->addAction(removal);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    remove_ = new QPushButton(tr("Remove"), this);
    remove_->setToolTip(tr("Take the chosen corrections back (Delete); undo brings them back"));
    remove_->setAutoDefault(false);
    connect(removal, &QAction::triggered, this, &CorrectionPanel::removeChosen);
    connect(remove_, &QPushButton::clicked, this, &CorrectionPanel::removeChosen);
    state_ = new QLabel(this);
    state_->setTextFormat(Qt::PlainText);
    state_->setForegroundRole(QPalette::PlaceholderText);
    state_->setWordWrap(true);
    const int gap = fontMetrics().height() / 3;
    auto* row = new QHBoxLayout;
    row->addWidget(state_, 1);
    row->addWidget(remove_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(gap, 0, gap, gap);
    layout->addWidget(table_, 1);
    layout->addLayout(row);
}

void CorrectionPanel::showState() {
    remove_->setEnabled(table_->selectionModel()->hasSelection());
    const int count = model_->rowCount();
    state_->setText(
        count == 0
            ? tr("None. Select code, then Edit > Mark selection as.")
            : tr("%1 saved in %2").arg(QString::number(count), QDir(labels_->path()).dirName()));
    state_->setToolTip(plainToolTip(labels_->path()));
}

void CorrectionPanel::removeChosen() {
    std::vector<int> rows;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows())
        rows.push_back(index.row());
    if (!rows.empty())
        labels_->remove(rows);
}

} // namespace cuset
