// EstimateView: what a run will take: steps, tokens, memory on each device, time, disk.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QWidget>

#include "core/train/train_estimate.h"

namespace cuset {

class EstimateView : public QWidget {
    Q_OBJECT
public:
    explicit EstimateView(QWidget* parent = nullptr);

    void setEstimate(const TrainEstimate& estimate, const QString& wantedDevice);
    void showWaiting(); // figures are being computed
    void showNothing(const QString& why);

private:
    void addRow(const QString& title, const QString& value, const QString& help);
    void addDevice(const DeviceEstimate& device, bool wanted);
    void clear();

    QLabel* head_;
    QGridLayout* figures_;
    QGridLayout* devices_;
    QPlainTextEdit* notes_;
    std::vector<QWidget*> cells_;
};

} // namespace cuset
