#include "ui/training/config_difference_model.h"

#include <algorithm>

#include <QFont>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

QString textOf(const QJsonValue& value) {
    if (value.isString())
        return value.toString();
    if (value.isNull())
        return QStringLiteral("\u2013");
    if (value.isArray()) {
        QStringList words;
        for (const QJsonValue& item : value.toArray())
            words += textOf(item);
        return words.join(QStringLiteral(", "));
    }
    return value.toVariant().toString();
}

} // namespace

std::vector<std::pair<QString, QString>> flatConfig(const TrainConfig& config) {
    std::vector<std::pair<QString, QString>> flat;
    const QJsonObject object =
        QJsonDocument::fromJson(QByteArray::fromStdString(train_config_json(config))).object();
    for (auto it = object.begin(); it != object.end(); ++it) {
        if (!it->isObject()) {
            flat.emplace_back(it.key(), textOf(*it));
            continue;
        }
        const QJsonObject inner = it->toObject();
        for (auto part = inner.begin(); part != inner.end(); ++part)
            flat.emplace_back(it.key() + QLatin1Char('.') + part.key(), textOf(*part));
    }
    return flat;
}

void ConfigDifferenceModel::setConfigs(const QStringList& names,
                                       const std::vector<TrainConfig>& configs,
                                       bool onlyDifferences) {
    beginResetModel();
    names_ = names;
    rows_.clear();
    std::vector<std::vector<std::pair<QString, QString>>> flat;
    for (const TrainConfig& config : configs)
        flat.push_back(flatConfig(config));
    for (std::size_t i = 0; !flat.empty() && i < flat.front().size(); ++i) {
        Row row{flat.front()[i].first, {}, false};
        if (row.path == QLatin1String("output"))
            continue;
        for (const auto& config : flat)
            row.values += config[i].second;
        row.differs = std::any_of(row.values.begin(), row.values.end(),
                                  [&](const QString& value) { return value != row.values[0]; });
        if (row.differs || flat.size() == 1 || !onlyDifferences)
            rows_.push_back(std::move(row));
    }
    std::stable_partition(rows_.begin(), rows_.end(), [](const Row& row) { return row.differs; });
    endResetModel();
}

int ConfigDifferenceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ConfigDifferenceModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : 1 + static_cast<int>(names_.size());
}

QVariant ConfigDifferenceModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const QString text = index.column() == 0 ? row.path : row.values.value(index.column() - 1);
    if (role == Qt::DisplayRole)
        return visibleText(text.toStdString(), 200);
    if (role == Qt::ToolTipRole)
        return plainToolTip(text);
    if (role == Qt::FontRole && row.differs) {
        QFont font;
        font.setBold(true);
        return font;
    }
    return {};
}

QVariant ConfigDifferenceModel::headerData(int section, Qt::Orientation orientation,
                                           int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section > names_.size())
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    return section == 0 ? tr("Setting") : visibleText(names_[section - 1].toStdString(), 60);
}

} // namespace cuset
