// DocumentController: opens data, score files and models by path, in the pool. What is open stays
// open until the new thing has been read.
#pragma once

#include <QObject>
#include <QStringList>

#include "core/io/sample_reader.h"
#include "ui/async/job_runner.h"
#include "ui/shell/message_bar.h"
#include "ui/state/label_state.h"
#include "ui/state/note_state.h"
#include "ui/state/workspace.h"

namespace cuset {

enum class FileKind { Scores, Model, Data, Run };

class DocumentController : public QObject {
    Q_OBJECT
public:
    DocumentController(Workspace* workspace, LabelState* labels, NoteState* notes, JobRunner* pool,
                       QObject* parent = nullptr);

    // By what the file holds, and by its name where that says nothing: score files, GGUF files,
    // model folders and folders of training runs, else data.
    static FileKind kindOf(const QString& path);
    // Where scores of these data files go: beside the first one, or in the user's data folder if
    // that is read-only.
    static QString scorePathFor(const QStringList& dataPaths);
    // Where corrections of the labels of these data or of a score file go, by the same rule.
    static QString labelPathFor(const QString& dataOrScores);
    // And tags and notes of their samples.
    static QString notePathFor(const QString& dataOrScores);

    // Opens everything that was given: several data files make one data set; of several models or
    // score files the first, and says so. Scores that come with data are those of the data.
    void open(const QStringList& paths);
    void openData(const QStringList& paths, const cuset::ReadOptions& options = {},
                  const QString& scoresPath = {});
    void openScores(const QString& path);
    void openModel(const QString& nameOrPath);
    // How the records of the open data were read.
    const ReadOptions& readOptions() const { return readOptions_; }
    // The model that will score; "" if none. Only its headers have been read.
    const QString& modelPath() const { return modelPath_; }
    bool isBusy() const;
    // Failures since the start, for exit codes.
    ErrorCode lastError() const { return lastError_; }
    bool hasFailed() const { return failed_; }

signals:
    void message(cuset::MessageKind kind, const QString& text);
    void dataOpened(const QStringList& paths);
    // The fields of the records are none that are known; `reason` is the error's text.
    void fieldsUnknown(const QStringList& paths, const QString& reason);
    void scoresOpened(const QString& path);
    void modelOpened(const QString& nameOrPath);
    void runsOpened(const QStringList& folders);
    void busyChanged();

private:
    void fail(const Error& error);
    void reportDataset(const Dataset& dataset);
    void openLabels(OpenedLabels opened);
    void openNotes(OpenedNotes opened);
    void sayLeftOut(const QStringList& paths, const QString& what);
    void showScoresOfData(const QString& scoresPath, const std::shared_ptr<const ScoreSet>& scores,
                          bool asked);

    Workspace* workspace_;
    LabelState* labels_;
    NoteState* notes_;
    JobRunner* pool_;
    QString modelPath_;
    ReadOptions readOptions_;
    ErrorCode lastError_ = ErrorCode::failure;
    bool failed_ = false;
};

} // namespace cuset
