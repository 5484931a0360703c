#include "ui/regions/kind_table_model.h"

#include <array>
#include <cmath>

#include <QFont>
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

constexpr std::array<ColumnText, KindTableModel::ColumnCount> columnTexts{{
    {QT_TRANSLATE_NOOP("KindTable", "Kind"),
     QT_TRANSLATE_NOOP("KindTable", "Kind of CUDA-sensitive span, with its letter in the gutter")},
    {QT_TRANSLATE_NOOP("KindTable", "Tokens"),
     QT_TRANSLATE_NOOP("KindTable",
                       "Tokens of that kind in all scored samples; a token may be of "
                       "several kinds")},
    {QT_TRANSLATE_NOOP("KindTable", "Share"),
     QT_TRANSLATE_NOOP("KindTable", "Share of all response tokens")},
    {QT_TRANSLATE_NOOP("KindTable", "c"),
     QT_TRANSLATE_NOOP("KindTable", "Mean confidence of its tokens (Eq. 1)")},
    {QT_TRANSLATE_NOOP("KindTable", "Low"),
     QT_TRANSLATE_NOOP("KindTable",
                       "Share of the low-confidence windows (64 tokens, mean below that of the "
                       "neutral tokens) that touch one of its tokens")},
    {QT_TRANSLATE_NOOP("KindTable", "Push"),
     QT_TRANSLATE_NOOP("KindTable",
                       "Its share of the push over all tokens, the chosen objective's weight times "
                       "1 - c (for cuset w M (1 - c)): how much of a training step goes into it")},
}};

QString percent(double share) {
    return std::isfinite(share) ? QString::number(share * 100, 'f', 1) + QLatin1Char('%')
                                : QStringLiteral("\u2013");
}

} // namespace

KindTableModel::KindTableModel(KindFigures* figures, QObject* parent)
    : QAbstractTableModel(parent)
    , figures_(figures) {
    connect(figures_, &KindFigures::changed, this, [this] {
        emit dataChanged(index(0, Tokens), index(KindFigures::rowCount - 1, ColumnCount - 1));
    });
}

int KindTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : KindFigures::rowCount;
}

int KindTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString KindTableModel::text(const KindFigures::Row& row, int index, int column) const {
    switch (column) {
    case Kind:
        return index < sensitive_kind_count ? QStringLiteral("%1  %2").arg(
                   kindSign(static_cast<SensitiveKind>(index)), kindRowTitle(index))
                                            : kindRowTitle(index);
    case Tokens:
        return QLocale().toString(static_cast<qlonglong>(row.tokens));
    case Share:
        return percent(row.share);
    case Mean:
        return std::isfinite(row.meanConfidence) ? QString::number(row.meanConfidence, 'f', 3)
                                                 : QStringLiteral("\u2013");
    case LowWindows:
        return percent(row.lowWindows);
    default:
        return percent(row.push);
    }
}

QVariant KindTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const int kind = index.row();
    const bool any = kind >= sensitive_kind_count;
    const KindFigures::Row row = figures_->row(kind);
    switch (role) {
    case Qt::DisplayRole:
        return text(row, kind, index.column());
    case sortRole: {
        const std::array<QVariant, ColumnCount> values{
            kind,           static_cast<qlonglong>(row.tokens),
            row.share,      row.meanConfidence,
            row.lowWindows, row.push};
        return values[static_cast<std::size_t>(index.column())];
    }
    case Qt::ForegroundRole:
        if (index.column() == Kind && !any)
            return kindColor(static_cast<SensitiveKind>(kind), QGuiApplication::palette());
        return {};
    case Qt::FontRole:
        if (any || index.column() == Kind) {
            QFont font;
            font.setBold(true);
            return font;
        }
        return {};
    case Qt::TextAlignmentRole:
        return index.column() == Kind ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                                      : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return headerData(index.column(), Qt::Horizontal, Qt::ToolTipRole);
    default:
        return {};
    }
}

QVariant KindTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    const ColumnText& texts = columnTexts[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return QCoreApplication::translate("KindTable", texts.title);
    if (role == Qt::ToolTipRole)
        return plainToolTip(QCoreApplication::translate("KindTable", texts.explanation));
    if (role == Qt::TextAlignmentRole)
        return section == Kind ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                               : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

ChartTable KindTableModel::table() const {
    ChartTable table{{QStringLiteral("kind"), QStringLiteral("tokens"),
                      QStringLiteral("token_share"), QStringLiteral("mean_confidence"),
                      QStringLiteral("low_window_share"), QStringLiteral("push_share")},
                     {}};
    for (int kind = 0; kind < KindFigures::rowCount; ++kind) {
        const KindFigures::Row row = figures_->row(kind);
        const std::string_view name = kind < sensitive_kind_count
            ? sensitive_kind_names[static_cast<std::size_t>(kind)]
            : std::string_view("sensitive");
        table.rows.push_back({QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size())),
                              QString::number(row.tokens), csvNumber(row.share),
                              csvNumber(row.meanConfidence), csvNumber(row.lowWindows),
                              csvNumber(row.push)});
    }
    return table;
}

} // namespace cuset
