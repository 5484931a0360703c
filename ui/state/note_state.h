// NoteState: tags, notes and quarantine of the open samples. Each change is one undo step and is
// saved at once beside the data (NAME.notes.json).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <QObject>
#include <QString>

#include "core/data/sample_note.h"

class QUndoStack;

namespace cuset {

// The notes that belong to a data set or score file, as they were read.
struct OpenedNotes {
    QString path; // where they are saved; "" until something is open
    SampleNotes notes;
    QString problem; // why the file could not be read, "" if it could or is not there
};

class NoteState : public QObject {
    Q_OBJECT
public:
    explicit NoteState(QUndoStack* undoStack, QObject* parent = nullptr);

    // Other samples are about to be open. Undo steps of another file's notes are dropped. With a
    // problem nothing can be noted: saving would replace a file that was not understood.
    void open(OpenedNotes opened);
    // Reads the file; a missing one gives none. Needs no GUI thread.
    static OpenedNotes read(const QString& path);

    const SampleNotes& notes() const { return *notes_; }
    const QString& path() const { return path_; }
    // Null if nothing is noted of that sample.
    const SampleNote* find(const QString& id) const;
    // What counts in no figure: the quarantined ones if they are left out.
    std::set<std::string> leftOut() const;
    std::vector<std::string> allTags() const; // each once, sorted

    void setTags(const QString& id, const QString& tags); // with commas between them
    void setText(const QString& id, const QString& text);
    void setQuarantined(const std::vector<QString>& ids, bool quarantined);
    void addTag(const std::vector<QString>& ids, const QString& tag);
    void setLeaveOutQuarantined(bool leaveOut);

signals:
    void changed();
    void failed(const QString& message);

private:
    class Change;
    using Shared = std::shared_ptr<const SampleNotes>;

    SampleNote noteOf(const QString& id) const; // with the id alone if there is none
    void push(SampleNotes after, const QString& what);
    void apply(const Shared& notes);
    void save();

    QUndoStack* undoStack_;
    Shared notes_ = std::make_shared<const SampleNotes>();
    QString path_;
    QString problem_;
    bool hasSteps_ = false; // of ours on the undo stack
};

} // namespace cuset
