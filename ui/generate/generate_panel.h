// GeneratePanel: a prompt, how to sample, and the answers: of the base, and beside it of an
// adapter. It asks for the work through a signal and shows what comes.
#pragma once

#include <array>
#include <vector>

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QSplitter>
#include <QToolButton>
#include <QWidget>

#include "core/data/sample.h"
#include "core/model/inference_session.h"
#include "ui/generate/answer_view.h"
#include "ui/state/selection_state.h"
#include "ui/state/workspace.h"

namespace cuset {

// What is asked of the model.
struct GenerateRequest {
    struct Variant {
        QString title;
        QString adapter; // folder, "" for the base alone
    };
    Sample sample; // its prompt, or its conversation
    GenerateOptions options;
    std::vector<Variant> variants; // one after another
};

class GeneratePanel : public QWidget {
    Q_OBJECT
public:
    GeneratePanel(Workspace* workspace, SelectionState* selection, JobRunner* pool,
                  QWidget* parent = nullptr);

    // Adapters that can be chosen: title and folder.
    void setAdapters(const std::vector<GenerateRequest::Variant>& adapters);
    void chooseNewestAdapter(); // the first of those that were set, if any
    void setPrompt(const QString& prompt);
    void setOptions(const GenerateOptions& options);
    GenerateRequest request() const;
    // Whether a model is there to run, and whether it runs.
    void setState(bool canRun, bool running);
    void setColorMap(ColorMap map);
    // 0 or 1; made when it is first needed: most sessions generate nothing.
    AnswerView* answer(int variant);
    bool isSettled() const;

    // The course of a request.
    void startVariant(int variant, const QString& title);
    void addToken(int variant, AnswerToken token) { answer(variant)->add(std::move(token)); }
    void endVariant(int variant, const QString& why);
    // Saves prompt and answer as a sample; says how it went through the signals.
    void saveTo(int variant, const QString& path);

signals:
    void generateRequested();
    void stopRequested();
    void saved(const QString& path, const QString& id);
    void failed(const QString& message);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildPrompt();
    QWidget* buildOptions();
    void usePromptOfSample();
    void chooseAdapter();
    void chooseFile(int variant);
    void updateButtons();

    Workspace* workspace_;
    SelectionState* selection_;
    Sample taken_; // the sample whose prompt stands there
    QString takenText_;
    Sample asked_; // of the answers that are shown
    QPlainTextEdit* prompt_ = nullptr;
    QComboBox* adapter_ = nullptr;
    QCheckBox* beside_ = nullptr;
    QDoubleSpinBox* temperature_ = nullptr;
    QDoubleSpinBox* topP_ = nullptr;
    QSpinBox* seed_ = nullptr;
    QSpinBox* maxTokens_ = nullptr;
    QToolButton* use_ = nullptr;
    QToolButton* generate_ = nullptr;
    QToolButton* stop_ = nullptr;
    QLabel* hint_ = nullptr;
    QSplitter* split_ = nullptr;
    std::array<AnswerView*, 2> answers_{};
    JobRunner* pool_;
    ColorMap map_ = ColorMap::Cividis;
    bool canRun_ = false;
    bool running_ = false;
};

} // namespace cuset
