// RunConfigDialog: the run form. It is checked by the core's own check as it is filled, says what
// the run will take and what it trains, and gives the command that does the same.
#pragma once

#include <memory>
#include <optional>

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>

#include "core/train/train_config.h"
#include "ui/training/estimate_view.h"
#include "ui/training/form_binder.h"
#include "ui/training/run_advisor.h"
#include "ui/training/run_form_pages.h"
#include "ui/training/sample_preview_view.h"
#include "ui/training/sweep_form.h"

namespace cuset {

class RunConfigDialog : public QDialog {
    Q_OBJECT
public:
    RunConfigDialog(const TrainConfig& config, Workspace* workspace, QWidget* parent = nullptr);

    // A folder that is not there yet, named by objective and day.
    static QString freshOutput(const QString& root, const TrainConfig& config);

    void setConfig(const TrainConfig& config);
    // What stands in the form; nothing if a field is no number.
    std::optional<TrainConfig> config() const;
    bool isReady() const { return start_->isEnabled(); }
    bool isSettled() const { return !advisor_->isBusy() && preview_->isSettled(); }
    QString problem() const { return problem_; }
    SamplePreviewView* preview() { return preview_; }
    SweepForm* sweep() { return sweep_; }
    void showPage(const QString& name); // run, optimizer, machine, sweep; estimate, preview
    void start();

signals:
    void startRequested(const cuset::TrainConfig& config);
    void sweepRequested(const cuset::TrainConfig& config, const cuset::RunGrid& grid, int jobs);

private:
    void build();
    QWidget* buildRight();
    QWidget* buildFoot();
    void changed();
    void showProblem(const QString& problem);
    void showEstimate(std::shared_ptr<const TrainEstimate> estimate);
    QString checkSweep(const TrainConfig& config);
    void load();
    void save();

    TrainConfig base_; // what the form has no field for
    FormBinder* binder_;
    RunAdvisor* advisor_;
    RunPages pages_;
    QTabWidget* left_ = nullptr;
    QTabWidget* right_ = nullptr;
    SweepForm* sweep_ = nullptr;
    EstimateView* estimate_ = nullptr;
    SamplePreviewView* preview_ = nullptr;
    QComboBox* sample_ = nullptr;
    QLabel* status_ = nullptr;
    QLineEdit* command_ = nullptr;
    QPushButton* start_ = nullptr;
    std::shared_ptr<const TrainEstimate> known_;
    QString problem_, formProblem_, readProblem_;
    bool checkedAll_ = false; // paths, model and data too
};

} // namespace cuset
