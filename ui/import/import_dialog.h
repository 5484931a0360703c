// ImportDialog: a person says which fields of a data file hold prompt and response and which rows
// count, and sees what that gives before anything is opened.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>
#include <QPushButton>
#include <QStringList>
#include <QTableView>
#include <QTimer>

#include "core/io/sample_reader.h"
#include "core/model/inference_session.h"
#include "ui/async/job_runner.h"
#include "ui/import/preview_table_model.h"

namespace cuset {

class ImportDialog : public QDialog {
    Q_OBJECT
public:
    // `modelPath` "" counts records only, not what is cut at prompt.max_length.
    ImportDialog(const QStringList& paths, const QString& modelPath, const PromptOptions& prompt,
                 JobRunner* pool, QWidget* parent = nullptr);

    // What a person chose; what opens the data.
    ReadOptions options() const;
    // Says above the preview why the dialog is open.
    void setReason(const QString& text);
    bool isSettled() const { return settled_; }

    // For tests and restored choices: "" is recognition.
    void setFields(const QString& prompt, const QString& response);
    void setFilter(const QString& field, const QString& value);
    QString resultText() const { return result_->text(); }
    QStringList problems() const;
    PreviewTableModel* previewModel() { return model_; }

signals:
    void importRequested(const QStringList& paths, const cuset::ReadOptions& options);

private:
    struct Checked;
    void build();
    QWidget* buildMapping();
    void loadPreview();
    void fillColumns();
    void checkSoon();
    void check();
    void present(const Checked& checked);

    QStringList paths_;
    QString modelPath_;
    PromptOptions prompt_;
    JobRunner* pool_;
    PreviewTableModel* model_;
    QLabel* reason_ = nullptr;
    QLabel* source_ = nullptr;
    QComboBox* promptField_ = nullptr;
    QComboBox* responseField_ = nullptr;
    QComboBox* filterField_ = nullptr;
    QLineEdit* filterValue_ = nullptr;
    QCheckBox* everyTurn_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* result_ = nullptr;
    QListWidget* problems_ = nullptr;
    QPushButton* open_ = nullptr;
    QTimer delay_;
    bool settled_ = false;
};

} // namespace cuset
