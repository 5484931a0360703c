// RunTableModel: one row a run: its state, what it trains with, how far it is and how good it got.
#pragma once

#include <QAbstractTableModel>

#include "ui/charts/chart_export.h"
#include "ui/training/run_registry.h"

namespace cuset {

// "1:02:33", "4:05"; "–" where it is not known.
QString durationText(double seconds);
// "14:32", with the date where it is not today's; local time. "–" for none.
QString momentText(const std::string& time);

class RunTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Name,
        State,
        Objective,
        Tau,
        Lambda,
        Window,
        BestValidation,
        LastLoss,
        Progress,
        TimeLeft,
        Duration,
        Begun,
        Notes,
        ColumnCount
    };
    static constexpr int sortRole = Qt::UserRole;
    static constexpr int progressRole = Qt::UserRole + 1; // share of the steps in [0, 1]

    explicit RunTableModel(RunRegistry* registry, QObject* parent = nullptr);

    RunFollower* run(int row) const;
    ChartTable table() const; // for CSV

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant value(const RunFollower& run, int column) const;
    QString text(const RunFollower& run, int column) const;
    QString settingText(const RunFollower& run, int column) const;
    static QString toolTip(const RunFollower& run, int column);

    RunRegistry* registry_;
    int rows_ = 0;
};

} // namespace cuset
