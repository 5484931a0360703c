#include "ui/training/run_table_model.h"

#include <array>
#include <cmath>

#include <QDateTime>
#include <QDir>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

struct ColumnText {
    const char* title;
    const char* explanation;
};

constexpr std::array<ColumnText, RunTableModel::ColumnCount> columnTexts{{
    {QT_TRANSLATE_NOOP("RunTable", "Run"), QT_TRANSLATE_NOOP("RunTable", "The run folder's name")},
    {QT_TRANSLATE_NOOP("RunTable", "State"),
     QT_TRANSLATE_NOOP("RunTable",
                       "waiting (in a queue), running, elsewhere (locked by another machine), "
                       "finished, stopped (saved, can go on), failed, crashed")},
    {QT_TRANSLATE_NOOP("RunTable", "Objective"),
     QT_TRANSLATE_NOOP("RunTable", "What is minimised")},
    {QT_TRANSLATE_NOOP("RunTable", "\xcf\x84"),
     QT_TRANSLATE_NOOP("RunTable", "Threshold tau of the confidence mask (Eq. 2)")},
    {QT_TRANSLATE_NOOP("RunTable", "\xce\xbb"),
     QT_TRANSLATE_NOOP("RunTable", "What CUDA tokens weigh more, lambda (Eq. 4)")},
    {QT_TRANSLATE_NOOP("RunTable", "l"),
     QT_TRANSLATE_NOOP("RunTable", "Tokens of the window whose mean gives w_n (Eq. 5)")},
    {QT_TRANSLATE_NOOP("RunTable", "Best val."),
     QT_TRANSLATE_NOOP("RunTable",
                       "Lowest validation NLL so far: mean of -ln p over response tokens, nats")},
    {QT_TRANSLATE_NOOP("RunTable", "Loss"),
     QT_TRANSLATE_NOOP("RunTable", "The objective's value at the last step")},
    {QT_TRANSLATE_NOOP("RunTable", "Step"),
     QT_TRANSLATE_NOOP("RunTable", "Optimiser steps done, of all")},
    {QT_TRANSLATE_NOOP("RunTable", "Left"),
     QT_TRANSLATE_NOOP("RunTable", "Time left by the pace so far")},
    {QT_TRANSLATE_NOOP("RunTable", "Took"),
     QT_TRANSLATE_NOOP("RunTable", "Time from the start to the last event, pauses left out")},
    {QT_TRANSLATE_NOOP("RunTable", "Begun"),
     QT_TRANSLATE_NOOP("RunTable", "When the run was started first")},
    {QT_TRANSLATE_NOOP("RunTable", "Notes"),
     QT_TRANSLATE_NOOP("RunTable",
                       "Yours; double-click or F2 to write. Kept in notes.txt of the "
                       "run folder")},
}};

const QString dash = QStringLiteral("\u2013");

QString figure(double value) {
    if (!std::isfinite(value))
        return dash;
    return QString::number(value, 'g', 4);
}

bool usesMask(const Objective& objective, int column) {
    if (objective.name == TokenObjective::profit)
        return column == RunTableModel::Tau;
    if (objective.name != TokenObjective::cuset)
        return false;
    return column == RunTableModel::Tau   ? objective.mask.confidence_mask
        : column == RunTableModel::Lambda ? objective.mask.cuda_mask
                                          : objective.mask.region_weight;
}

QString safe(const std::string& text, int units = 200) {
    return visibleText(text, units);
}

} // namespace

QString durationText(double seconds) {
    if (!(seconds >= 0) || seconds > 1e9)
        return dash;
    const auto whole = static_cast<qint64>(seconds + 0.5);
    if (whole >= 3600)
        return QStringLiteral("%1:%2:%3")
            .arg(whole / 3600)
            .arg(whole / 60 % 60, 2, 10, QLatin1Char('0'))
            .arg(whole % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
}

QString momentText(const std::string& time) {
    const double seconds = event_seconds(time);
    if (!std::isfinite(seconds))
        return dash;
    const QDateTime moment = QDateTime::fromSecsSinceEpoch(static_cast<qint64>(seconds));
    const bool today = moment.date() == QDate::currentDate();
    return moment.toString(today ? QStringLiteral("HH:mm") : QStringLiteral("yyyy-MM-dd HH:mm"));
}

RunTableModel::RunTableModel(RunRegistry* registry, QObject* parent)
    : QAbstractTableModel(parent)
    , registry_(registry)
    , rows_(static_cast<int>(registry->runs().size())) {
    connect(registry_, &RunRegistry::runAboutToBeAdded, this,
            [this](int row) { beginInsertRows({}, row, row); });
    connect(registry_, &RunRegistry::runAdded, this, [this] {
        ++rows_;
        endInsertRows();
    });
    connect(registry_, &RunRegistry::runAboutToBeRemoved, this,
            [this](int row) { beginRemoveRows({}, row, row); });
    connect(registry_, &RunRegistry::runRemoved, this, [this] {
        --rows_;
        endRemoveRows();
    });
    connect(registry_, &RunRegistry::runChanged, this, [this](int row) {
        if (row < rows_)
            emit dataChanged(index(row, 0), index(row, ColumnCount - 1));
    });
}

RunFollower* RunTableModel::run(int row) const {
    return row >= 0 && row < rows_ ? registry_->runs()[static_cast<std::size_t>(row)] : nullptr;
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunTableModel::value(const RunFollower& run, int column) const {
    const RunSummary& s = run.summary();
    switch (column) {
    case State:
        return static_cast<int>(run.phase());
    case Tau:
        return run.config() ? run.config()->objective.mask.tau : no_figure;
    case Lambda:
        return run.config() ? run.config()->objective.mask.lambda : no_figure;
    case Window:
        return run.config() ? run.config()->objective.mask.window : 0;
    case BestValidation:
        return s.best_evaluation.step > 0 ? s.best_evaluation.loss : no_figure;
    case LastLoss:
        return s.last_step.step > 0 ? s.last_step.loss : no_figure;
    case Progress:
        return static_cast<qlonglong>(s.last_step.step);
    case TimeLeft:
        return run.isOver() ? no_figure : s.last_step.eta_seconds;
    case Duration:
        return s.seconds();
    case Begun:
        return QString::fromStdString(s.first_time);
    default:
        return text(run, column);
    }
}

QString RunTableModel::settingText(const RunFollower& run, int column) const {
    if (!run.config())
        return dash;
    const auto& o = run.config()->objective;
    if (column == Objective)
        return QString::fromStdString(
            std::string(token_objective_names[static_cast<std::size_t>(o.name)]));
    if (!usesMask(o, column))
        return dash;
    return column == Window ? QString::number(o.mask.window)
                            : figure(column == Tau ? o.mask.tau : o.mask.lambda);
}

QString RunTableModel::text(const RunFollower& run, int column) const {
    const RunSummary& s = run.summary();
    const QLocale locale;
    switch (column) {
    case Name:
        return run.sweep().isEmpty()
            ? safe(run.name().toStdString(), 80)
            : safe((QDir(run.sweep()).dirName() + QLatin1Char('/') + run.name()).toStdString(), 80);
    case State:
        return phaseTitle(run.phase());
    case Objective:
    case Tau:
    case Lambda:
    case Window:
        return settingText(run, column);
    case BestValidation:
        return s.best_evaluation.step > 0 ? figure(s.best_evaluation.loss) : dash;
    case LastLoss:
        return s.last_step.step > 0 ? figure(s.last_step.loss) : dash;
    case Progress:
        if (s.started.total_steps <= 0)
            return dash;
        return QStringLiteral("%1/%2").arg(
            locale.toString(static_cast<qlonglong>(s.last_step.step)),
            locale.toString(static_cast<qlonglong>(s.started.total_steps)));
    case TimeLeft:
        return run.isOver() || s.last_step.step == 0 ? dash : durationText(s.last_step.eta_seconds);
    case Duration:
        return s.session_begin.empty() ? dash : durationText(s.seconds());
    case Begun:
        return momentText(s.first_time);
    default:
        return safe(run.notes().section(QLatin1Char('\n'), 0, 0).toStdString());
    }
}

QString RunTableModel::toolTip(const RunFollower& run, int column) {
    if (column == Notes)
        return run.notes().isEmpty() ? tr("Double-click or F2 to write a note") : run.notes();
    QStringList lines{run.folder()};
    if (!run.problem().isEmpty())
        lines += run.problem();
    if (!run.explanation().isEmpty())
        lines += run.explanation();
    const RunSummary& s = run.summary();
    if (!s.started.formula.empty())
        lines += safe(s.started.formula, 400);
    if (s.best_evaluation.step > 0)
        lines += tr("best validation NLL %1 at step %2")
                     .arg(figure(s.best_evaluation.loss))
                     .arg(s.best_evaluation.step);
    if (!s.last_warning.message.empty())
        lines += safe(s.last_warning.level + ": " + s.last_warning.message, 400);
    return lines.join(QLatin1Char('\n'));
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RunFollower& run = *registry_->runs()[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case sortRole:
        return value(run, column);
    case progressRole: {
        const RunSummary& s = run.summary();
        return s.started.total_steps > 0
            ? static_cast<double>(s.last_step.step) / static_cast<double>(s.started.total_steps)
            : 0.0;
    }
    case Qt::EditRole:
        return column == Notes ? QVariant(run.notes()) : QVariant(text(run, column));
    case Qt::DisplayRole:
        return text(run, column);
    case Qt::ToolTipRole:
        return plainToolTip(toolTip(run, column));
    case Qt::TextAlignmentRole:
        return column == Name || column == State || column == Objective || column == Notes
            ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole: {
        const SeriesColors colors = seriesColors(QGuiApplication::palette());
        if (column != State)
            return {};
        if (run.phase() == RunPhase::Failed || run.phase() == RunPhase::Interrupted)
            return readableOn(colors.warning, QGuiApplication::palette().color(QPalette::Base));
        if (run.phase() == RunPhase::Running)
            return readableOn(colors.accent, QGuiApplication::palette().color(QPalette::Base));
        return {};
    }
    default:
        return {};
    }
}

bool RunTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid)
        || index.column() != Notes)
        return false;
    registry_->runs()[static_cast<std::size_t>(index.row())]->setNotes(value.toString());
    return true;
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == Notes ? flags | Qt::ItemIsEditable : flags;
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const ColumnText& texts = columnTexts[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return QCoreApplication::translate("RunTable", texts.title);
    if (role == Qt::ToolTipRole)
        return plainToolTip(QCoreApplication::translate("RunTable", texts.explanation));
    if (role == Qt::TextAlignmentRole)
        return section == Name || section == State || section == Objective || section == Notes
            ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

ChartTable RunTableModel::table() const {
    ChartTable table{{QStringLiteral("run"), QStringLiteral("state"), QStringLiteral("objective"),
                      QStringLiteral("tau"), QStringLiteral("lambda"), QStringLiteral("window"),
                      QStringLiteral("best_validation"), QStringLiteral("loss"),
                      QStringLiteral("step"), QStringLiteral("seconds"), QStringLiteral("notes")},
                     {}};
    for (const RunFollower* run : registry_->runs()) {
        const auto number = [&](int column) { return csvNumber(value(*run, column).toDouble()); };
        table.rows.push_back({run->folder(), phaseTitle(run->phase()), text(*run, Objective),
                              number(Tau), number(Lambda), number(Window), number(BestValidation),
                              number(LastLoss), number(Progress), number(Duration), run->notes()});
    }
    return table;
}

} // namespace cuset
