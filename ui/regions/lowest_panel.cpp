#include "ui/regions/lowest_panel.h"

#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"
#include "ui/state/table_look.h"

namespace cuset {

LowestPanel::LowestPanel(LowestState* lowest, QWidget* parent)
    : QWidget(parent)
    , lowest_(lowest)
    , model_(new LowestTableModel(lowest, this)) {
    setWhatsThis(tr("The stretches of all scored samples that the model is least sure of, the "
                    "lowest 500. Choose one to see it in its sample."));
    build();
    connect(lowest_, &LowestState::changed, this, &LowestPanel::showState);
    showState();
}

void LowestPanel::build() {
    const auto choice = [this](const QString& name, const QString& help) {
        auto* box = new QComboBox(this);
        box->setAccessibleName(name);
        box->setToolTip(plainToolTip(help));
        connect(box, &QComboBox::activated, this, &LowestPanel::ask);
        return box;
    };
    unit_ = choice(tr("Unit"),
                   tr("A window is l tokens; of those that overlap the lowest is listed. A region "
                      "is a kernel body, a launch configuration or a CUDA-sensitive span."));
    unit_->addItem(tr("Tokens"), static_cast<int>(TextUnit::token));
    unit_->addItem(tr("Lines"), static_cast<int>(TextUnit::line));
    unit_->addItem(tr("Statements"), static_cast<int>(TextUnit::statement));
    unit_->addItem(tr("Windows"), static_cast<int>(TextUnit::window));
    unit_->addItem(tr("Regions"), static_cast<int>(TextUnit::region));
    unit_->setCurrentIndex(unit_->findData(static_cast<int>(lowest_->query().unit)));
    how_ = choice(tr("Order"), tr("By the mean or by the lowest confidence of its tokens"));
    how_->addItem(tr("by mean"), static_cast<int>(Aggregate::mean));
    how_->addItem(tr("by lowest token"), static_cast<int>(Aggregate::minimum));
    kind_ = choice(tr("Kind"), tr("Only stretches with a token of that kind"));
    kind_->addItem(tr("all kinds"), 0);
    kind_->addItem(tr("any sensitive"), static_cast<LabelBits>(~kernel_bit));
    kind_->addItem(tr("kernel body"), kernel_bit);
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        kind_->addItem(kindTitle(static_cast<SensitiveKind>(kind)),
                       bits_of(static_cast<SensitiveKind>(kind)));
    save_ = new QToolButton(this);
    save_->setText(tr("CSV\u2026"));
    save_->setToolTip(tr("Save the list as CSV"));
    save_->setAutoRaise(true);
    save_->setFocusPolicy(Qt::TabFocus);
    connect(save_, &QToolButton::clicked, this, &LowestPanel::chooseExport);
    hint_ = new QLabel(this);
    hint_->setTextFormat(Qt::PlainText);
    hint_->setForegroundRole(QPalette::PlaceholderText);
    hint_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    buildTable();
    const int gap = fontMetrics().height() / 3;
    auto* row = new QHBoxLayout;
    row->setSpacing(gap);
    for (QComboBox* box : {unit_, how_, kind_})
        row->addWidget(box);
    row->addWidget(hint_, 1);
    row->addWidget(save_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(gap, gap / 2, gap, gap / 2);
    layout->setSpacing(gap);
    layout->addLayout(row);
    layout->addWidget(table_, 1);
}

void LowestPanel::buildTable() {
    auto* proxy = new QSortFilterProxyModel(this);
    proxy->setSourceModel(model_);
    proxy->setSortRole(LowestTableModel::sortRole);
    table_ = new QTableView(this);
    table_->setModel(proxy);
    table_->setAccessibleName(tr("Stretches of lowest confidence"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    applyTableLook(table_);
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setMinimumSectionSize(fontMetrics().height());
    const int margin = fontMetrics().height();
    const auto width = [&](const char* text) {
        return fontMetrics().horizontalAdvance(QString::fromLatin1(text)) + margin;
    };
    for (const int column : {LowestTableModel::Mean, LowestTableModel::Minimum})
        header->resizeSection(column, width("0.000"));
    for (const int column : {LowestTableModel::Tokens, LowestTableModel::Line})
        header->resizeSection(column, width("00000"));
    header->resizeSection(LowestTableModel::Kinds, width("kMSTY"));
    header->resizeSection(LowestTableModel::Sample, width("a sample's name"));
    header->setSectionResizeMode(LowestTableModel::Text, QHeaderView::Stretch);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &LowestPanel::choose);
    // A second click on the same row goes there again.
    connect(table_, &QTableView::clicked, this, &LowestPanel::choose);
}

void LowestPanel::choose(const QModelIndex& index) {
    if (!index.isValid())
        return;
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    const LowUnit& low =
        lowest_->units()[static_cast<std::size_t>(proxy->mapToSource(index).row())];
    emit spanRequested(static_cast<int>(low.sample), low.unit.span, low.unit.first_token);
}

void LowestPanel::ask() {
    LowestQuery query = lowest_->query();
    query.unit = static_cast<TextUnit>(unit_->currentData().toInt());
    query.how = static_cast<Aggregate>(how_->currentData().toInt());
    query.labels = static_cast<LabelBits>(kind_->currentData().toInt());
    query.least_tokens = default_least_tokens(query.unit);
    lowest_->setQuery(query);
}

void LowestPanel::showState() {
    const bool any = !lowest_->units().empty();
    save_->setEnabled(any);
    how_->setEnabled(lowest_->query().unit != TextUnit::token);
    if (lowest_->isLooking())
        hint_->setText(tr("Looking\u2026"));
    else if (any)
        hint_->setText(tr("%n found", nullptr, static_cast<int>(lowest_->units().size())));
    else
        hint_->setText(lowest_->scores() ? tr("None of that kind.")
                                         : tr("Score samples, or open a score file."));
    hint_->setToolTip(plainToolTip(hint_->text()));
}

void LowestPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    lowest_->setActive(true);
}

void LowestPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    lowest_->setActive(false);
}

void LowestPanel::chooseExport() {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the list of lowest confidence"),
                                     QStringLiteral("lowest.csv"), tr("CSV (*.csv)"));
    if (!path.isEmpty())
        exportTo(path);
}

void LowestPanel::exportTo(const QString& path) {
    try {
        write_file_atomically(nativePath(path),
                              lowest_units_csv(*lowest_->scores(), lowest_->units()));
        emit exported(path);
    } catch (const Error& error) {
        emit exportFailed(QString::fromUtf8(error.what()));
    }
}

} // namespace cuset
