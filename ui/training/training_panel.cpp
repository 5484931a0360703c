#include "ui/training/training_panel.h"

#include <algorithm>
#include <array>

#include <QDesktopServices>
#include <QFile>
#include <QFileDialog>
#include <QFontDatabase>
#include <QHeaderView>
#include <QMenu>
#include <QMessageBox>
#include <QScrollBar>
#include <QShortcut>
#include <QStackedLayout>
#include <QUrl>
#include <QVBoxLayout>

#include "core/io/atomic_file.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"
#include "ui/state/table_look.h"
#include "ui/training/progress_delegate.h"

namespace cuset {

TrainingPanel::TrainingPanel(RunRegistry* registry, QWidget* parent)
    : QWidget(parent)
    , registry_(registry)
    , model_(new RunTableModel(registry, this)) {
    setWhatsThis(tr("Training runs: those of this window and of any terminal or machine whose "
                    "folders are seen here. They go on when the window closes. Select several to "
                    "lay their curves over one another and to compare their settings."));
    buildTable();
    buildTabs();
    auto* bar = new QHBoxLayout;
    bar->setSpacing(0);
    buildBar(bar);
    const int gap = fontMetrics().height() / 3;
    auto* left = new QWidget(this);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(gap, 0, 0, 0);
    column->setSpacing(gap / 2);
    column->addLayout(bar);
    auto* stack = new QStackedLayout;
    stack->setStackingMode(QStackedLayout::StackAll);
    stack->addWidget(empty_);
    stack->addWidget(table_);
    column->addLayout(stack, 1);
    auto* right = new QWidget(this);
    auto* details = new QVBoxLayout(right);
    details->setContentsMargins(0, 0, gap, 0);
    details->setSpacing(gap / 2);
    auto* cause = new QHBoxLayout;
    cause->addWidget(status_, 1);
    cause->addWidget(resumeHere_);
    details->addLayout(cause);
    details->addWidget(tabs_, 1);
    auto* splitter = new QSplitter(this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(left);
    splitter->addWidget(right);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 5);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(splitter);
    connect(registry_, &RunRegistry::runAdded, this, &TrainingPanel::runAdded);
    connect(registry_, &RunRegistry::runRemoved, this, &TrainingPanel::showDetails);
    connect(registry_, &RunRegistry::runChanged, this, &TrainingPanel::showDetails);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &TrainingPanel::showSelected);
    showSelected();
}

void TrainingPanel::buildTable() {
    proxy_ = new QSortFilterProxyModel(this);
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(RunTableModel::sortRole);
    table_ = new QTableView(this);
    table_->setModel(proxy_);
    table_->setAccessibleName(tr("Training runs"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(RunTableModel::Begun, Qt::DescendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    table_->setItemDelegateForColumn(RunTableModel::Progress, new ProgressDelegate(table_));
    applyTableLook(table_);
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(table_, &QWidget::customContextMenuRequested, this, &TrainingPanel::contextMenu);
    QHeaderView* header = table_->horizontalHeader();
    header->setHighlightSections(false);
    header->setMinimumSectionSize(fontMetrics().height());
    header->setStretchLastSection(true);
    const std::array<const char*, RunTableModel::ColumnCount - 1> samples{
        "cuset-2026-12-01-a", "finished", "Objective",   "0.125",   "0.25",    "1024",
        "Best val.",          "0.1234",   "1,000/1,000", "1:00:00", "1:00:00", "23:59"};
    for (std::size_t i = 0; i < samples.size(); ++i)
        header->resizeSection(static_cast<int>(i),
                              fontMetrics().horizontalAdvance(QString::fromLatin1(samples[i]))
                                  + fontMetrics().height());
    empty_ = new QLabel(tr("No runs yet.\n\nChoose \u201cUse in training\u2026\u201d below the "
                           "thresholds, or open a folder of runs with the Training menu."),
                        this);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setForegroundRole(QPalette::PlaceholderText);
    empty_->setAttribute(Qt::WA_TransparentForMouseEvents);
}

QToolButton* TrainingPanel::addButton(const QString& text, const QString& help,
                                      const std::function<void()>& run) {
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(plainToolTip(help));
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, run);
    return button;
}

void TrainingPanel::buildBar(QHBoxLayout* row) {
    const auto each = [this](void (TrainingPanel::*signal)(const QString&)) {
        return [this, signal] {
            for (const RunFollower* run : selectedRuns())
                emit(this->*signal)(run->folder());
        };
    };
    auto* fresh = addButton(tr("New\u2026"), tr("A new run with the present thresholds"),
                            [this] { emit newRequested(); });
    again_ = addButton(tr("Again\u2026"), tr("A new run with this one's settings, to be changed"),
                       [this] {
                           if (const auto runs = selectedRuns(); !runs.empty())
                               emit againRequested(runs.front()->folder());
                       });
    stop_ = addButton(tr("Stop"), tr("Finish the step, save and end; the run can go on later"),
                      each(&TrainingPanel::stopRequested));
    resume_ = addButton(tr("Resume"), tr("Go on from the newest checkpoint"),
                        each(&TrainingPanel::resumeRequested));
    compare_ = addButton(tr("Compare"),
                         tr("What the run did, token by token: its checkpoints beside the open "
                            "scores, or beside its own samples if none are open"),
                         [this] {
                             if (const auto runs = selectedRuns(); !runs.empty())
                                 emit compareRequested(runs.front()->folder());
                         });
    reveal_ = addButton(tr("Folder"), tr("Show the run folder in the file manager"),
                        [this] { reveal(); });
    remove_ = addButton(tr("Delete\u2026"), tr("Delete the run folder from the disk"),
                        [this] { confirmRemoval(); });
    auto* open = addButton(tr("Open\u2026"), tr("Follow the runs of another folder too"),
                           [this] { emit openRequested(); });
    auto* save =
        addButton(tr("CSV\u2026"), tr("Save the table as CSV"), [this] { chooseExport(); });
    for (QToolButton* button :
         {fresh, again_, stop_, resume_, compare_, reveal_, remove_, open, save})
        row->addWidget(button);
    row->addStretch(1);
    auto* erase = new QShortcut(
        QKeySequence::Delete, table_, this, [this] { confirmRemoval(); }, Qt::WidgetShortcut);
    erase->setObjectName(QStringLiteral("deleteRun"));
}

void TrainingPanel::buildTabs() {
    status_ = new QLabel(this);
    status_->setTextFormat(Qt::PlainText);
    status_->setWordWrap(true);
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    status_->setAccessibleName(tr("How the run stands"));
    resumeHere_ = addButton(tr("Resume"), tr("Go on from the newest checkpoint"), [this] {
        for (const RunFollower* run : selectedRuns())
            emit resumeRequested(run->folder());
    });
    resumeHere_->setAutoRaise(false);
    charts_ = new RunCharts(this);
    connect(charts_, &RunCharts::exported, this, &TrainingPanel::exported);
    connect(charts_, &RunCharts::exportFailed, this, &TrainingPanel::exportFailed);
    log_ = new QPlainTextEdit(this);
    log_->setReadOnly(true);
    log_->setFrameShape(QFrame::NoFrame);
    log_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    log_->setLineWrapMode(QPlainTextEdit::NoWrap);
    log_->setAccessibleName(tr("The last lines of the run's log"));
    log_->setPlaceholderText(tr("The last 50 lines of the selected run's log.txt"));
    differences_ = new ConfigDifferenceModel(this);
    settings_ = new QTableView(this);
    settings_->setModel(differences_);
    settings_->setAccessibleName(tr("Settings of the selected runs"));
    settings_->setShowGrid(false);
    settings_->setAlternatingRowColors(true);
    settings_->setFrameShape(QFrame::NoFrame);
    settings_->setTabKeyNavigation(false);
    settings_->verticalHeader()->hide();
    settings_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2);
    settings_->horizontalHeader()->setHighlightSections(false);
    onlyDifferences_ = new QCheckBox(tr("&Only what differs"), this);
    onlyDifferences_->setChecked(true);
    connect(onlyDifferences_, &QCheckBox::toggled, this, [this] {
        shownSettings_.clear();
        showSettings();
    });
    auto* settingsPage = new QWidget(this);
    auto* settingsColumn = new QVBoxLayout(settingsPage);
    settingsColumn->setContentsMargins(0, 0, 0, 0);
    settingsColumn->addWidget(onlyDifferences_);
    settingsColumn->addWidget(settings_, 1);
    sweeps_ = new SweepPanel(registry_, this);
    connect(sweeps_, &SweepPanel::runPicked, this,
            [this](const QString& folder) { select({folder}); });
    tabs_ = new QTabWidget(this);
    tabs_->setDocumentMode(true);
    tabs_->addTab(charts_, tr("Curves"));
    tabs_->addTab(settingsPage, tr("Settings"));
    tabs_->addTab(log_, tr("Log"));
    tabs_->addTab(sweeps_, tr("Sweeps"));
    // Smoothing and the log axis stand in the tab bar's line.
    auto* corner = new QWidget(this);
    auto* line = new QHBoxLayout(corner);
    line->setContentsMargins(0, 0, 0, 0);
    auto* logAxis = new QCheckBox(tr("Lo&g axis"), corner);
    logAxis->setToolTip(plainToolTip(tr("Logarithmic axis for losses and the gradient norm")));
    connect(logAxis, &QCheckBox::toggled, charts_, &RunCharts::setLogAxis);
    auto* smoothing = new QSlider(Qt::Horizontal, corner);
    smoothing->setRange(0, 99);
    smoothing->setValue(static_cast<int>(charts_->smoothing() * 100));
    smoothing->setMaximumWidth(fontMetrics().height() * 7);
    smoothing->setAccessibleName(tr("Smoothing"));
    smoothing->setToolTip(plainToolTip(
        tr("Weight of what came before in the curves' exponential mean; 0 shows the raw values")));
    connect(smoothing, &QSlider::valueChanged, charts_,
            [this](int value) { charts_->setSmoothing(value / 100.0); });
    auto* label = new QLabel(tr("Smoothing"), corner);
    label->setBuddy(smoothing);
    line->addWidget(logAxis);
    line->addWidget(label);
    line->addWidget(smoothing);
    tabs_->setCornerWidget(corner, Qt::TopRightCorner);
    connect(tabs_, &QTabWidget::currentChanged, this, [this, corner](int tab) {
        corner->setVisible(tab == 0);
        showDetails();
    });
}

std::vector<RunFollower*> TrainingPanel::selectedRuns() const {
    std::vector<int> rows;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows())
        rows.push_back(proxy_->mapToSource(index).row());
    std::sort(rows.begin(), rows.end());
    std::vector<RunFollower*> runs;
    for (const int row : rows)
        if (RunFollower* run = model_->run(row))
            runs.push_back(run);
    return runs;
}

void TrainingPanel::addToSelection(const RunFollower* run, bool alone) {
    for (int row = 0; row < model_->rowCount(); ++row)
        if (model_->run(row) == run) {
            const QModelIndex index = proxy_->mapFromSource(model_->index(row, 0));
            table_->selectionModel()->setCurrentIndex(
                index,
                QItemSelectionModel::Rows
                    | (alone ? QItemSelectionModel::ClearAndSelect : QItemSelectionModel::Select));
            table_->scrollTo(index);
        }
}

void TrainingPanel::select(const QStringList& folders) {
    wanted_ = folders;
    bool alone = true;
    for (const RunFollower* run : registry_->runs())
        if (folders.contains(run->folder()) || folders.contains(run->sweep())) {
            addToSelection(run, alone);
            alone = false;
        }
    if (alone)
        table_->clearSelection(); // what is wanted comes
}

void TrainingPanel::selectAll() {
    table_->selectAll();
}

void TrainingPanel::showTab(const QString& name) {
    const QStringList names{QStringLiteral("curves"), QStringLiteral("settings"),
                            QStringLiteral("log"), QStringLiteral("sweep")};
    if (const auto tab = names.indexOf(name); tab >= 0)
        tabs_->setCurrentIndex(static_cast<int>(tab));
}

void TrainingPanel::runAdded(int row) {
    const RunFollower* run = model_->run(row);
    if (run && (wanted_.contains(run->folder()) || wanted_.contains(run->sweep())))
        addToSelection(run, false);
    showDetails();
}

void TrainingPanel::showSelected() {
    charts_->setRuns(selectedRuns());
    showDetails();
    emit selectionChanged();
}

void TrainingPanel::showDetails() {
    const std::vector<RunFollower*> runs = selectedRuns();
    const auto any = [&](auto test) { return std::any_of(runs.begin(), runs.end(), test); };
    stop_->setEnabled(any([](const RunFollower* r) { return r->phase() == RunPhase::Running; }));
    const bool canResume = any([](const RunFollower* r) {
        return r->isLoaded() && r->isOver() && r->phase() != RunPhase::Finished;
    });
    resume_->setEnabled(canResume);
    again_->setEnabled(runs.size() == 1 && runs.front()->config());
    compare_->setEnabled(runs.size() == 1 && runs.front()->config()
                         && !runs.front()->checkpoints().empty());
    reveal_->setEnabled(!runs.empty());
    remove_->setEnabled(any([](const RunFollower* r) { return r->isOver(); }));
    empty_->setVisible(registry_->runs().empty());
    QString text;
    bool broken = false;
    if (runs.size() == 1) {
        const RunFollower& run = *runs.front();
        text = run.problem().isEmpty() ? run.explanation() : run.problem();
        if (!text.isEmpty())
            text = tr("%1 %2: %3").arg(run.name(), phaseTitle(run.phase()), text);
        broken = run.phase() == RunPhase::Failed || run.phase() == RunPhase::Interrupted;
        if (tabs_->currentWidget() == log_)
            showLog(run);
    }
    status_->setText(visibleText(text.toStdString(), 2000));
    status_->setVisible(!text.isEmpty());
    resumeHere_->setVisible(runs.size() == 1 && canResume);
    if (broken)
        status_->setAccessibleDescription(tr("The run did not end well"));
    showSettings();
}

void TrainingPanel::showLog(const RunFollower& run) {
    const QString text = run.log().join(QLatin1Char('\n'));
    if (text == log_->toPlainText())
        return;
    log_->setPlainText(text);
    log_->verticalScrollBar()->setValue(log_->verticalScrollBar()->maximum());
}

void TrainingPanel::showSettings() {
    QStringList names, folders;
    std::vector<TrainConfig> configs;
    for (const RunFollower* run : selectedRuns())
        if (run->config()) {
            names += run->name();
            folders += run->folder();
            configs.push_back(*run->config());
        }
    onlyDifferences_->setEnabled(configs.size() > 1);
    if (folders == shownSettings_)
        return; // settings do not change
    shownSettings_ = folders;
    differences_->setConfigs(names, configs, onlyDifferences_->isChecked());
    settings_->resizeColumnsToContents();
}

void TrainingPanel::confirmRemoval() {
    QStringList folders;
    for (const RunFollower* run : selectedRuns())
        if (run->isOver())
            folders += run->folder();
    if (folders.isEmpty())
        return;
    auto* box = new QMessageBox(this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setIcon(QMessageBox::Warning);
    box->setTextFormat(Qt::PlainText);
    box->setWindowTitle(tr("Delete runs"));
    box->setText(tr("Delete %n run(s) with checkpoints and trained weights?", nullptr,
                    static_cast<int>(folders.size())));
    box->setInformativeText(folders.join(QLatin1Char('\n')) + QLatin1Char('\n')
                            + tr("This cannot be undone."));
    QPushButton* erase = box->addButton(tr("&Delete"), QMessageBox::DestructiveRole);
    box->setDefaultButton(box->addButton(QMessageBox::Cancel));
    connect(erase, &QPushButton::clicked, this, [this, folders] {
        for (const QString& folder : folders)
            emit removeRequested(folder);
    });
    box->open();
}

void TrainingPanel::reveal() {
    for (const RunFollower* run : selectedRuns())
        QDesktopServices::openUrl(QUrl::fromLocalFile(run->folder()));
}

void TrainingPanel::contextMenu(const QPoint& position) {
    QMenu menu(this);
    for (const QToolButton* button : {again_, stop_, resume_, compare_, reveal_, remove_})
        menu.addAction(button->text(), button, &QToolButton::click)
            ->setEnabled(button->isEnabled());
    menu.exec(table_->viewport()->mapToGlobal(position));
}

void TrainingPanel::chooseExport() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save the table of runs"), QStringLiteral("runs.csv"), tr("CSV (*.csv)"));
    if (path.isEmpty())
        return;
    try {
        write_file_atomically(nativePath(path), csvText(model_->table()).toStdString());
        emit exported(path);
    } catch (const Error& error) {
        emit exportFailed(QString::fromUtf8(error.what()));
    }
}

} // namespace cuset
