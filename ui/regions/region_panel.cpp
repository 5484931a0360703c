#include "ui/regions/region_panel.h"

#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "ui/state/native_path.h"
#include "ui/state/table_look.h"

namespace cuset {

RegionPanel::RegionPanel(KindFigures* figures, SelectionState* selection, QWidget* parent)
    : QWidget(parent)
    , figures_(figures)
    , selection_(selection)
    , model_(new KindTableModel(figures, this)) {
    setWhatsThis(tr("CUDA-sensitive tokens of all scored samples by kind. Choose a row to pick its "
                    "tokens out in the code, the charts and the sample table; F6 and Shift+F6 go "
                    "from one to the next, through all samples."));
    build();
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        LabelBits kinds = 0;
        for (const QModelIndex& index : table_->selectionModel()->selectedRows()) {
            const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
            kinds = static_cast<LabelBits>(kinds
                                           | figures_->row(proxy->mapToSource(index).row()).labels);
        }
        selection_->setKinds(kinds);
    });
    connect(selection_, &SelectionState::kindsChanged, this, &RegionPanel::showSelected);
    connect(figures_, &KindFigures::changed, this, &RegionPanel::showSelected);
    connect(figures_, &KindFigures::selectionChanged, this, &RegionPanel::showSelected);
    showSelected();
}

void RegionPanel::build() {
    auto* proxy = new QSortFilterProxyModel(this);
    proxy->setSourceModel(model_);
    proxy->setSortRole(KindTableModel::sortRole);
    table_ = new QTableView(this);
    table_->setModel(proxy);
    table_->setAccessibleName(tr("Kinds of CUDA-sensitive span"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    applyTableLook(table_);
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setMinimumSectionSize(fontMetrics().height());
    for (int column = 1; column < KindTableModel::ColumnCount; ++column)
        header->resizeSection(column, figureWidth());
    header->setSectionResizeMode(KindTableModel::Kind, QHeaderView::Stretch);

    const auto button = [this](const QString& text, const QString& help) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setToolTip(help);
        made->setAutoRaise(true);
        made->setFocusPolicy(Qt::TabFocus);
        return made;
    };
    previous_ = button(tr("Previous"), tr("The previous token of the chosen kinds (Shift+F6)"));
    next_ = button(tr("Next"), tr("The next token of the chosen kinds, in all samples (F6)"));
    clear_ = button(tr("Clear"), tr("Pick out nothing"));
    auto* save = button(tr("CSV\u2026"), tr("Save the table as CSV"));
    connect(previous_, &QToolButton::clicked, this, &RegionPanel::previousRequested);
    connect(next_, &QToolButton::clicked, this, &RegionPanel::nextRequested);
    connect(clear_, &QToolButton::clicked, this, [this] { selection_->setKinds(0); });
    connect(save, &QToolButton::clicked, this, &RegionPanel::chooseExport);
    hint_ = new QLabel(this);
    hint_->setForegroundRole(QPalette::PlaceholderText);
    hint_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    const int gap = fontMetrics().height() / 3;
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(hint_, 1);
    for (QToolButton* each : {previous_, next_, clear_, save})
        row->addWidget(each);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(gap, 0, gap, gap / 2);
    layout->setSpacing(0);
    layout->addWidget(table_, 1);
    layout->addLayout(row);
}

void RegionPanel::showSelected() {
    const LabelBits kinds = selection_->kinds();
    for (QToolButton* button : {previous_, next_, clear_})
        button->setEnabled(kinds != 0);
    QStringList names;
    QItemSelection rows;
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    for (int row = 0; row < KindFigures::rowCount; ++row) {
        const KindFigures::Row figures = figures_->row(row);
        // All sensitive tokens are a row of their own, not all rows.
        const bool any = row == sensitive_kind_count;
        const bool all = kinds == figures_->row(sensitive_kind_count).labels;
        if (any ? !all : all || !(kinds & figures.labels))
            continue;
        names += kindRowTitle(row);
        const QModelIndex index = proxy->mapFromSource(model_->index(row, 0));
        rows.select(index, index);
    }
    hint_->setText(kinds == 0 ? tr("Choose a kind to pick it out") : names.join(tr(", ")));
    hint_->setToolTip(hint_->text());
    const QSignalBlocker quiet(table_->selectionModel());
    table_->selectionModel()->select(
        rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    table_->viewport()->update();
}

QFontMetrics RegionPanel::boldMetrics() const {
    QFont bold = font();
    bold.setBold(true);
    return QFontMetrics(bold);
}

int RegionPanel::figureWidth() const {
    return boldMetrics().horizontalAdvance(QStringLiteral("88.8%")) + fontMetrics().height() / 2;
}

// The name of a kind must be readable; in a narrow panel the share of tokens gives way to it.
void RegionPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const int needed = boldMetrics().horizontalAdvance(QStringLiteral("G  memory management"))
        + fontMetrics().height() + (KindTableModel::ColumnCount - 1) * figureWidth();
    table_->setColumnHidden(KindTableModel::Share, width() < needed);
}

void RegionPanel::chooseExport() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save the table of kinds"), QStringLiteral("regions.csv"), tr("CSV (*.csv)"));
    if (!path.isEmpty())
        exportTo(path);
}

void RegionPanel::exportTo(const QString& path) {
    try {
        write_file_atomically(nativePath(path), csvText(model_->table()).toStdString());
        emit exported(path);
    } catch (const Error& error) {
        emit exportFailed(QString::fromUtf8(error.what()));
    }
}

} // namespace cuset
