#include "ui/training/run_config_dialog.h"

#include <algorithm>

#include <QClipboard>
#include <QDate>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

#include "core/io/atomic_file.h"
#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"
#include "ui/training/run_presets.h"
#include "ui/training/training_launcher.h"

namespace cuset {
namespace {

QScrollArea* scrolled(QWidget* page, QWidget* parent) {
    auto* area = new QScrollArea(parent);
    area->setWidget(page);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setMinimumWidth(page->minimumSizeHint().width()
                          + area->verticalScrollBar()->sizeHint().width());
    return area;
}

} // namespace

RunConfigDialog::RunConfigDialog(const TrainConfig& config, Workspace* workspace, QWidget* parent)
    : QDialog(parent)
    , base_(config)
    , binder_(new FormBinder(this))
    , advisor_(new RunAdvisor(workspace, this)) {
    setObjectName(QStringLiteral("runForm"));
    setWindowTitle(tr("New training run"));
    setAttribute(Qt::WA_DeleteOnClose);
    build();
    connect(binder_, &FormBinder::changed, this, &RunConfigDialog::changed);
    connect(sweep_, &SweepForm::changed, this, &RunConfigDialog::changed);
    connect(advisor_, &RunAdvisor::checked, this, [this](const QString& problem) {
        readProblem_ = problem;
        checkedAll_ = true;
        showProblem(formProblem_.isEmpty() ? readProblem_ : formProblem_);
    });
    connect(advisor_, &RunAdvisor::estimated, this, &RunConfigDialog::showEstimate);
    connect(advisor_, &RunAdvisor::previewed, preview_, &SamplePreviewView::setPreview);
    connect(advisor_, &RunAdvisor::previewFailed, preview_, &SamplePreviewView::showProblem);
    connect(advisor_, &RunAdvisor::sampleNames, this, [this](const QStringList& names) {
        const QSignalBlocker quiet(sample_);
        const int now = std::max(0, sample_->currentIndex());
        sample_->clear();
        sample_->addItems(names);
        sample_->setCurrentIndex(std::min(now, sample_->count() - 1));
    });
    connect(sample_, &QComboBox::currentIndexChanged, advisor_, &RunAdvisor::setSample);
    connect(pages_.preset, &QComboBox::activated, this, [this](int index) {
        if (auto now = this->config()) {
            applyPreset(allRunPresets[static_cast<std::size_t>(index)], *now);
            setConfig(*now);
            pages_.preset->setCurrentIndex(index);
        }
    });
    binder_->show(base_);
}

void RunConfigDialog::build() {
    const auto choose = [this](const QString& title, bool folder) {
        const QString from = QFileInfo(pages_.output->text()).absolutePath();
        return folder ? QFileDialog::getExistingDirectory(this, title, from)
                      : QFileDialog::getOpenFileName(this, title, {},
                                                     tr("Samples (*.jsonl *.json *.csv *.cu "
                                                        "*.cuh *.gguf);;All files (*)"));
    };
    pages_ = makeRunPages(binder_, choose, this);
    sweep_ = new SweepForm(this);
    left_ = new QTabWidget(this);
    left_->addTab(scrolled(pages_.run, this), tr("&Run"));
    left_->addTab(scrolled(pages_.optimizer, this), tr("&Optimiser"));
    left_->addTab(scrolled(pages_.machine, this), tr("&Data and machine"));
    left_->addTab(scrolled(sweep_, this), tr("S&weep"));
    auto* splitter = new QSplitter(this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(left_);
    splitter->addWidget(buildRight());
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    auto* column = new QVBoxLayout(this);
    column->addWidget(splitter, 1);
    column->addWidget(buildFoot());
    const int em = fontMetrics().height();
    const QSize screenSize = screen()->availableSize();
    resize(std::min(em * 66, screenSize.width() * 95 / 100),
           std::min(em * 48, screenSize.height() * 90 / 100));
}

QWidget* RunConfigDialog::buildRight() {
    right_ = new QTabWidget(this);
    estimate_ = new EstimateView(right_);
    auto* page = new QWidget(right_);
    preview_ = new SamplePreviewView(page);
    sample_ = new QComboBox(page);
    sample_->setAccessibleName(tr("Sample"));
    sample_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    sample_->setToolTip(plainToolTip(tr("The sample whose tokens are shown")));
    auto* label = new QLabel(tr("Sa&mple"), page);
    label->setBuddy(sample_);
    auto* row = new QHBoxLayout;
    row->addWidget(label);
    row->addWidget(sample_, 1);
    auto* column = new QVBoxLayout(page);
    column->addLayout(row);
    column->addWidget(preview_, 1);
    right_->addTab(estimate_, tr("&Estimate"));
    right_->addTab(page, tr("What is &trained"));
    return right_;
}

QWidget* RunConfigDialog::buildFoot() {
    auto* foot = new QWidget(this);
    status_ = new QLabel(foot);
    status_->setWordWrap(true);
    status_->setTextFormat(Qt::PlainText);
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    status_->setAccessibleName(tr("Check"));
    status_->setMinimumHeight(fontMetrics().lineSpacing() * 2);
    command_ = new QLineEdit(foot);
    command_->setReadOnly(true);
    command_->setAccessibleName(tr("The command that does the same"));
    command_->setToolTip(plainToolTip(
        tr("The command that does the same, once the form is saved as that config.json")));
    auto* copy = new QPushButton(tr("&Copy"), foot);
    copy->setToolTip(plainToolTip(tr("Copy the command")));
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(command_->text()); });
    auto* line = new QHBoxLayout;
    auto* label = new QLabel(tr("Comman&d"), foot);
    label->setBuddy(command_);
    line->addWidget(label);
    line->addWidget(command_, 1);
    line->addWidget(copy);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, foot);
    start_ = buttons->addButton(tr("&Start"), QDialogButtonBox::AcceptRole);
    start_->setDefault(true);
    QPushButton* loadButton = buttons->addButton(tr("&Load\u2026"), QDialogButtonBox::ActionRole);
    loadButton->setToolTip(plainToolTip(tr("Fill the form from a config.json")));
    QPushButton* saveButton = buttons->addButton(tr("Sa&ve\u2026"), QDialogButtonBox::ActionRole);
    saveButton->setToolTip(plainToolTip(tr("Save the form as a config.json")));
    connect(loadButton, &QPushButton::clicked, this, &RunConfigDialog::load);
    connect(saveButton, &QPushButton::clicked, this, &RunConfigDialog::save);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, &RunConfigDialog::start);
    auto* column = new QVBoxLayout(foot);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(status_);
    column->addLayout(line);
    column->addWidget(buttons);
    return foot;
}

QString RunConfigDialog::freshOutput(const QString& root, const TrainConfig& config) {
    const QString stem =
        QStringLiteral("%1/%2-%3")
            .arg(root,
                 QString::fromLatin1(
                     token_objective_names[static_cast<std::size_t>(config.objective.name)].data()),
                 QDate::currentDate().toString(Qt::ISODate));
    for (int i = 1;; ++i) {
        const QString path = i == 1 ? stem : QStringLiteral("%1-%2").arg(stem).arg(i);
        if (!QFileInfo::exists(path))
            return path;
    }
}

void RunConfigDialog::setConfig(const TrainConfig& config) {
    base_ = config;
    binder_->show(base_);
}

std::optional<TrainConfig> RunConfigDialog::config() const {
    try {
        return binder_->collect(base_);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void RunConfigDialog::changed() {
    std::optional<TrainConfig> now;
    QString problem;
    try {
        now = binder_->collect(base_);
        problem = RunAdvisor::check(*now);
        if (problem.isEmpty())
            problem = checkSweep(*now);
    } catch (const Error& error) {
        problem = QString::fromUtf8(error.what());
    }
    formProblem_ = problem;
    pages_.preset->setCurrentIndex(-1); // as set below
    readProblem_.clear();
    checkedAll_ = false;
    if (now) {
        enableUsed(this, *now);
        pages_.formula->setText(QString::fromStdString(formula_text(now->objective)));
        showSchedule(pages_.schedule, *now,
                     now->max_steps.value_or(known_ ? known_->steps_per_epoch * now->epochs : 100));
        command_->setText(
            sweep_->isUsed() && problem.isEmpty()
                ? TrainingLauncher::sweepCommandText(*now, sweep_->grid(), sweep_->jobs())
                : TrainingLauncher::commandText(*now));
        command_->setCursorPosition(0);
        advisor_->setConfig(*now);
    }
    if (problem.isEmpty())
        estimate_->showWaiting();
    else
        estimate_->showNothing(tr("The estimate comes when the form is right."));
    showProblem(problem);
}

QString RunConfigDialog::checkSweep(const TrainConfig& config) {
    start_->setText(sweep_->isUsed() ? tr("&Start the sweep") : tr("&Start"));
    if (!sweep_->isUsed()) {
        sweep_->showCount({});
        return {};
    }
    try {
        const RunGrid grid = sweep_->grid();
        if (grid.runs() > 200)
            sweep_->showCount(tr("%1 runs: that will take long").arg(grid.runs()));
        else
            sweep_->showCount(
                tr("%n run(s)", nullptr, static_cast<int>(expand_sweep(config, grid).size())));
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

void RunConfigDialog::showProblem(const QString& problem) {
    problem_ = problem;
    binder_->mark(problem);
    // Large data take a while to read; the run itself would say what is wrong with them.
    start_->setEnabled(problem.isEmpty());
    QPalette colors = palette();
    if (!problem.isEmpty())
        colors.setColor(QPalette::WindowText,
                        readableOn(seriesColors(colors).warning, colors.color(QPalette::Window)));
    status_->setPalette(colors);
    status_->setText(!problem.isEmpty() ? visibleText(problem.toStdString(), 1000)
                         : checkedAll_  ? tr("Checked: ready to start.")
                                        : tr("Reading model and data\u2026"));
}

void RunConfigDialog::showEstimate(std::shared_ptr<const TrainEstimate> estimate) {
    known_ = std::move(estimate);
    if (!formProblem_.isEmpty())
        return;
    const auto now = config();
    if (!now)
        return;
    QString wanted = QString::fromStdString(now->device);
    if (wanted == QLatin1String("auto") && !known_->devices.empty())
        wanted = QString::fromStdString(known_->devices.back().device);
    estimate_->setEstimate(*known_, wanted);
    showSchedule(pages_.schedule, *now, known_->steps);
}

void RunConfigDialog::showPage(const QString& name) {
    const QStringList lefts{QStringLiteral("run"), QStringLiteral("optimizer"),
                            QStringLiteral("machine"), QStringLiteral("sweep")};
    if (const auto index = lefts.indexOf(name); index >= 0)
        left_->setCurrentIndex(static_cast<int>(index));
    else
        right_->setCurrentIndex(name == QLatin1String("preview") ? 1 : 0);
}

void RunConfigDialog::start() {
    const auto now = config();
    if (!now || !isReady())
        return;
    if (sweep_->isUsed())
        emit sweepRequested(*now, sweep_->grid(), sweep_->jobs());
    else
        emit startRequested(*now);
    accept();
}

void RunConfigDialog::load() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Load a configuration"), {},
                                                      tr("Configurations (*.json);;All files (*)"));
    if (path.isEmpty())
        return;
    try {
        setConfig(read_train_config(nativePath(path)));
    } catch (const Error& error) {
        showProblem(QString::fromUtf8(error.what()));
    }
}

void RunConfigDialog::save() {
    const auto now = config();
    if (!now)
        return;
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the configuration"),
                                     QStringLiteral("config.json"), tr("Configurations (*.json)"));
    if (path.isEmpty())
        return;
    try {
        write_file_atomically(nativePath(path), train_config_json(*now));
    } catch (const Error& error) {
        showProblem(QString::fromUtf8(error.what()));
    }
}

} // namespace cuset
