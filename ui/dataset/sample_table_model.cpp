#include "ui/dataset/sample_table_model.h"

#include <array>

#include <QGuiApplication>
#include <QPalette>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

struct ColumnText {
    const char* title;
    const char* explanation;
};

constexpr std::array<ColumnText, SampleTableModel::ColumnCount> columnTexts{{
    {QT_TRANSLATE_NOOP("SampleTable", "Sample"),
     QT_TRANSLATE_NOOP("SampleTable", "The sample's id")},
    {QT_TRANSLATE_NOOP("SampleTable", "Tok"),
     QT_TRANSLATE_NOOP("SampleTable", "Response tokens, T")},
    {QT_TRANSLATE_NOOP("SampleTable", "c"),
     QT_TRANSLATE_NOOP("SampleTable", "Mean confidence: mean of c over the response")},
    {QT_TRANSLATE_NOOP("SampleTable", "C"),
     QT_TRANSLATE_NOOP("SampleTable",
                       "Difficulty C_n: the lowest window's mean confidence (Eq. 7)")},
    {QT_TRANSLATE_NOOP("SampleTable", "w"),
     QT_TRANSLATE_NOOP("SampleTable", "Sample weight w_n = 1 - C_n (Eq. 8)")},
    {QT_TRANSLATE_NOOP("SampleTable", "Kept"),
     QT_TRANSLATE_NOOP("SampleTable", "Share of tokens with M > 0: those that training would see")},
    {QT_TRANSLATE_NOOP("SampleTable", "CUDA"),
     QT_TRANSLATE_NOOP("SampleTable",
                       "Share of tokens in kernel bodies and launch configurations (Eq. 3)")},
    {QT_TRANSLATE_NOOP("SampleTable", "c > \xcf\x84"),
     QT_TRANSLATE_NOOP("SampleTable", "Share of tokens with confidence above tau (Eq. 2)")},
    {QT_TRANSLATE_NOOP("SampleTable", "M"), QT_TRANSLATE_NOOP("SampleTable", "Mean mask")},
    {QT_TRANSLATE_NOOP("SampleTable", "Low at"),
     QT_TRANSLATE_NOOP("SampleTable", "First token of the window with the lowest mean")},
    {QT_TRANSLATE_NOOP("SampleTable", "Picked"),
     QT_TRANSLATE_NOOP("SampleTable", "Tokens of the kinds that are chosen in the Regions panel")},
}};

QString percent(double share) {
    return QString::number(share * 100, 'f', 0) + QLatin1Char('%');
}

} // namespace

SampleTableModel::SampleTableModel(Workspace* workspace, AnalysisState* analysis,
                                   KindFigures* kinds, QObject* parent)
    : QAbstractTableModel(parent)
    , workspace_(workspace)
    , analysis_(analysis)
    , kinds_(kinds)
    , rows_(workspace->sampleCount()) {
    connect(workspace_, &Workspace::samplesReset, this, [this] {
        beginResetModel();
        rows_ = workspace_->sampleCount();
        endResetModel();
    });
    connect(workspace_, &Workspace::scoresChanged, this, &SampleTableModel::figuresChanged);
    connect(analysis_, &AnalysisState::corpusReset, this, &SampleTableModel::figuresChanged);
    connect(analysis_, &AnalysisState::corpusChanged, this, &SampleTableModel::figuresChanged);
    connect(kinds_, &KindFigures::selectionChanged, this, &SampleTableModel::figuresChanged);
}

void SampleTableModel::figuresChanged() {
    if (rows_ > 0)
        emit dataChanged(index(0, Id), index(rows_ - 1, ColumnCount - 1));
}

int SampleTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int SampleTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant SampleTableModel::value(int row, int column) const {
    if (column == Id)
        return workspace_->sampleId(row);
    const SampleSummary* summary = analysis_->sample(row);
    if (!summary)
        return {};
    switch (column) {
    case Tokens:
        return static_cast<qlonglong>(summary->tokens);
    case Mean:
        return static_cast<double>(summary->mean_confidence);
    case Difficulty:
        return static_cast<double>(summary->difficulty);
    case Weight:
        return static_cast<double>(summary->weight);
    case Kept:
        return static_cast<double>(summary->supervised_share);
    case Cuda:
        return static_cast<double>(summary->cuda_share);
    case Confident:
        return static_cast<double>(summary->confident_share);
    case MeanMask:
        return static_cast<double>(summary->mean_mask);
    case Picked:
        return static_cast<qlonglong>(kinds_->selectedTokens(workspace_->scoredIndex(row)));
    default:
        return summary->min_window_begin;
    }
}

QVariant SampleTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const int row = index.row();
    const int column = index.column();
    switch (role) {
    case sortRole:
        return value(row, column);
    case textRole: {
        const std::string_view prompt = workspace_->prompt(row);
        const std::string_view response = workspace_->response(row);
        return workspace_->sampleId(row) + QLatin1Char('\n')
            + QString::fromUtf8(prompt.data(), static_cast<qsizetype>(prompt.size()))
            + QLatin1Char('\n')
            + QString::fromUtf8(response.data(), static_cast<qsizetype>(response.size()));
    }
    case Qt::ForegroundRole: // samples without a token of the chosen kinds step back
        if (!kinds_->density().x.empty()
            && kinds_->selectedTokens(workspace_->scoredIndex(row)) == 0)
            return QGuiApplication::palette().color(QPalette::PlaceholderText);
        return {};
    case Qt::TextAlignmentRole:
        return column == Id ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        if (column == Id)
            return plainToolTip(visibleText(workspace_->sampleId(row).toStdString(), 200)
                                + QLatin1Char('\n') + visibleText(workspace_->prompt(row), 300));
        return {};
    case Qt::DisplayRole: {
        const QVariant number = value(row, column);
        if (column == Id)
            return visibleText(number.toString().toStdString(), 80);
        if (!number.isValid())
            return QStringLiteral("\u2013");
        if (column == Kept || column == Cuda || column == Confident)
            return percent(number.toDouble());
        if (column == Tokens || column == LowestWindow || column == Picked)
            return QString::number(number.toLongLong());
        return QString::number(number.toDouble(), 'f', 2);
    }
    default:
        return {};
    }
}

QVariant SampleTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const ColumnText& texts = columnTexts[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return QCoreApplication::translate("SampleTable", texts.title);
    if (role == Qt::ToolTipRole)
        return plainToolTip(QCoreApplication::translate("SampleTable", texts.explanation));
    if (role == Qt::TextAlignmentRole)
        return section == Id ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                             : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

} // namespace cuset
