// TrainingController: from thresholds to a run, and from a run to what is shown of it: the list of
// runs, the launcher, the run form and the panel.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>

#include "core/io/sample_reader.h"
#include "core/train/train_config.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/scoring_controller.h"
#include "ui/state/mask_settings_state.h"
#include "ui/state/workspace.h"
#include "ui/training/run_config_dialog.h"
#include "ui/training/run_registry.h"
#include "ui/training/training_launcher.h"
#include "ui/training/training_panel.h"

namespace cuset {

class TrainingController : public QObject {
    Q_OBJECT
public:
    TrainingController(Workspace* workspace, MaskSettingsState* mask, QWidget* window);
    ~TrainingController() override;

    TrainingPanel* panel() { return panel_; }
    RunRegistry* registry() { return &registry_; }
    TrainingLauncher* launcher() { return launcher_; }
    RunConfigDialog* form() { return form_; } // null while none is open

    // What "Use in training" fills in: thresholds, model, data, how it was read and how it scores.
    TrainConfig configFor(const QString& modelPath, const ScoringOptions& options,
                          const ReadOptions& read) const;
    // Opens the run form.
    RunConfigDialog* openForm(const TrainConfig& config);
    // Follows runs, sweeps, or folders of them.
    void openFolders(const QStringList& folders);
    void chooseFolder();
    bool isSettled() const;
    // Progress of the runs that are followed, for the window's title: "34 %, step 34 of 100, 2:10
    // left"; "" if none is at work.
    QString progressText() const;

signals:
    void message(cuset::MessageKind kind, const QString& text);
    void newRunRequested(); // from the panel
    void panelWanted(); // something is there to be seen
    void progressChanged();

private:
    void again(const QString& folder);
    void launching(const QString& folder);
    void started(const QString& folder);

    Workspace* workspace_;
    MaskSettingsState* mask_;
    QWidget* window_;
    RunRegistry registry_;
    TrainingLauncher* launcher_;
    QPointer<TrainingPanel> panel_; // its dock's
    QPointer<RunConfigDialog> form_;
    QString lastRoot_; // where the last run was put
};

} // namespace cuset
