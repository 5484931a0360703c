#include "ui/training/run_charts.h"

#include <algorithm>

#include <QScrollBar>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr std::size_t pointsATurn = 50000;

} // namespace

RunCharts::RunCharts(QWidget* parent)
    : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setWhatsThis(tr("The figures of the selected runs by step. Wheel or drag zooms into steps, a "
                    "double click shows all again; the context menu has the log axis, smoothing "
                    "and exports."));
    auto* inside = new QWidget(this);
    grid_ = new QGridLayout(inside);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setSpacing(fontMetrics().height() / 3);
    setWidget(inside);
    using S = StepEvent;
    using E = EvaluationEvent;
    addFigure({tr("objective"),
               tr("The loss that is minimised, reduced over the step"),
               {{{}, &S::loss, nullptr}},
               true,
               true,
               nullptr});
    addFigure({tr("NLL (nats per token)"),
               tr("Plain negative log-likelihood of the response tokens, mean of -ln p; the same "
                  "for every objective"),
               {{tr("training"), &S::nll, nullptr}, {tr("validation"), nullptr, &E::loss}},
               true,
               true,
               nullptr});
    addFigure({tr("mean confidence"),
               tr("Mean probability of the step's CUDA-neutral and CUDA-sensitive tokens"),
               {{tr("neutral"), &S::neutral_confidence, nullptr},
                {tr("sensitive"), &S::sensitive_confidence, nullptr}},
               true,
               false,
               nullptr});
    addFigure({tr("share of tokens"),
               tr("Share of the step's response tokens that are confident (c > tau, Eq. 2) and "
                  "that are supervised (weight above 0)"),
               {{tr("confident"), &S::confident_share, nullptr},
                {tr("supervised"), &S::supervised_share, nullptr}},
               true,
               false,
               nullptr});
    addFigure({tr("mean w_n"),
               tr("Mean weight of the step's samples (Eq. 8)"),
               {{{}, &S::mean_weight, nullptr}},
               true,
               false,
               nullptr});
    addFigure({tr("gradient norm"),
               tr("L2 norm of the gradient before clipping"),
               {{{}, &S::grad_norm, nullptr}},
               true,
               true,
               nullptr});
    addFigure({tr("learning rate"),
               tr("Of the optimiser at that step"),
               {{{}, &S::learning_rate, nullptr}},
               false,
               false,
               nullptr});
    addFigure({tr("tokens/s"),
               tr("Tokens of prompts and responses each second"),
               {{{}, &S::tokens_per_second, nullptr}},
               true,
               false,
               nullptr});
    addFigure(
        {tr("memory (GiB)"), tr("Memory of the training process"), {{}}, false, false, nullptr});
    timer_.setInterval(0);
    connect(&timer_, &QTimer::timeout, this, &RunCharts::feed);
    place();
}

void RunCharts::addFigure(Figure figure) {
    auto* chart = new LossChart(widget());
    chart->setYTitle(figure.title);
    chart->setAccessibleName(figure.title);
    chart->setEmptyText(tr("%1: select a run").arg(figure.title));
    chart->setSmoothing(figure.smoothed ? smoothing_ : 0);
    chart->setWhatsThis(figure.explanation);
    chart->setMinimumHeight(fontMetrics().height() * 9);
    connect(chart, &ChartPanel::exported, this, &RunCharts::exported);
    connect(chart, &ChartPanel::exportFailed, this, &RunCharts::exportFailed);
    figure.chart = chart;
    figures_.push_back(std::move(figure));
}

std::vector<LossChart*> RunCharts::charts() const {
    std::vector<LossChart*> charts;
    for (const Figure& figure : figures_)
        charts.push_back(figure.chart);
    return charts;
}

void RunCharts::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    place();
}

// As many columns as keep a chart readable, as many in each row as can be.
void RunCharts::place() {
    const int narrowest = fontMetrics().height() * 17;
    const int count = static_cast<int>(figures_.size());
    const int most = std::clamp(viewport()->width() / narrowest, 1, 5);
    const int rows = (count + most - 1) / most;
    const int columns = (count + rows - 1) / rows;
    if (columns == columns_)
        return;
    for (int i = 0; i < count; ++i)
        grid_->addWidget(figures_[static_cast<std::size_t>(i)].chart, i / columns, i % columns);
    for (int column = 0; column < std::max(columns, columns_); ++column)
        grid_->setColumnStretch(column, column < columns ? 1 : 0);
    for (int row = 0; row < count; ++row)
        grid_->setRowStretch(row, row * columns < count ? 1 : 0);
    columns_ = columns;
}

void RunCharts::setRuns(const std::vector<RunFollower*>& runs) {
    if (runs == runs_)
        return;
    for (RunFollower* run : runs_) {
        disconnect(run, nullptr, this, nullptr);
        if (std::find(runs.begin(), runs.end(), run) == runs.end())
            run->setPointsWanted(false);
    }
    runs_ = runs;
    waiting_.clear();
    for (const Figure& figure : figures_)
        addSeries(figure);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        RunFollower* run = runs_[i];
        connect(
            run, &RunFollower::pointsChanged, this,
            [this, i](std::size_t step, std::size_t evaluation) { enqueue(i, step, evaluation); });
        run->setPointsWanted(true);
        if (!run->steps().empty() || !run->evaluations().empty())
            enqueue(i, 0, 0);
    }
}

// A run has one colour in all charts. Where several have several curves in one, the line's style
// says which curve it is.
void RunCharts::addSeries(const Figure& figure) const {
    figure.chart->clear();
    const bool both = runs_.size() > 1 && figure.curves.size() > 1;
    QStringList keys;
    for (const Curve& curve : figure.curves)
        keys += curve.name;
    figure.chart->setStyleKeys(both ? keys : QStringList());
    for (int run = 0; run < static_cast<int>(runs_.size()); ++run) {
        const QString name =
            visibleText(runs_[static_cast<std::size_t>(run)]->name().toStdString(), 40);
        for (int curve = 0; curve < static_cast<int>(keys.size()); ++curve) {
            if (both)
                figure.chart->addSeries(QStringLiteral("%1 %2").arg(name, keys[curve]), run, curve);
            else
                figure.chart->addSeries(keys[curve].isEmpty() ? name : keys[curve]);
        }
    }
}

void RunCharts::enqueue(std::size_t run, std::size_t firstStep, std::size_t firstEvaluation) {
    for (std::size_t figure = 0; figure < figures_.size(); ++figure)
        waiting_.push_back({run, figure, firstStep, firstEvaluation});
    timer_.start();
}

// One piece a turn of the event loop.
void RunCharts::feed() {
    if (waiting_.empty()) {
        timer_.stop();
        return;
    }
    Piece piece = waiting_.front();
    waiting_.pop_front();
    feedPiece(piece);
}

void RunCharts::feedPiece(const Piece& piece) {
    const RunFollower& run = *runs_[piece.run];
    Figure& figure = figures_[piece.figure];
    const std::size_t last = std::min(run.steps().size(), piece.step + pointsATurn);
    const int base = static_cast<int>(piece.run * figure.curves.size());
    for (std::size_t c = 0; c < figure.curves.size(); ++c) {
        const Curve& curve = figure.curves[c];
        const int series = base + static_cast<int>(c);
        std::vector<double> x, y;
        if (curve.evaluation) {
            if (piece.evaluation == 0)
                figure.chart->clearSeries(series);
            for (std::size_t i = piece.evaluation; i < run.evaluations().size(); ++i) {
                x.push_back(static_cast<double>(run.evaluations()[i].step));
                y.push_back(run.evaluations()[i].*curve.evaluation);
            }
        } else {
            if (piece.step == 0)
                figure.chart->clearSeries(series);
            for (std::size_t i = piece.step; i < last; ++i) {
                const StepEvent& step = run.steps()[i];
                x.push_back(static_cast<double>(step.step));
                y.push_back(curve.step ? step.*curve.step
                                       : static_cast<double>(step.memory_bytes) / (1 << 30));
            }
        }
        figure.chart->append(series, x, y);
    }
    if (last < run.steps().size())
        waiting_.push_front({piece.run, piece.figure, last, run.evaluations().size()});
}

void RunCharts::setSmoothing(double weight) {
    smoothing_ = weight;
    for (Figure& figure : figures_)
        if (figure.smoothed)
            figure.chart->setSmoothing(weight);
}

void RunCharts::setLogAxis(bool log) {
    for (Figure& figure : figures_)
        if (figure.mayBeLog)
            figure.chart->setLogAxis(log);
}

std::size_t RunCharts::pointCount(int chart, int run) const {
    const Figure& figure = figures_.at(static_cast<std::size_t>(chart));
    const int series = run * static_cast<int>(figure.curves.size());
    return series < figure.chart->seriesCount() ? figure.chart->smoothed(series).size() : 0;
}

} // namespace cuset
