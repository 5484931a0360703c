#include "ui/training/sweep_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <QDir>
#include <QFile>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QSignalBlocker>

#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

constexpr int queueInterval = 1000; // ms between looks at the queue's lock

const std::array<std::pair<RunAxis, const char*>, 5> axisNames{
    {{RunAxis::Tau, QT_TRANSLATE_NOOP("SweepPanel", "tau")},
     {RunAxis::Lambda, QT_TRANSLATE_NOOP("SweepPanel", "lambda")},
     {RunAxis::Window, QT_TRANSLATE_NOOP("SweepPanel", "window l (tokens)")},
     {RunAxis::LearningRate, QT_TRANSLATE_NOOP("SweepPanel", "learning rate")},
     {RunAxis::Objective, QT_TRANSLATE_NOOP("SweepPanel", "objective (number)")}}};

const std::array<std::pair<RunFigure, const char*>, 4> figureNames{
    {{RunFigure::BestValidation, QT_TRANSLATE_NOOP("SweepPanel", "best validation NLL (nats)")},
     {RunFigure::LastNll, QT_TRANSLATE_NOOP("SweepPanel", "last training NLL (nats)")},
     {RunFigure::LastLoss, QT_TRANSLATE_NOOP("SweepPanel", "last objective")},
     {RunFigure::SensitiveConfidence,
      QT_TRANSLATE_NOOP("SweepPanel", "last confidence of sensitive tokens")}}};

double axisValue(const TrainConfig& config, RunAxis axis) {
    switch (axis) {
    case RunAxis::Tau:
        return config.objective.mask.tau;
    case RunAxis::Lambda:
        return config.objective.mask.lambda;
    case RunAxis::Window:
        return config.objective.mask.window;
    case RunAxis::LearningRate:
        return config.learning_rate;
    case RunAxis::Objective:
        return static_cast<double>(config.objective.name);
    }
    return 0;
}

double figureOf(const RunSummary& run, RunFigure figure) {
    switch (figure) {
    case RunFigure::BestValidation:
        return run.best_evaluation.step > 0 ? run.best_evaluation.loss : no_figure;
    case RunFigure::LastLoss:
        return run.last_step.step > 0 ? run.last_step.loss : no_figure;
    case RunFigure::LastNll:
        return run.last_step.step > 0 ? run.last_step.nll : no_figure;
    case RunFigure::SensitiveConfidence:
        return run.last_step.step > 0 ? run.last_step.sensitive_confidence : no_figure;
    }
    return no_figure;
}

std::vector<double> valuesOf(const std::vector<const RunFollower*>& runs, RunAxis axis) {
    std::set<double> values;
    for (const RunFollower* run : runs)
        if (run->config())
            values.insert(axisValue(*run->config(), axis));
    return {values.begin(), values.end()};
}

QString axisName(RunAxis axis) {
    for (const auto& [each, name] : axisNames)
        if (each == axis)
            return SweepPanel::tr(name);
    return {};
}

} // namespace

std::vector<RunAxis> varyingAxes(const std::vector<const RunFollower*>& runs) {
    std::vector<RunAxis> axes;
    for (const auto& [axis, name] : axisNames)
        if (valuesOf(runs, axis).size() > 1)
            axes.push_back(axis);
    std::stable_sort(axes.begin(), axes.end(), [&](RunAxis a, RunAxis b) {
        return valuesOf(runs, a).size() > valuesOf(runs, b).size();
    });
    return axes;
}

HeatMap sweepHeatMap(const std::vector<const RunFollower*>& runs, RunAxis x, RunAxis y,
                     RunFigure figure) {
    HeatMap map;
    map.x = valuesOf(runs, x);
    map.y = valuesOf(runs, y);
    map.xTitle = axisName(x);
    map.yTitle = axisName(y);
    for (const auto& [each, name] : figureNames)
        if (each == figure)
            map.valueTitle = SweepPanel::tr(name);
    map.values.assign(map.x.size() * map.y.size(), std::numeric_limits<double>::quiet_NaN());
    const bool moreIsBetter = figure == RunFigure::SensitiveConfidence;
    for (const RunFollower* run : runs) {
        if (!run->config())
            continue;
        const auto place = [](const std::vector<double>& values, double value) {
            return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value)
                                            - values.begin());
        };
        double& cell = map.values[place(map.y, axisValue(*run->config(), y)) * map.x.size()
                                  + place(map.x, axisValue(*run->config(), x))];
        const double value = figureOf(run->summary(), figure);
        if (std::isfinite(value)
            && (!std::isfinite(cell) || (moreIsBetter ? value > cell : value < cell)))
            cell = value;
    }
    return map;
}

SweepPanel::SweepPanel(RunRegistry* registry, QWidget* parent)
    : QWidget(parent)
    , registry_(registry) {
    setWhatsThis(tr("A sweep trains a run for each point of a grid, in a queue that goes on "
                    "without the window. The map shows what came out; a click on a cell selects "
                    "its run."));
    build();
    connect(registry_, &RunRegistry::sweepsChanged, this, &SweepPanel::fillSweeps);
    connect(registry_, &RunRegistry::runChanged, this, &SweepPanel::showSweep);
    connect(registry_, &RunRegistry::runAdded, this, &SweepPanel::showSweep);
    timer_.setInterval(queueInterval);
    connect(&timer_, &QTimer::timeout, this, &SweepPanel::watchQueue);
    timer_.start();
    fillSweeps();
}

void SweepPanel::build() {
    const auto combo = [this](const QString& name) {
        auto* box = new QComboBox(this);
        box->setAccessibleName(name);
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        return box;
    };
    sweeps_ = combo(tr("Sweep"));
    figure_ = combo(tr("Figure"));
    x_ = combo(tr("Across"));
    y_ = combo(tr("Up"));
    for (const auto& [figure, name] : figureNames)
        figure_->addItem(tr(name), static_cast<int>(figure));
    jobs_ = new QSpinBox(this);
    jobs_->setRange(1, 64);
    jobs_->setToolTip(plainToolTip(tr("Runs at a time when the queue goes on")));
    resume_ = new QPushButton(tr("&Go on"), this);
    resume_->setToolTip(plainToolTip(tr("Train what waits in the queue, in the background")));
    stop_ = new QPushButton(tr("S&top queue"), this);
    stop_->setToolTip(plainToolTip(tr("Save the runs in progress and end the queue")));
    state_ = new QLabel(this);
    state_->setWordWrap(true);
    state_->setTextFormat(Qt::PlainText);
    chart_ = new HeatMapChart(this);
    chart_->setAccessibleName(tr("Sweep results"));
    chart_->setEmptyText(
        tr("No sweep yet. Fill in the Sweep tab of a new run to vary tau, lambda, the window, the "
           "objective or the learning rate"));
    auto* form = new QFormLayout;
    form->addRow(tr("Sweep"), sweeps_);
    form->addRow(tr("Figure"), figure_);
    form->addRow(tr("Across"), x_);
    form->addRow(tr("Up"), y_);
    form->addRow(tr("At a time"), jobs_);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(resume_);
    buttons->addWidget(stop_);
    auto* side = new QVBoxLayout;
    side->addLayout(form);
    side->addLayout(buttons);
    side->addWidget(state_);
    side->addStretch(1);
    auto* halves = new QHBoxLayout(this);
    halves->addLayout(side, 1);
    halves->addWidget(chart_, 3);
    connect(sweeps_, &QComboBox::activated, this,
            [this] { setSweep(sweeps_->currentData().toString()); });
    for (QComboBox* box : {figure_, x_, y_})
        connect(box, &QComboBox::activated, this, &SweepPanel::showSweep);
    connect(resume_, &QPushButton::clicked, this,
            [this] { emit resumeRequested(folder_, jobs_->value()); });
    connect(stop_, &QPushButton::clicked, this, [this] { emit stopRequested(folder_); });
    connect(chart_, &HeatMapChart::cellClicked, this, [this](int column, int row) {
        for (const RunFollower* run : runs()) {
            const auto matches = [&](const QComboBox* box, double value) {
                return axisValue(*run->config(), static_cast<RunAxis>(box->currentData().toInt()))
                    == value;
            };
            if (run->config() && matches(x_, map_.x[static_cast<std::size_t>(column)])
                && matches(y_, map_.y[static_cast<std::size_t>(row)]))
                return emit runPicked(run->folder());
        }
    });
}

void SweepPanel::fillSweeps() {
    const QSignalBlocker quiet(sweeps_);
    sweeps_->clear();
    for (const QString& folder : registry_->sweeps())
        sweeps_->addItem(visibleText(QDir(folder).dirName().toStdString(), 60), folder);
    const int now = sweeps_->findData(folder_);
    setSweep(now >= 0                   ? folder_
                 : sweeps_->count() > 0 ? sweeps_->itemData(0).toString()
                                        : QString());
}

void SweepPanel::setSweep(const QString& folder) {
    folder_ = folder;
    const QSignalBlocker quiet(sweeps_);
    sweeps_->setCurrentIndex(sweeps_->findData(folder_));
    x_->clear();
    showSweep();
    watchQueue();
}

std::vector<const RunFollower*> SweepPanel::runs() const {
    std::vector<const RunFollower*> runs;
    for (const RunFollower* run : registry_->runs())
        if (!folder_.isEmpty() && run->sweep() == folder_)
            runs.push_back(run);
    return runs;
}

void SweepPanel::showSweep() {
    const std::vector<const RunFollower*> members = runs();
    const std::vector<RunAxis> axes = varyingAxes(members);
    if (x_->count() != static_cast<int>(axes.size()) || x_->count() == 0) {
        for (QComboBox* box : {x_, y_}) {
            box->clear();
            for (const RunAxis axis : axes)
                box->addItem(axisName(axis), static_cast<int>(axis));
        }
        y_->setCurrentIndex(std::min(1, y_->count() - 1));
    }
    const bool any = !axes.empty();
    for (QWidget* widget : {static_cast<QWidget*>(x_), static_cast<QWidget*>(y_),
                            static_cast<QWidget*>(figure_), static_cast<QWidget*>(sweeps_)})
        widget->setEnabled(any);
    if (!any) {
        chart_->clear();
        return;
    }
    map_ = sweepHeatMap(members, static_cast<RunAxis>(x_->currentData().toInt()),
                        static_cast<RunAxis>(y_->currentData().toInt()),
                        static_cast<RunFigure>(figure_->currentData().toInt()));
    chart_->setHeatMap(map_);
}

void SweepPanel::watchQueue() {
    const bool any = !folder_.isEmpty();
    if (!isVisible() && any)
        return;
    const bool works = any && inspect_lock(nativePath(folder_) / "lock").state != LockState::free;
    int finished = 0, failed = 0, running = 0;
    const std::vector<const RunFollower*> members = runs();
    for (const RunFollower* run : members) {
        finished += run->phase() == RunPhase::Finished;
        failed += run->phase() == RunPhase::Failed;
        running += run->phase() == RunPhase::Running;
    }
    const int left = static_cast<int>(members.size()) - finished - failed - running;
    state_->setText(!any ? QString()
                         : tr("%1 of %2 finished, %3 running, %4 failed, %5 waiting. %6")
                               .arg(finished)
                               .arg(members.size())
                               .arg(running)
                               .arg(failed)
                               .arg(left)
                               .arg(works ? tr("The queue is at work.") : tr("The queue rests.")));
    resume_->setEnabled(any && !works && left > 0);
    stop_->setEnabled(works);
    jobs_->setEnabled(any && !works);
}

} // namespace cuset
