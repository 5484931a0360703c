// LabelState: what a person corrected of the labels of the open samples. Each change is one undo
// step, is saved at once beside the data (NAME.labels.json), and is laid over the labels of the
// scores.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QString>

#include "core/cuda/label_corrections.h"
#include "ui/state/workspace.h"

class QUndoStack;

namespace cuset {

// The corrections that belong to a data set or score file, as they were read.
struct OpenedLabels {
    QString path; // where they are saved; "" until something is open
    std::vector<LabelCorrection> corrections;
    QString problem; // why the file could not be read, "" if it could or is not there
};

class LabelState : public QObject {
    Q_OBJECT
public:
    using List = std::vector<LabelCorrection>;

    // Becomes the workspace's corrector. Both must outlive it.
    LabelState(Workspace* workspace, QUndoStack* undoStack, QObject* parent = nullptr);
    ~LabelState() override;

    // Other samples are about to be open. Undo steps of another file's corrections are dropped.
    // With a problem nothing can be marked: saving would replace a file that was not understood.
    void open(OpenedLabels opened);
    // Reads the file for these data; "" gives none. Needs no GUI thread.
    static OpenedLabels read(const QString& path);

    const List& corrections() const { return *list_; }
    const QString& path() const { return path_; }
    // The last correction of that sample that shares a byte with `span`; -1 if there is none.
    int touching(std::string_view sampleId, ByteSpan span) const;
    List ofSample(std::string_view sampleId) const;

    // `kind` nothing: neutral. An empty span, or no id, changes nothing.
    void mark(const std::string& sampleId, ByteSpan span, std::optional<SensitiveKind> kind);
    void remove(const std::vector<int>& indices);

signals:
    void changed();
    void failed(const QString& message);

private:
    class Change;
    using Shared = std::shared_ptr<const List>;

    void push(List after, const QString& what);
    void apply(const Shared& list);
    void relabelLost(const List& before, const List& after);
    void save();
    std::shared_ptr<const ScoreSet> correct(const std::shared_ptr<const ScoreSet>& scores) const;

    Workspace* workspace_;
    QUndoStack* undoStack_;
    Shared list_ = std::make_shared<const List>();
    QString path_;
    QString problem_;
    bool hasSteps_ = false; // of ours on the undo stack
    std::vector<std::string> relabelled_; // samples that lost a correction since they were opened
};

// "atomic", or "neutral".
QString correctionTitle(const LabelCorrection& correction);

} // namespace cuset
