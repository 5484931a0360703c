#include "ui/compare/change_tables.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <QFont>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"
#include "ui/editor/token_colors.h"

namespace cuset {
namespace {

// The columns of both tables after the first.
enum Figure { Tokens = 1, Before, After, Change, LogProb };

struct ColumnText {
    const char* title;
    const char* explanation;
};

constexpr std::array<ColumnText, 6> columnTexts{{
    {"", ""},
    {QT_TRANSLATE_NOOP("ChangeTable", "Tok"),
     QT_TRANSLATE_NOOP("ChangeTable", "Response tokens that were compared")},
    {QT_TRANSLATE_NOOP("ChangeTable", "Before"),
     QT_TRANSLATE_NOOP("ChangeTable", "Mean confidence before: mean of c (Eq. 1)")},
    {QT_TRANSLATE_NOOP("ChangeTable", "After"),
     QT_TRANSLATE_NOOP("ChangeTable", "Mean confidence after")},
    {QT_TRANSLATE_NOOP("ChangeTable", "Change"),
     QT_TRANSLATE_NOOP("ChangeTable", "Mean change of confidence: after - before")},
    {QT_TRANSLATE_NOOP("ChangeTable", "ln p"),
     QT_TRANSLATE_NOOP("ChangeTable",
                       "Mean change of ln p; minus this is the change of the plain loss")},
}};

QVariant figure(const MeanChange& change, int column) {
    switch (column) {
    case Tokens:
        return static_cast<qlonglong>(change.count);
    case Before:
        return change.confidence_before;
    case After:
        return change.confidence_after;
    case Change:
        return change.confidence;
    default:
        return change.log_prob;
    }
}

QString figureText(const MeanChange& change, int column) {
    if (column == Tokens)
        return QLocale().toString(static_cast<qlonglong>(change.count));
    if (change.count == 0)
        return QStringLiteral("\u2013");
    if (column == Before || column == After)
        return QString::number(figure(change, column).toDouble(), 'f', 3);
    return changeText(figure(change, column).toDouble());
}

// Better is blue, worse is orange; the sign says it too.
QVariant figureColor(const MeanChange& change, int column) {
    if ((column != Change && column != LogProb) || change.count == 0)
        return {};
    const QPalette palette = QGuiApplication::palette();
    const double value = figure(change, column).toDouble();
    if (value == 0)
        return {};
    return readableOn(mapColor(ColorMap::Diverging, value < 0 ? 0.1 : 0.9),
                      palette.color(QPalette::Base));
}

QVariant header(int section, Qt::Orientation orientation, int role, const QString& firstTitle,
                const QString& firstHelp) {
    if (orientation != Qt::Horizontal || section < 0
        || section >= static_cast<int>(columnTexts.size()))
        return {};
    const ColumnText& texts = columnTexts[static_cast<std::size_t>(section)];
    const auto text = [&](const char* source, const QString& first) {
        return section == 0 ? first : QCoreApplication::translate("ChangeTable", source);
    };
    if (role == Qt::DisplayRole)
        return text(texts.title, firstTitle);
    if (role == Qt::ToolTipRole)
        return plainToolTip(text(texts.explanation, firstHelp));
    if (role == Qt::TextAlignmentRole)
        return section == 0 ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant alignment(int column) {
    return column == 0 ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                       : QVariant(Qt::AlignRight | Qt::AlignVCenter);
}

QStringList csvRow(const QString& name, const MeanChange& change) {
    return {name,
            QString::number(change.count),
            csvNumber(change.confidence_before),
            csvNumber(change.confidence_after),
            csvNumber(change.confidence),
            csvNumber(change.log_prob)};
}

QStringList csvHeader(const QString& first) {
    return {first,
            QStringLiteral("tokens"),
            QStringLiteral("confidence_before"),
            QStringLiteral("confidence_after"),
            QStringLiteral("confidence_change"),
            QStringLiteral("log_prob_change")};
}

} // namespace

SampleChangeModel::SampleChangeModel(CompareState* state, Workspace* workspace, QObject* parent)
    : QAbstractTableModel(parent)
    , state_(state)
    , workspace_(workspace) {
    connect(state_, &CompareState::currentChanged, this, &SampleChangeModel::update);
    update();
}

void SampleChangeModel::update() {
    const auto figures = state_->figures();
    std::vector<int> samples, entries;
    if (figures) {
        const std::vector<SampleChange>& compared = figures->comparison.samples;
        entries.resize(compared.size());
        std::iota(entries.begin(), entries.end(), 0);
        std::sort(entries.begin(), entries.end(), [&](int a, int b) {
            return compared[static_cast<std::size_t>(a)].index_a
                < compared[static_cast<std::size_t>(b)].index_a;
        });
        for (const int entry : entries)
            samples.push_back(static_cast<int>(compared[static_cast<std::size_t>(entry)].index_a));
    }
    if (samples == samples_) {
        figures_ = figures;
        entries_ = std::move(entries);
        if (!samples_.empty())
            emit dataChanged(index(0, Id),
                             index(static_cast<int>(samples_.size()) - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    figures_ = figures;
    samples_ = std::move(samples);
    entries_ = std::move(entries);
    endResetModel();
}

int SampleChangeModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(samples_.size());
}

int SampleChangeModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

int SampleChangeModel::workspaceRow(int row) const {
    return row >= 0 && row < rowCount()
        ? workspace_->rowOfScored(samples_[static_cast<std::size_t>(row)])
        : -1;
}

int SampleChangeModel::rowOf(int workspaceRow) const {
    const int sample = workspace_->scoredIndex(workspaceRow);
    const auto found = std::lower_bound(samples_.begin(), samples_.end(), sample);
    return found != samples_.end() && *found == sample ? static_cast<int>(found - samples_.begin())
                                                       : -1;
}

QVariant SampleChangeModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto entry = static_cast<std::size_t>(entries_[static_cast<std::size_t>(index.row())]);
    const SampleChange& sample = figures_->comparison.samples[entry];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return column == Id ? visibleText(sample.id, 80) : figureText(sample.change, column);
    case sortRole:
        return column == Id ? QVariant(QString::fromStdString(sample.id))
                            : figure(sample.change, column);
    case Qt::ForegroundRole:
        return figureColor(sample.change, column);
    case Qt::TextAlignmentRole:
        return alignment(column);
    case Qt::ToolTipRole:
        return column == Id ? QVariant(plainToolTip(visibleText(sample.id, 200))) : QVariant();
    default:
        return {};
    }
}

QVariant SampleChangeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    return header(section, orientation, role, tr("Sample"), tr("The sample's id"));
}

ChartTable SampleChangeModel::table() const {
    ChartTable table{csvHeader(QStringLiteral("id")), {}};
    if (figures_)
        for (const SampleChange& sample : figures_->comparison.samples)
            table.rows.push_back(csvRow(QString::fromStdString(sample.id), sample.change));
    return table;
}

KindChangeModel::KindChangeModel(CompareState* state, QObject* parent)
    : QAbstractTableModel(parent)
    , state_(state)
    , figures_(state->figures()) {
    connect(state_, &CompareState::currentChanged, this, [this] {
        figures_ = state_->figures();
        emit dataChanged(index(0, Kind), index(rows - 1, ColumnCount - 1));
    });
}

int KindChangeModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows;
}

int KindChangeModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

MeanChange KindChangeModel::change(int row) const {
    if (!figures_)
        return {};
    const Comparison& comparison = figures_->comparison;
    if (row < 3)
        return row == 0 ? comparison.all : row == 1 ? comparison.sensitive : comparison.neutral;
    return comparison.by_kind[static_cast<std::size_t>(row - 3)];
}

LabelBits KindChangeModel::labelsOf(int row) {
    if (row >= 3)
        return kind_bit(static_cast<SensitiveKind>(row - 3));
    return row == 1 ? static_cast<LabelBits>(~kernel_bit) : LabelBits{0};
}

QVariant KindChangeModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const int row = index.row();
    const int column = index.column();
    const MeanChange figures = change(row);
    const bool isKind = row >= 3;
    switch (role) {
    case Qt::DisplayRole:
        if (column != Kind)
            return figureText(figures, column);
        if (!isKind)
            return row == 0 ? tr("all tokens") : row == 1 ? tr("any sensitive") : tr("neutral");
        return QStringLiteral("%1  %2").arg(kindSign(static_cast<SensitiveKind>(row - 3)),
                                            kindTitle(static_cast<SensitiveKind>(row - 3)));
    case sortRole:
        return column == Kind ? QVariant(row) : figure(figures, column);
    case Qt::ForegroundRole:
        if (column == Kind && isKind)
            return kindColor(static_cast<SensitiveKind>(row - 3), QGuiApplication::palette());
        return figureColor(figures, column);
    case Qt::FontRole:
        if (column == Kind || !isKind) {
            QFont font;
            font.setBold(true);
            return font;
        }
        return {};
    case Qt::TextAlignmentRole:
        return alignment(column);
    default:
        return {};
    }
}

QVariant KindChangeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    return header(section, orientation, role, tr("Tokens"),
                  tr("Class or kind of token, with its letter in the gutter; a token may be of "
                     "several kinds"));
}

ChartTable KindChangeModel::table() const {
    ChartTable table{csvHeader(QStringLiteral("kind")), {}};
    for (int row = 0; row < rows; ++row) {
        const std::string_view name = row == 0 ? std::string_view("all")
            : row == 1                         ? std::string_view("sensitive")
            : row == 2                         ? std::string_view("neutral")
                       : sensitive_kind_names[static_cast<std::size_t>(row - 3)];
        table.rows.push_back(csvRow(
            QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size())), change(row)));
    }
    return table;
}

} // namespace cuset
