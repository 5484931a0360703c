#include "ui/state/label_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include <QFileInfo>
#include <QUndoCommand>
#include <QUndoStack>

#include "core/base/error.h"
#include "core/model/label_file.h"
#include "ui/editor/color_scale.h"
#include "ui/state/native_path.h"

namespace cuset {
QString correctionTitle(const LabelCorrection& correction) {
    return correction.kind ? kindTitle(*correction.kind) : LabelState::tr("neutral");
}

class LabelState::Change : public QUndoCommand {
public:
    Change(LabelState* state, Shared before, Shared after, const QString& what)
        : QUndoCommand(what)
        , state_(state)
        , before_(std::move(before))
        , after_(std::move(after)) { }

    void undo() override { state_->apply(before_); }
    void redo() override { state_->apply(after_); }

private:
    LabelState* state_;
    Shared before_;
    Shared after_;
};

LabelState::LabelState(Workspace* workspace, QUndoStack* undoStack, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , undoStack_(undoStack) {
    workspace_->setCorrector(
        [this](const std::shared_ptr<const ScoreSet>& scores) { return correct(scores); });
}

LabelState::~LabelState() {
    workspace_->setCorrector({});
}

OpenedLabels LabelState::read(const QString& path) {
    OpenedLabels opened;
    opened.path = path;
    if (path.isEmpty() || !pathExists(path))
        return opened;
    try {
        opened.corrections = read_label_file(nativePath(path));
    } catch (const Error& error) {
        opened.problem = QString::fromUtf8(error.what());
    }
    return opened;
}

void LabelState::open(OpenedLabels opened) {
    if (hasSteps_ && (opened.path != path_ || opened.corrections != *list_)) {
        undoStack_->clear();
        hasSteps_ = false;
    }
    path_ = opened.path;
    problem_ = opened.problem;
    list_ = std::make_shared<const List>(std::move(opened.corrections));
    relabelled_.clear();
    emit changed();
}

int LabelState::touching(std::string_view sampleId, ByteSpan span) const {
    for (std::size_t i = list_->size(); i-- > 0;)
        if ((*list_)[i].sample_id == sampleId && (*list_)[i].span.overlaps(span))
            return static_cast<int>(i);
    return -1;
}

LabelState::List LabelState::ofSample(std::string_view sampleId) const {
    List own;
    for (const LabelCorrection& correction : *list_)
        if (correction.sample_id == sampleId)
            own.push_back(correction);
    return own;
}

void LabelState::mark(const std::string& sampleId, ByteSpan span,
                      std::optional<SensitiveKind> kind) {
    if (span.empty() || sampleId.empty())
        return;
    List after = *list_;
    // A later correction wins over what it covers: an older one within it has no effect any more.
    std::erase_if(after, [&](const LabelCorrection& old) {
        return old.sample_id == sampleId && old.span.begin >= span.begin
            && old.span.end <= span.end;
    });
    after.push_back({sampleId, span, kind});
    push(std::move(after), tr("Mark as %1").arg(correctionTitle({sampleId, span, kind})));
}

void LabelState::remove(const std::vector<int>& indices) {
    const std::set<int> gone(indices.begin(), indices.end());
    List after;
    for (std::size_t i = 0; i < list_->size(); ++i)
        if (!gone.count(static_cast<int>(i)))
            after.push_back((*list_)[i]);
    push(std::move(after), tr("Remove a correction"));
}

void LabelState::push(List after, const QString& what) {
    if (after == *list_)
        return;
    if (!problem_.isEmpty() || path_.isEmpty()) {
        emit failed(tr("Corrections cannot be saved: %1")
                        .arg(problem_.isEmpty() ? tr("nothing is open")
                                                : tr("%1. Repair or move that file, then open the "
                                                     "samples again.")
                                                      .arg(problem_)));
        return;
    }
    hasSteps_ = true;
    undoStack_->push(new Change(this, list_, std::make_shared<const List>(std::move(after)), what));
}

void LabelState::apply(const Shared& list) {
    relabelLost(*list_, *list);
    list_ = list;
    save();
    workspace_->relabel();
    emit changed();
}

// What lost a correction goes back to the labels of its text: the score file may have been written
// with that correction in it.
void LabelState::relabelLost(const List& before, const List& after) {
    const auto [first, unused] =
        std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    for (auto old = first; old != before.end(); ++old) {
        if (std::find(after.begin(), after.end(), *old) != after.end())
            continue;
        const std::string& id = old->sample_id;
        if (workspace_->isPrepared(id)
            || std::find(relabelled_.begin(), relabelled_.end(), id) != relabelled_.end())
            continue;
        relabelled_.push_back(id);
    }
}

void LabelState::save() {
    try {
        std::error_code ignored; // writing says what is wrong
        std::filesystem::create_directories(nativePath(QFileInfo(path_).absolutePath()), ignored);
        write_label_file(nativePath(path_), *list_);
    } catch (const Error& error) {
        emit failed(
            tr("The correction is shown but not saved: %1").arg(QString::fromUtf8(error.what())));
    }
}

std::shared_ptr<const ScoreSet>
LabelState::correct(const std::shared_ptr<const ScoreSet>& scores) const {
    return corrected_scores(scores, *list_, relabelled_);
}

} // namespace cuset
