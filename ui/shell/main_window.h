// MainWindow: puts the panels together and nothing else. State lives in ui/state, work in the
// controllers.
#pragma once

#include <optional>
#include <vector>

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QProgressBar>

#include "ui/dataset/dataset_panel.h"
#include "ui/editor/editor_panel.h"
#include "ui/editor/token_panel.h"
#include "ui/shell/chart_binder.h"
#include "ui/shell/document_controller.h"
#include "ui/shell/frame_meter.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_lane.h"
#include "ui/shell/model_panel.h"
#include "ui/shell/sample_exporter.h"
#include "ui/shell/scoring_controller.h"
#include "ui/shell/session_controller.h"
#include "ui/shell/settings.h"
#include "ui/shell/start_page.h"
#include "ui/shell/training_controller.h"
#include "ui/state/lowest_state.h"
#include "ui/state/objective_figures.h"
#include "ui/whatif/what_if_panel.h"

namespace cuset {

class CompareController;
class ComparePanel;
class CompareState;
class GenerateController;
class GeneratePanel;
class ImportDialog;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    // `settingsPath` "" is the user's own file.
    explicit MainWindow(const QString& settingsPath = {}, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openPaths(const QStringList& paths);
    void openModel(const QString& nameOrPath);
    // Asks for the fields of data files; `reason` says why, or is "".
    ImportDialog* importData(const QStringList& paths, const QString& reason);
    void score();
    void verify();
    // Puts a score file, an adapter or a run's checkpoints beside the open scores, once what is
    // being opened is there.
    void compareWith(const QString& path);
    // Names of docks, colour modes and kinds that `showView` knows.
    static QStringList viewNames();
    // Puts a panel, a colour mode or an appearance forward, or picks a kind out; false if there is
    // no such view.
    bool showView(const QString& name);
    // Nothing is being read, computed or scored.
    bool isSettled() const;
    // The exit code of the worst that failed so far, ok if nothing did.
    ExitCode outcome() const;
    void setAppearance(const QString& appearance);
    // All panels where they are at first, in proportions that suit the window's size.
    void resetLayout();

    MessageBar* messages() { return messages_; }
    Workspace* workspace() { return &workspace_; }
    SelectionState* selection() { return &selection_; }
    MaskSettingsState* maskSettings() { return &mask_; }
    AnalysisState* analysis() { return analysis_; }
    LabelState* labels() { return labels_; }
    KindFigures* kinds() { return kinds_; }
    LowestState* lowest() { return lowest_; }
    UnitFigures* units() { return units_; }
    FrameMeter* frameMeter() { return frames_; }
    DocumentController* documents() { return documents_; }
    ScoringController* scoring() { return scoring_; }
    NoteState* notes() { return notes_; }
    SessionController* session() { return session_; }
    SampleExporter* exporter() { return exporter_; }
    WhatIfPanel* whatIf() { return whatIfPanel_; }
    // What a session file keeps of the window, and back.
    SessionState sessionNow() const;
    void restoreSession(const SessionState& session);
    TrainingController* training() { return training_; }
    ModelLane* modelLane() { return lane_; }
    CompareState* comparison() { return compare_; }
    CompareController* comparing() { return comparing_; }
    GeneratePanel* generatePanel() { return generatePanel_; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    // main_window_layout.cpp
    void buildCentre();
    void buildDocks();
    void buildToolBar();
    QDockWidget* addDock(const QString& name, const QString& title, QWidget* widget,
                         Qt::DockWidgetArea area);
    void applyProportions();
    // main_window_data.cpp
    void buildDataPanels();
    void chooseImport();
    // main_window_regions.cpp
    void buildRegionPanels(QDockWidget* summary);
    void buildRegionActions();
    void buildRegionMenu();
    void buildLowestPanel();
    void showSpan(int scoredIndex, ByteSpan span, int token);
    void goToRegion(LabelBits labels, int direction);
    LabelBits wantedKinds() const;
    // main_window_views.cpp
    void buildViews(QDockWidget* besideDensity);
    void buildViewActions();
    void buildObjectiveMenu();
    void showDock(const QString& name);
    // main_window_session.cpp
    void buildSession();
    void buildSessionActions(QMenu* fileMenu);
    void watchSession();
    void chooseSession(bool save);
    void selectPending();
    void finishOpening();
    // main_window_training.cpp
    void buildTraining();
    void addTrainingButton();
    void useInTraining();
    TrainConfig trainConfig();
    void useInTraining(const MaskSettings& settings);
    void showTraining();
    static QStringList trainingViews();
    void showTrainingView(const QString& name);
    // main_window_compare.cpp
    void buildComparePanels(QDockWidget* summary, QDockWidget* density);
    void buildCompareActions();
    void connectCompare();
    QString compareFolder() const;
    void comparePending();
    void updateCompare();
    // main_window_generate.cpp
    void buildGeneratePanel();
    void buildGenerateActions(QMenu* menu);
    void updateGenerate();
    // main_window_actions.cpp
    void buildActions();
    void buildFileMenu();
    void buildEditMenu();
    void buildViewMenu();
    void buildGutterMenu();
    void buildModelMenu();
    void buildAnalysisMenu();
    void buildHelpMenu();
    QAction* addAction(QMenu* menu, const QString& text, const QString& shortcut,
                       const std::function<void()>& run);
    void rebuildRecentMenus();
    void fillModelMenu();
    void chooseSamples(bool folder);
    void chooseModel(bool folder);
    void chooseScores();
    void openDemoSamples();
    void nextLowWindow();
    void nextSensitive();
    void stepToken(int direction);
    void showPalette();
    void showAbout();
    // main_window.cpp
    void connectState();
    void loadSettings();
    void saveSettings();
    void afterSamplesReset();
    void updateActions();
    void updateTitle();
    void updateIcons();
    void showProgress(double share, const QString& text);

    SettingsStore store_;
    Settings settings_;
    Workspace workspace_;
    MaskSettingsState mask_;
    SelectionState selection_;
    AnalysisState* analysis_ = nullptr;
    LabelState* labels_ = nullptr;
    KindFigures* kinds_ = nullptr;
    LowestState* lowest_ = nullptr;
    UnitFigures* units_ = nullptr;
    DocumentController* documents_ = nullptr;
    ModelLane* lane_ = nullptr;
    ScoringController* scoring_ = nullptr;
    NoteState* notes_ = nullptr;
    ObjectiveFigures* objectives_ = nullptr;
    WhatIfState* whatIf_ = nullptr;
    WhatIfPanel* whatIfPanel_ = nullptr;
    SampleExporter* exporter_ = nullptr;
    SessionController* session_ = nullptr;
    std::optional<SessionState> opening_; // a session whose files are being opened
    QString pendingSample_; // of it
    int pendingToken_ = -1;
    CompareState* compare_ = nullptr;
    CompareController* comparing_ = nullptr;
    GenerateController* generating_ = nullptr;
    ChartBinder* charts_ = nullptr;
    TrainingController* training_ = nullptr;

    MessageBar* messages_ = nullptr;
    EditorPanel* editor_ = nullptr;
    StartPage* start_ = nullptr;
    DatasetPanel* samples_ = nullptr;
    ModelPanel* model_ = nullptr;
    ComparePanel* comparePanel_ = nullptr;
    QString pendingComparison_; // waits for what is being opened
    GeneratePanel* generatePanel_ = nullptr;
    FrameMeter* frames_ = nullptr;
    QMenu* editMenu_ = nullptr;
    QMenu* gutterMenu_ = nullptr;
    QMenu* regionMenu_ = nullptr;
    QMenu* analysisMenu_ = nullptr;
    std::vector<QDockWidget*> docks_;
    QMenu* recentFiles_ = nullptr;
    QMenu* recentModels_ = nullptr;
    QMenu* panelMenu_ = nullptr;
    QAction* openSamplesAction_ = nullptr;
    QAction* openModelAction_ = nullptr;
    QAction* scoreAction_ = nullptr;
    QAction* verifyAction_ = nullptr;
    QAction* stopAction_ = nullptr;
    QAction* paletteAction_ = nullptr;
    QAction* nextLowAction_ = nullptr;
    QAction* nextSensitiveAction_ = nullptr;
    QList<QAction*> appearanceActions_;
    QList<QAction*> colorActions_;
    QProgressBar* progress_ = nullptr;
    QLabel* progressText_ = nullptr;
    QByteArray defaultState_;
    JobRunner pool_{3}; // last: its destructor waits for jobs that use the rest
};

} // namespace cuset
