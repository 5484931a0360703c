// ConfigDifferenceModel: the settings of several runs side by side, those that differ first or
// alone.
#pragma once

#include <utility>
#include <vector>

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>

#include "core/train/train_config.h"

namespace cuset {

// A configuration as paths and values: "objective.tau", "0.1".
std::vector<std::pair<QString, QString>> flatConfig(const TrainConfig& config);

class ConfigDifferenceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    // One column a run. With one run all settings are shown; with several, `onlyDifferences` leaves
    // out what is the same in all. The output folder differs always and is left out.
    void setConfigs(const QStringList& names, const std::vector<TrainConfig>& configs,
                    bool onlyDifferences);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString path;
        QStringList values;
        bool differs = false;
    };
    QStringList names_;
    std::vector<Row> rows_;
};

} // namespace cuset
