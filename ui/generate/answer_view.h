// AnswerView: one answer as it is written: code coloured by the model's own confidence, CUDA
// regions, figures, and what the compiler says of it.
#pragma once

#include <optional>

#include <QLabel>
#include <QListWidget>
#include <QTimer>
#include <QToolButton>
#include <QWidget>

#include "core/cuda/compile_check.h"
#include "core/cuda/structure.h"
#include "ui/async/job_runner.h"
#include "ui/editor/code_view.h"
#include "ui/editor/color_scale.h"
#include "ui/generate/answer.h"

namespace cuset {

class AnswerView : public QWidget {
    Q_OBJECT
public:
    // `name` makes its jobs' channels its own.
    AnswerView(const QString& name, JobRunner* pool, QWidget* parent = nullptr);

    void start(const QString& title); // an empty answer
    void add(AnswerToken token);
    void end(const QString& why);
    void clear();
    void setColorMap(ColorMap map);

    const Answer& answer() const { return answer_; }
    CodeView* codeView() { return code_; }
    QListWidget* messageList() { return messages_; }
    // Compiles what is there in the pool; a second call stops a running one first.
    void compile();
    const std::optional<CompileResult>& compiled() const { return compiled_; }
    bool isSettled() const;

signals:
    void saveRequested();
    void failed(const QString& message);

protected:
    void changeEvent(QEvent* event) override;

private:
    void build(const QString& name);
    void showText();
    void findRegions();
    void showRegions(const CudaStructure& structure, int bytes);
    void paint();
    void showFigures();
    void showCompiled(const CompileResult& result);
    void clearCompiled();
    void updateButtons();
    QString describe(int byte) const;

    JobRunner* pool_;
    QString regionChannel_, compileChannel_;
    Answer answer_;
    int shownBytes_ = 0;
    bool running_ = false;
    bool regionsDue_ = false;
    std::optional<CompileResult> compiled_;
    ColorMap map_ = ColorMap::Cividis;
    ColorScale scale_;
    QTimer showTimer_, regionTimer_;
    qint64 startedAt_ = 0;
    QLabel* title_ = nullptr;
    QLabel* figures_ = nullptr;
    CodeView* code_ = nullptr;
    QLabel* verdict_ = nullptr;
    QListWidget* messages_ = nullptr;
    QToolButton* compile_ = nullptr;
    QToolButton* save_ = nullptr;
};

} // namespace cuset
