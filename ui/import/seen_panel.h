// SeenPanel: what the model sees of the selected sample: the rendered prompt with its control
// tokens, and which tokens are scored.
#pragma once

#include <memory>

#include <QLabel>
#include <QPlainTextEdit>
#include <QWidget>

#include "core/model/model_view.h"
#include "ui/async/job_runner.h"
#include "ui/state/selection_state.h"
#include "ui/state/workspace.h"

namespace cuset {

class SeenPanel : public QWidget {
    Q_OBJECT
public:
    using Options = std::function<PromptOptions()>;
    SeenPanel(Workspace* workspace, SelectionState* selection, JobRunner* pool, Options options,
              QWidget* parent = nullptr);

    // Renders again, if the panel can be seen.
    void refresh();
    QString summary() const { return summary_->text(); }
    QString text() const { return view_->toPlainText(); }

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void present(const SeenSequence& seen);
    void say(const QString& text);

    Workspace* workspace_;
    SelectionState* selection_;
    JobRunner* pool_;
    Options options_;
    QLabel* summary_ = nullptr;
    QPlainTextEdit* view_ = nullptr;
    std::shared_ptr<const ModelView> model_; // of the model at modelPath_
    QString modelPath_;
};

} // namespace cuset
