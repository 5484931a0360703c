#include "ui/shell/document_controller.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "core/io/data_preview.h"
#include "core/io/file_content.h"
#include "core/io/note_file.h"
#include "core/io/sample_reader.h"
#include "core/io/score_file.h"
#include "core/model/label_file.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

const QString dataChannel = QStringLiteral("open data");
const QString scoresChannel = QStringLiteral("open scores");
const QString modelChannel = QStringLiteral("open model");
const QString scoreSuffix = QStringLiteral(".scores.safetensors");

struct OpenedData {
    std::optional<Error> unusable; // no record could be used, but there are records with fields
    std::shared_ptr<const Dataset> dataset;
    std::shared_ptr<const ScoreSet> scores; // given with the data or found beside them, or null
    QString scoresPath;
    std::optional<Error> scoresProblem;
    OpenedLabels labels;
    OpenedNotes notes;
};

struct OpenedScores {
    std::shared_ptr<const ScoreSet> scores;
    OpenedLabels labels;
    OpenedNotes notes;
};

// A file beside the data if it is there or can be, else one in the user's data folder.
QString besideOrOwn(const std::filesystem::path& wanted, const QString& folder) {
    const QFileInfo beside(pathText(wanted.native()));
    if (pathExists(beside.absoluteFilePath()) || isWritableFolder(beside.absolutePath()))
        return beside.absoluteFilePath();
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + folder
        + beside.fileName();
}

// `scoresPath` is empty if none were given with the data.
OpenedData readData(const QStringList& paths, const ReadOptions& options, const QString& scoresPath,
                    RunControl& control) {
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths)
        files.push_back(nativePath(path));
    OpenedData opened;
    try {
        opened.dataset = std::make_shared<const Dataset>(read_samples(files, options, control));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::bad_format
            || preview_data(files, options, 1, 1, control).columns.empty())
            throw;
        opened.unusable = error;
        return opened;
    }
    opened.labels = LabelState::read(DocumentController::labelPathFor(paths.first()));
    opened.notes = NoteState::read(DocumentController::notePathFor(paths.first()));
    const QString wanted =
        scoresPath.isEmpty() ? DocumentController::scorePathFor(paths) : scoresPath;
    if (scoresPath.isEmpty() && !pathExists(wanted))
        return opened;
    opened.scoresPath = wanted;
    try {
        opened.scores = read_score_file(nativePath(wanted));
    } catch (const Error& error) {
        opened.scoresProblem = error;
    }
    return opened;
}

} // namespace

DocumentController::DocumentController(Workspace* workspace, LabelState* labels, NoteState* notes,
                                       JobRunner* pool, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , labels_(labels)
    , notes_(notes)
    , pool_(pool) {
    connect(pool_, &JobRunner::runningChanged, this, &DocumentController::busyChanged);
}

FileKind DocumentController::kindOf(const QString& path) {
    if (isFolder(path)) {
        if (pathExists(path + QStringLiteral("/events.jsonl"))
            || pathExists(path + QStringLiteral("/sweep.json")))
            return FileKind::Run;
        return pathExists(path + QStringLiteral("/config.json")) ? FileKind::Model : FileKind::Data;
    }
    switch (recognise_content(nativePath(path))) {
    case FileContent::scores:
    case FileContent::safetensors: // which reading them says
        return FileKind::Scores;
    case FileContent::gguf:
        return FileKind::Model;
    case FileContent::other:
        break;
    }
    // Damaged, cut off or not there: the message is about what it was meant to be.
    if (path.endsWith(QLatin1String(".safetensors"), Qt::CaseInsensitive))
        return FileKind::Scores;
    return path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive) ? FileKind::Model
                                                                      : FileKind::Data;
}

QString DocumentController::scorePathFor(const QStringList& dataPaths) {
    const QString clean = QDir::cleanPath(dataPaths.isEmpty() ? QString() : dataPaths.first());
    const QFileInfo first(clean);
    const QString name =
        (isFolder(clean) ? first.fileName() : first.completeBaseName()) + scoreSuffix;
    const QString folder = first.absolutePath();
    if (pathExists(folder + QLatin1Char('/') + name) || isWritableFolder(folder))
        return folder + QLatin1Char('/') + name;
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
        + QStringLiteral("/scores/") + name;
}

QString DocumentController::labelPathFor(const QString& dataOrScores) {
    return besideOrOwn(label_file_for(nativePath(dataOrScores)), QStringLiteral("/labels/"));
}

QString DocumentController::notePathFor(const QString& dataOrScores) {
    return besideOrOwn(note_file_for(nativePath(dataOrScores)), QStringLiteral("/notes/"));
}

void DocumentController::openNotes(OpenedNotes opened) {
    if (!opened.problem.isEmpty())
        emit message(MessageKind::Warning, tr("Notes are not used: %1").arg(opened.problem));
    notes_->open(std::move(opened));
}

void DocumentController::openLabels(OpenedLabels opened) {
    if (!opened.problem.isEmpty())
        emit message(MessageKind::Warning, tr("Corrections are not used: %1").arg(opened.problem));
    labels_->open(std::move(opened));
}

void DocumentController::open(const QStringList& paths) {
    QStringList data, scores, models, runs;
    for (const QString& path : paths) {
        switch (kindOf(path)) {
        case FileKind::Scores:
            scores += path;
            break;
        case FileKind::Model:
            models += path;
            break;
        case FileKind::Run:
            runs += path;
            break;
        case FileKind::Data:
            data += path;
            break;
        }
    }
    sayLeftOut(scores, tr("score file"));
    sayLeftOut(models, tr("model"));
    if (!models.isEmpty())
        openModel(models.first());
    if (!data.isEmpty())
        openData(data, {}, scores.value(0));
    else if (!scores.isEmpty())
        openScores(scores.first());
    if (!runs.isEmpty())
        emit runsOpened(runs);
}

void DocumentController::sayLeftOut(const QStringList& paths, const QString& what) {
    if (paths.size() > 1)
        emit message(MessageKind::Warning,
                     tr("One %1 is open at a time: %2 is opened, %3 is not.")
                         .arg(what, QFileInfo(paths.first()).fileName(),
                              QStringList(paths.mid(1)).join(QStringLiteral(", "))));
}

void DocumentController::openData(const QStringList& paths, const ReadOptions& options,
                                  const QString& scoresPath) {
    const bool asked = !scoresPath.isEmpty();
    pool_->start(
        dataChannel,
        [paths, options, scoresPath](RunControl& control) {
            return readData(paths, options, scoresPath, control);
        },
        [this, paths, options, asked](JobOutcome<OpenedData> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                fail(*error);
            auto* opened = std::get_if<0>(&outcome);
            if (!opened)
                return;
            if (opened->unusable) {
                fail(*opened->unusable);
                emit fieldsUnknown(paths, QString::fromUtf8(opened->unusable->what()));
                return;
            }
            openLabels(std::move(opened->labels));
            openNotes(std::move(opened->notes));
            readOptions_ = options;
            workspace_->setDataset(opened->dataset, paths);
            reportDataset(*opened->dataset);
            if (opened->scoresProblem && asked)
                fail(*opened->scoresProblem);
            else if (opened->scoresProblem)
                emit message(MessageKind::Warning,
                             QString::fromUtf8(opened->scoresProblem->what()));
            if (opened->scores)
                showScoresOfData(opened->scoresPath, opened->scores, asked);
            emit dataOpened(paths);
        });
}

void DocumentController::showScoresOfData(const QString& scoresPath,
                                          const std::shared_ptr<const ScoreSet>& scores,
                                          bool asked) {
    if (!workspace_->matches(*scores)) {
        if (asked) // what merely lies beside the data may be of older ones
            fail(Error(ErrorCode::bad_value,
                       "holds scores of other samples than the data that were opened with it; open "
                       "it alone to see them",
                       nativePath(scoresPath).string()));
        return;
    }
    workspace_->setScores(scores, scoresPath);
    if (asked) {
        emit scoresOpened(scoresPath);
        return;
    }
    emit message(MessageKind::Information,
                 tr("Scores of %1 found beside the data: %2")
                     .arg(QFileInfo(QString::fromStdString(scores->provenance().model)).fileName(),
                          scoresPath));
}

void DocumentController::reportDataset(const Dataset& dataset) {
    for (const std::string& warning : dataset.warnings)
        emit message(MessageKind::Warning, QString::fromStdString(warning));
    if (dataset.bad_records.empty())
        return;
    const BadRecord& first = dataset.bad_records.front();
    const QString where = QStringLiteral("%1:%2: %3")
                              .arg(QString::fromStdString(first.file), QString::number(first.line),
                                   QString::fromStdString(first.reason));
    const std::size_t count = dataset.bad_records.size();
    emit message(MessageKind::Warning,
                 count == 1 ? tr("A record could not be used: %1").arg(where)
                            : tr("%1 records could not be used; the first is %2")
                                  .arg(QString::number(count), where));
}

void DocumentController::openScores(const QString& path) {
    pool_->start(
        scoresChannel,
        [path](RunControl&) {
            return OpenedScores{read_score_file(nativePath(path)),
                                LabelState::read(labelPathFor(path)),
                                NoteState::read(notePathFor(path))};
        },
        [this, path](JobOutcome<OpenedScores> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                fail(*error);
            if (auto* opened = std::get_if<0>(&outcome)) {
                // Scores of the open data keep the data's corrections.
                const bool replaces =
                    !workspace_->dataset() || !workspace_->matches(*opened->scores);
                if (replaces) {
                    openLabels(std::move(opened->labels));
                    openNotes(std::move(opened->notes));
                }
                if (replaces && workspace_->dataset())
                    emit message(MessageKind::Information,
                                 tr("%1 holds scores of other samples: %2 was closed.")
                                     .arg(QFileInfo(path).fileName(), workspace_->title()));
                workspace_->setScores(opened->scores, path);
                emit scoresOpened(path);
            }
        });
}

void DocumentController::openModel(const QString& nameOrPath) {
    pool_->start(
        modelChannel,
        [name = nativePath(nameOrPath).string()](RunControl&) { return inspect_model(name); },
        [this, nameOrPath](JobOutcome<ModelInfo> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                fail(*error);
            if (auto* info = std::get_if<0>(&outcome)) {
                modelPath_ = nameOrPath;
                for (const std::string& warning : info->warnings)
                    emit message(MessageKind::Warning, QString::fromStdString(warning));
                workspace_->setModel(std::move(*info));
                emit modelOpened(nameOrPath);
            }
        });
}

bool DocumentController::isBusy() const {
    return pool_->isRunning(dataChannel) || pool_->isRunning(scoresChannel)
        || pool_->isRunning(modelChannel);
}

void DocumentController::fail(const Error& error) {
    failed_ = true;
    lastError_ = error.code();
    emit message(MessageKind::Error, QString::fromUtf8(error.what()));
}

} // namespace cuset
