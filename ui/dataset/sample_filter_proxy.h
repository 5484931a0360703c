// SampleFilterProxy: sorts by the numbers behind the cells and filters by words and by conditions
// such as `w>0.5` or `tokens<400`; all of them must hold.
#pragma once

#include <vector>

#include <QSortFilterProxyModel>
#include <QString>
#include <QStringList>

namespace cuset {

class SampleFilterProxy : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit SampleFilterProxy(QObject* parent = nullptr);

    // Words match id, prompt and response without regard to case.
    void setFilterText(const QString& text);
    // The names that conditions may use, for the hint.
    static QStringList conditionNames();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    struct Condition {
        int column;
        QString comparison; // <, <=, >, >=, =
        double value;
    };
    bool holds(const Condition& condition, int row) const;

    QStringList words_;
    std::vector<Condition> conditions_;
};

} // namespace cuset
