#include "ui/state/note_state.h"

#include <algorithm>
#include <utility>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUndoCommand>
#include <QUndoStack>

#include "core/base/error.h"
#include "core/io/note_file.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace { } // namespace

class NoteState::Change : public QUndoCommand {
public:
    Change(NoteState* state, Shared before, Shared after, const QString& what)
        : QUndoCommand(what)
        , state_(state)
        , before_(std::move(before))
        , after_(std::move(after)) { }

    void undo() override { state_->apply(before_); }
    void redo() override { state_->apply(after_); }

private:
    NoteState* state_;
    Shared before_;
    Shared after_;
};

NoteState::NoteState(QUndoStack* undoStack, QObject* parent)
    : QObject(parent)
    , undoStack_(undoStack) { }

OpenedNotes NoteState::read(const QString& path) {
    OpenedNotes opened;
    opened.path = path;
    if (path.isEmpty() || !QFileInfo::exists(path))
        return opened;
    try {
        opened.notes = read_note_file(nativePath(path));
    } catch (const Error& error) {
        opened.problem = QString::fromUtf8(error.what());
    }
    return opened;
}

void NoteState::open(OpenedNotes opened) {
    if (hasSteps_ && (opened.path != path_ || opened.notes != *notes_)) {
        undoStack_->clear();
        hasSteps_ = false;
    }
    path_ = opened.path;
    problem_ = opened.problem;
    notes_ = std::make_shared<const SampleNotes>(std::move(opened.notes));
    emit changed();
}

const SampleNote* NoteState::find(const QString& id) const {
    return notes_->find(id.toStdString());
}

SampleNote NoteState::noteOf(const QString& id) const {
    const SampleNote* note = find(id);
    return note ? *note : SampleNote{id.toStdString(), {}, {}, false};
}

std::set<std::string> NoteState::leftOut() const {
    std::set<std::string> ids;
    if (notes_->leave_out_quarantined)
        for (const SampleNote& note : notes_->notes)
            if (note.quarantined)
                ids.insert(note.id);
    return ids;
}

std::vector<std::string> NoteState::allTags() const {
    std::set<std::string> tags;
    for (const SampleNote& note : notes_->notes)
        tags.insert(note.tags.begin(), note.tags.end());
    return {tags.begin(), tags.end()};
}

void NoteState::setTags(const QString& id, const QString& tags) {
    SampleNotes after = *notes_;
    SampleNote note = noteOf(id);
    note.tags = split_tags(tags.toStdString());
    after.set(std::move(note));
    push(std::move(after), tr("Change tags"));
}

void NoteState::setText(const QString& id, const QString& text) {
    SampleNotes after = *notes_;
    SampleNote note = noteOf(id);
    note.text = text.toStdString();
    after.set(std::move(note));
    push(std::move(after), tr("Change a note"));
}

void NoteState::setQuarantined(const std::vector<QString>& ids, bool quarantined) {
    SampleNotes after = *notes_;
    for (const QString& id : ids) {
        SampleNote note = noteOf(id);
        note.quarantined = quarantined;
        after.set(std::move(note));
    }
    push(std::move(after), quarantined ? tr("Quarantine") : tr("End quarantine"));
}

void NoteState::addTag(const std::vector<QString>& ids, const QString& tag) {
    const std::string clean = clean_tag(tag.toStdString());
    if (clean.empty())
        return;
    SampleNotes after = *notes_;
    for (const QString& id : ids) {
        SampleNote note = noteOf(id);
        if (std::find(note.tags.begin(), note.tags.end(), clean) == note.tags.end())
            note.tags.push_back(clean);
        after.set(std::move(note));
    }
    push(std::move(after), tr("Add a tag"));
}

void NoteState::setLeaveOutQuarantined(bool leaveOut) {
    SampleNotes after = *notes_;
    after.leave_out_quarantined = leaveOut;
    push(std::move(after),
         leaveOut ? tr("Leave quarantined samples out") : tr("Count quarantined samples"));
}

void NoteState::push(SampleNotes after, const QString& what) {
    if (after == *notes_)
        return;
    if (!problem_.isEmpty() || path_.isEmpty()) {
        emit failed(tr("Notes cannot be saved: %1")
                        .arg(problem_.isEmpty() ? tr("nothing is open")
                                                : tr("%1. Repair or move that file, then open the "
                                                     "samples again.")
                                                      .arg(problem_)));
        emit changed(); // whoever shows the wish goes back to what holds
        return;
    }
    hasSteps_ = true;
    undoStack_->push(
        new Change(this, notes_, std::make_shared<const SampleNotes>(std::move(after)), what));
}

void NoteState::apply(const Shared& notes) {
    notes_ = notes;
    save();
    emit changed();
}

void NoteState::save() {
    try {
        QDir().mkpath(QFileInfo(path_).absolutePath());
        write_note_file(nativePath(path_), *notes_);
    } catch (const Error& error) {
        emit failed(tr("The note is shown but not saved: %1").arg(QString::fromUtf8(error.what())));
    }
}

} // namespace cuset
