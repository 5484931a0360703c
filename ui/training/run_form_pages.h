// The pages of the run form: which keys stand where, and what they are for.
#pragma once

#include <functional>

#include <QLabel>
#include <QWidget>

#include "ui/charts/loss_chart.h"
#include "ui/training/form_binder.h"

namespace cuset {

// Asks for a path; `folder` for a folder. "" if the person thinks again.
using ChoosePath = std::function<QString(const QString& title, bool folder)>;

struct RunPages {
    QWidget* run = nullptr; // model, data, output, objective
    QWidget* optimizer = nullptr; // method, learning rate, steps
    QWidget* machine = nullptr; // lengths, precision, checkpoints
    QLabel* formula = nullptr;
    LossChart* schedule = nullptr;
    QComboBox* preset = nullptr;
    QLineEdit* output = nullptr;
};
RunPages makeRunPages(FormBinder* binder, const ChoosePath& choose, QWidget* parent);

void makeTrainingPages(FormBinder* binder, QWidget* parent, RunPages& pages); // the last two

// Enables what the settings use.
void enableUsed(QWidget* form, const TrainConfig& config);
// The learning rate of each step of `total`.
void showSchedule(LossChart* chart, const TrainConfig& config, std::int64_t total);

} // namespace cuset
