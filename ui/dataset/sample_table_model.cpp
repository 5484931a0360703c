#include "ui/dataset/sample_table_model.h"

#include <array>

#include <QFont>
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
    {QT_TRANSLATE_NOOP("SampleTable", "Push"),
     QT_TRANSLATE_NOOP("SampleTable",
                       "Push of one training step in this sample: the chosen objective's weight "
                       "times 1 - c, summed over its tokens")},
    {QT_TRANSLATE_NOOP("SampleTable", "Push S"),
     QT_TRANSLATE_NOOP("SampleTable", "Share of that push on CUDA-sensitive tokens")},
    {QT_TRANSLATE_NOOP("SampleTable", "Lowest"),
     QT_TRANSLATE_NOOP("SampleTable",
                       "Confidence of the sample's %1. Lines and statements of at least 3 tokens "
                       "count. View > Gutter chooses what is looked at.")},
    {QT_TRANSLATE_NOOP("SampleTable", "Tags"),
     QT_TRANSLATE_NOOP("SampleTable",
                       "Tags, with commas between them; double click or F2 to change them. "
                       "Filter with tag = \"name\"")},
    {QT_TRANSLATE_NOOP("SampleTable", "Note"),
     QT_TRANSLATE_NOOP("SampleTable", "Your note; double click or F2 to change it")},
}};

QString percent(double share) {
    return QString::number(share * 100, 'f', 0) + QLatin1Char('%');
}

} // namespace

SampleTableModel::SampleTableModel(Workspace* workspace, AnalysisState* analysis,
                                   KindFigures* kinds, UnitFigures* units, NoteState* notes,
                                   QObject* parent)
    : QAbstractTableModel(parent)
    , workspace_(workspace)
    , analysis_(analysis)
    , kinds_(kinds)
    , units_(units)
    , notes_(notes)
    , rows_(workspace->sampleCount()) {
    connect(workspace_, &Workspace::samplesReset, this, [this] {
        beginResetModel();
        rows_ = workspace_->sampleCount();
        endResetModel();
    });
    const auto all = [this] { figuresChanged(Id, ColumnCount - 1); };
    connect(workspace_, &Workspace::scoresChanged, this, all);
    connect(analysis_, &AnalysisState::corpusReset, this, all);
    connect(kinds_, &KindFigures::selectionChanged, this, all);
    connect(analysis_, &AnalysisState::corpusChanged, this,
            [this] { figuresChanged(Difficulty, LowestWindow); });
    connect(notes_, &NoteState::changed, this, all);
    connect(kinds_, &KindFigures::changed, this, [this] { figuresChanged(Push, PushSensitive); });
    connect(units_, &UnitFigures::changed, this,
            [this] { figuresChanged(LowestUnit, LowestUnit); });
    connect(units_, &UnitFigures::unitChanged, this,
            [this] { emit headerDataChanged(Qt::Horizontal, LowestUnit, LowestUnit); });
}

bool SampleTableModel::followsThresholds(int column) {
    return column >= Difficulty && column <= LowestWindow && column != Cuda;
}

void SampleTableModel::figuresChanged(int first, int last) {
    if (rows_ > 0)
        emit dataChanged(index(0, first), index(rows_ - 1, last));
}

int SampleTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int SampleTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

std::optional<double> SampleTableModel::number(int row, int column) const {
    const SampleSummary* summary = analysis_->sample(row);
    if (!summary)
        return std::nullopt;
    switch (column) {
    case Tokens:
        return static_cast<double>(summary->tokens);
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
    case LowestWindow:
        return static_cast<double>(summary->min_window_begin);
    case Picked:
        return static_cast<double>(kinds_->selectedTokens(analysis_->corpusIndex(row)));
    case Push:
    case PushSensitive: {
        const PushTotals* push = kinds_->samplePush(analysis_->corpusIndex(row));
        if (!push)
            return std::nullopt;
        return column == Push ? push->total : push->sensitive_share();
    }
    case LowestUnit: {
        const SpanConfidence* low = units_->lowest(analysis_->corpusIndex(row));
        return low ? std::optional(static_cast<double>(low->confidence(units_->how())))
                   : std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

QVariant SampleTableModel::value(int row, int column) const {
    if (column == Id)
        return workspace_->sampleId(row);
    if (column == Tags || column == Note)
        return noted(row, column);
    const std::optional<double> found = number(row, column);
    return found ? QVariant(*found) : QVariant();
}

QVariant SampleTableModel::noted(int row, int column) const {
    const SampleNote* note = notes_->find(workspace_->sampleId(row));
    if (!note)
        return QString();
    return QString::fromStdString(column == Tags ? join_tags(note->tags) : note->text);
}

bool SampleTableModel::isQuarantined(int row) const {
    const SampleNote* note = notes_->find(workspace_->sampleId(row));
    return note && note->quarantined;
}

QString SampleTableModel::searchText(int row) const {
    const std::string_view prompt = workspace_->prompt(row);
    const std::string_view response = workspace_->response(row);
    return workspace_->sampleId(row) + QLatin1Char('\n')
        + QString::fromUtf8(prompt.data(), static_cast<qsizetype>(prompt.size()))
        + QLatin1Char('\n')
        + QString::fromUtf8(response.data(), static_cast<qsizetype>(response.size()))
        + QLatin1Char('\n') + noted(row, Tags).toString() + QLatin1Char('\n')
        + noted(row, Note).toString();
}

QString SampleTableModel::toolTip(int row, int column) const {
    if (column == Note || column == Tags) {
        const QString text = noted(row, column).toString();
        return text.isEmpty() ? QString() : plainToolTip(text.left(2000));
    }
    if (column != Id)
        return {};
    QString text = visibleText(workspace_->sampleId(row).toStdString(), 200) + QLatin1Char('\n')
        + visibleText(workspace_->prompt(row), 300);
    if (isQuarantined(row))
        text += QLatin1Char('\n')
            + (notes_->notes().leave_out_quarantined
                   ? tr("Quarantined: left out of all figures and of training.")
                   : tr("Quarantined, but counted: see Analysis, Leave quarantined samples out."));
    return plainToolTip(text);
}

QString SampleTableModel::shown(int row, int column) const {
    const QVariant number = value(row, column);
    switch (column) {
    case Id:
    case Tags:
    case Note:
        return visibleText(number.toString().toStdString(), 80);
    case Kept:
    case Cuda:
    case Confident:
    case PushSensitive:
        return number.isValid() ? percent(number.toDouble()) : QStringLiteral("\u2013");
    case Tokens:
    case LowestWindow:
    case Picked:
        return number.isValid() ? QString::number(number.toLongLong()) : QStringLiteral("\u2013");
    case Push:
        return number.isValid() ? QString::number(number.toDouble(), 'f', 1)
                                : QStringLiteral("\u2013");
    default:
        return number.isValid() ? QString::number(number.toDouble(), 'f', 2)
                                : QStringLiteral("\u2013");
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
    case textRole:
        return searchText(row);
    case Qt::EditRole:
        return column == Tags || column == Note ? noted(row, column) : QVariant();
    case Qt::FontRole:
        if (column == Id && isQuarantined(row)) {
            QFont font;
            font.setStrikeOut(true);
            return font;
        }
        return {};
    case Qt::ForegroundRole: // quarantined samples and those without a chosen token step back
        if (isQuarantined(row)
            || (!kinds_->density().x.empty()
                && kinds_->selectedTokens(analysis_->corpusIndex(row)) == 0))
            return QGuiApplication::palette().color(QPalette::PlaceholderText);
        return {};
    case Qt::TextAlignmentRole:
        return column == Id || column == Tags || column == Note
            ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return toolTip(row, column);
    case Qt::DisplayRole:
        return shown(row, column);
    default:
        return {};
    }
}

Qt::ItemFlags SampleTableModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == Tags || index.column() == Note ? flags | Qt::ItemIsEditable : flags;
}

bool SampleTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::EditRole)
        return false;
    const QString id = workspace_->sampleId(index.row());
    if (index.column() == Tags)
        notes_->setTags(id, value.toString());
    else if (index.column() == Note)
        notes_->setText(id, value.toString());
    else
        return false;
    return true;
}

QVariant SampleTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const ColumnText& texts = columnTexts[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return QCoreApplication::translate("SampleTable", texts.title);
    if (role == Qt::ToolTipRole) {
        const QString text = QCoreApplication::translate("SampleTable", texts.explanation);
        return plainToolTip(section == LowestUnit ? text.arg(units_->title()) : text);
    }
    if (role == Qt::TextAlignmentRole)
        return section == Id || section == Tags || section == Note
            ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

} // namespace cuset
