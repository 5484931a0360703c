#include "ui/regions/lowest_table_model.h"

#include <array>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

struct ColumnText {
    const char* title;
    const char* explanation;
};

constexpr std::array<ColumnText, LowestTableModel::ColumnCount> columnTexts{{
    {QT_TRANSLATE_NOOP("LowestTable", "Mean"),
     QT_TRANSLATE_NOOP("LowestTable", "Mean confidence of its tokens (Eq. 1)")},
    {QT_TRANSLATE_NOOP("LowestTable", "Low"),
     QT_TRANSLATE_NOOP("LowestTable", "Lowest confidence of its tokens (Eq. 1)")},
    {QT_TRANSLATE_NOOP("LowestTable", "Tok"),
     QT_TRANSLATE_NOOP("LowestTable", "Tokens that share at least one byte with it")},
    {QT_TRANSLATE_NOOP("LowestTable", "Kinds"),
     QT_TRANSLATE_NOOP("LowestTable",
                       "Letters of the kinds of CUDA-sensitive span that its tokens have; k for a "
                       "kernel body")},
    {QT_TRANSLATE_NOOP("LowestTable", "Sample"),
     QT_TRANSLATE_NOOP("LowestTable", "The sample's id")},
    {QT_TRANSLATE_NOOP("LowestTable", "Line"),
     QT_TRANSLATE_NOOP("LowestTable", "Line of its first byte in the response")},
    {QT_TRANSLATE_NOOP("LowestTable", "Text"),
     QT_TRANSLATE_NOOP("LowestTable", "What the response says there")},
}};

constexpr std::size_t textBytes = 400;
constexpr int shownUnits = 120;

QString signs(LabelBits labels) {
    QString letters;
    if (labels & kernel_bit)
        letters += QLatin1Char('k');
    for (int kind = 0; kind < sensitive_kind_count; ++kind)
        if (labels & bits_of(static_cast<SensitiveKind>(kind)))
            letters += kindSign(static_cast<SensitiveKind>(kind));
    return letters;
}

} // namespace

LowestTableModel::LowestTableModel(LowestState* lowest, QObject* parent)
    : QAbstractTableModel(parent)
    , lowest_(lowest) {
    connect(lowest_, &LowestState::changed, this, [this] {
        beginResetModel();
        rows_ = static_cast<int>(lowest_->units().size());
        endResetModel();
    });
}

int LowestTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int LowestTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LowestTableModel::value(const LowUnit& low, int row, int column) const {
    switch (column) {
    case Mean:
        return static_cast<double>(low.unit.mean);
    case Minimum:
        return static_cast<double>(low.unit.minimum);
    case Tokens:
        return low.unit.tokens;
    case Sample: // and the list's own order within a sample
        return static_cast<qlonglong>(low.sample) * rows_ + row;
    case Line:
        return low.line;
    default:
        return text(low, column);
    }
}

QString LowestTableModel::text(const LowUnit& low, int column) const {
    switch (column) {
    case Mean:
        return QString::number(static_cast<double>(low.unit.mean), 'f', 3);
    case Minimum:
        return QString::number(static_cast<double>(low.unit.minimum), 'f', 3);
    case Tokens:
        return QString::number(low.unit.tokens);
    case Kinds:
        return signs(low.unit.labels);
    case Sample:
        return visibleText(lowest_->scores()->id(low.sample), shownUnits);
    case Line:
        return QString::number(low.line);
    default:
        return visibleText(unit_text(*lowest_->scores(), low, textBytes), shownUnits);
    }
}

QVariant LowestTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const LowUnit& low = lowest_->units()[static_cast<std::size_t>(index.row())];
    const bool words =
        index.column() == Kinds || index.column() == Sample || index.column() == Text;
    switch (role) {
    case Qt::DisplayRole:
        return text(low, index.column());
    case sortRole:
        return value(low, index.row(), index.column());
    case Qt::TextAlignmentRole:
        return words ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                     : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return plainToolTip(
            QStringLiteral("%1:%2\n%3")
                .arg(text(low, Sample), text(low, Line),
                     QString::fromStdString(joined_label_names(low.unit.labels)))
                .trimmed()
            + QLatin1Char('\n')
            + visibleText(unit_text(*lowest_->scores(), low, textBytes), shownUnits * 3));
    default:
        return {};
    }
}

QVariant LowestTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const ColumnText& texts = columnTexts[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return QCoreApplication::translate("LowestTable", texts.title);
    if (role == Qt::ToolTipRole)
        return plainToolTip(QCoreApplication::translate("LowestTable", texts.explanation));
    if (role == Qt::TextAlignmentRole)
        return section == Kinds || section == Sample || section == Text
            ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
            : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

} // namespace cuset
