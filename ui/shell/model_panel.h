// ModelPanel: what is known of the open model, where its scores come from, and how it will score.
#pragma once

#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QSpinBox>
#include <QWidget>

#include "ui/async/job_runner.h"
#include "ui/shell/proof_badge.h"
#include "ui/shell/scoring_controller.h"
#include "ui/shell/settings.h"
#include "ui/state/workspace.h"

namespace cuset {

class ModelPanel : public QWidget {
    Q_OBJECT
public:
    ModelPanel(Workspace* workspace, JobRunner* pool, QWidget* parent = nullptr);

    ScoringOptions options() const;
    void load(const Settings& settings);
    void store(Settings& settings) const;
    ProofBadge* proof() const { return proof_; }

signals:
    void optionsChanged();

private:
    void build();
    void showModel();
    void showProvenance();
    void estimateMemory();
    void setMemory(const std::vector<MemoryEstimate>& estimates);

    Workspace* workspace_;
    JobRunner* pool_;
    QLabel* model_ = nullptr;
    ProofBadge* proof_ = nullptr;
    QLabel* memory_ = nullptr;
    QLabel* provenance_ = nullptr;
    QComboBox* device_ = nullptr;
    QComboBox* dtype_ = nullptr;
    QComboBox* template_ = nullptr;
    QComboBox* response_ = nullptr;
    QSpinBox* topK_ = nullptr;
    QSpinBox* maxLength_ = nullptr;
};

} // namespace cuset
