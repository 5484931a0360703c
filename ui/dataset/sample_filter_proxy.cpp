#include "ui/dataset/sample_filter_proxy.h"

#include <array>
#include <cmath>
#include <utility>

#include <QRegularExpression>

#include "ui/dataset/sample_table_model.h"

namespace cuset {
namespace {

using Model = SampleTableModel;

// Shares are written in percent, as the table shows them.
struct ConditionName {
    const char* name;
    int column;
    double scale;
};
constexpr std::array<ConditionName, 9> conditionTable{{{"tokens", Model::Tokens, 1},
                                                       {"c", Model::Mean, 1},
                                                       {"C", Model::Difficulty, 1},
                                                       {"w", Model::Weight, 1},
                                                       {"kept", Model::Kept, 100},
                                                       {"cuda", Model::Cuda, 100},
                                                       {"confident", Model::Confident, 100},
                                                       {"M", Model::MeanMask, 1},
                                                       {"low", Model::LowestWindow, 1}}};

} // namespace

SampleFilterProxy::SampleFilterProxy(QObject* parent)
    : QSortFilterProxyModel(parent) {
    setSortRole(Model::sortRole);
    setDynamicSortFilter(false); // rows stay where they are while thresholds move
}

QStringList SampleFilterProxy::conditionNames() {
    QStringList names;
    for (const ConditionName& entry : conditionTable)
        names += QString::fromLatin1(entry.name);
    return names;
}

void SampleFilterProxy::setFilterText(const QString& text) {
    static const QRegularExpression pattern(
        QStringLiteral("^([A-Za-z]+)(<=|>=|<|>|=)([0-9.]+)%?$"));
    words_.clear();
    conditions_.clear();
    for (const QString& part :
         text.split(QRegularExpression(QStringLiteral("\\s+")), Qt::SkipEmptyParts)) {
        const QRegularExpressionMatch match = pattern.match(part);
        bool isCondition = false;
        for (const ConditionName& entry : conditionTable) {
            bool isNumber = false;
            const double value = match.captured(3).toDouble(&isNumber);
            if (!match.hasMatch() || !isNumber || match.captured(1) != QLatin1String(entry.name))
                continue;
            conditions_.push_back({entry.column, match.captured(2), value / entry.scale});
            isCondition = true;
        }
        if (!isCondition)
            words_ += part;
    }
    invalidateFilter();
}

bool SampleFilterProxy::holds(const Condition& condition, int row) const {
    const QVariant cell = sourceModel()->index(row, condition.column).data(Model::sortRole);
    if (!cell.isValid())
        return false;
    const double value = cell.toDouble();
    if (condition.comparison == QLatin1String("<"))
        return value < condition.value;
    if (condition.comparison == QLatin1String("<="))
        return value <= condition.value;
    if (condition.comparison == QLatin1String(">"))
        return value > condition.value;
    if (condition.comparison == QLatin1String(">="))
        return value >= condition.value;
    return std::abs(value - condition.value) < 0.005;
}

bool SampleFilterProxy::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (parent.isValid())
        return true;
    for (const Condition& condition : conditions_)
        if (!holds(condition, row))
            return false;
    if (words_.isEmpty())
        return true;
    const QString text = sourceModel()->index(row, Model::Id).data(Model::textRole).toString();
    for (const QString& wanted : words_)
        if (!text.contains(wanted, Qt::CaseInsensitive))
            return false;
    return true;
}

bool SampleFilterProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(Model::sortRole);
    const QVariant b = right.data(Model::sortRole);
    if (!a.isValid() || !b.isValid())
        return !a.isValid() && b.isValid(); // unscored samples come first
    if (left.column() == Model::Id)
        return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
    return a.toDouble() < b.toDouble();
}

} // namespace cuset
