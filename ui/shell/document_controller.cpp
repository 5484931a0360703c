#include "ui/shell/document_controller.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include "core/io/data_preview.h"
#include "core/io/note_file.h"
#include "core/io/sample_reader.h"
#include "core/io/score_file.h"
#include "core/model/label_file.h"

namespace cuset {
namespace {

const QString dataChannel = QStringLiteral("open data");
const QString scoresChannel = QStringLiteral("open scores");
const QString modelChannel = QStringLiteral("open model");
const QString scoreSuffix = QStringLiteral(".scores.safetensors");

std::filesystem::path toPath(const QString& path) {
    return {QFile::encodeName(path).toStdString()};
}

struct OpenedData {
    std::optional<Error> unusable; // no record could be used, but there are records with fields
    std::shared_ptr<const Dataset> dataset;
    std::shared_ptr<const ScoreSet> scores; // found beside the data, or null
    QString scoresPath;
    QString scoresProblem;
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
    const QFileInfo beside(QFile::decodeName(wanted.string().c_str()));
    if (beside.exists() || QFileInfo(beside.absolutePath()).isWritable())
        return beside.absoluteFilePath();
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + folder
        + beside.fileName();
}

OpenedData readData(const QStringList& paths, const ReadOptions& options, RunControl& control) {
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths)
        files.push_back(toPath(path));
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
    const QString beside = DocumentController::scorePathFor(paths);
    if (!QFileInfo::exists(beside))
        return opened;
    try {
        opened.scores = read_score_file(toPath(beside));
        opened.scoresPath = beside;
    } catch (const Error& error) {
        opened.scoresProblem = QString::fromUtf8(error.what());
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
    const QFileInfo info(path);
    if (path.endsWith(scoreSuffix, Qt::CaseInsensitive))
        return FileKind::Scores;
    if (info.suffix().compare(QLatin1String("gguf"), Qt::CaseInsensitive) == 0)
        return FileKind::Model;
    if (info.isDir()
        && (QFileInfo::exists(path + QStringLiteral("/events.jsonl"))
            || QFileInfo::exists(path + QStringLiteral("/sweep.json"))))
        return FileKind::Run;
    if (info.isDir() && QFileInfo::exists(path + QStringLiteral("/config.json")))
        return FileKind::Model;
    if (info.suffix().compare(QLatin1String("safetensors"), Qt::CaseInsensitive) == 0)
        return FileKind::Scores;
    return FileKind::Data;
}

QString DocumentController::scorePathFor(const QStringList& dataPaths) {
    const QFileInfo first(QDir::cleanPath(dataPaths.isEmpty() ? QString() : dataPaths.first()));
    const QString name =
        (first.isDir() ? first.fileName() : first.completeBaseName()) + scoreSuffix;
    const QString folder = first.absolutePath();
    if (QFileInfo::exists(folder + QLatin1Char('/') + name) || QFileInfo(folder).isWritable())
        return folder + QLatin1Char('/') + name;
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
        + QStringLiteral("/scores/") + name;
}

QString DocumentController::labelPathFor(const QString& dataOrScores) {
    return besideOrOwn(label_file_for(toPath(dataOrScores)), QStringLiteral("/labels/"));
}

QString DocumentController::notePathFor(const QString& dataOrScores) {
    return besideOrOwn(note_file_for(toPath(dataOrScores)), QStringLiteral("/notes/"));
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
    QStringList data, runs;
    for (const QString& path : paths) {
        switch (kindOf(path)) {
        case FileKind::Scores:
            openScores(path);
            break;
        case FileKind::Model:
            openModel(path);
            break;
        case FileKind::Run:
            runs += path;
            break;
        case FileKind::Data:
            data += path;
            break;
        }
    }
    if (!data.isEmpty())
        openData(data);
    if (!runs.isEmpty())
        emit runsOpened(runs);
}

void DocumentController::openData(const QStringList& paths, const ReadOptions& options) {
    pool_->start(
        dataChannel,
        [paths, options](RunControl& control) { return readData(paths, options, control); },
        [this, paths, options](JobOutcome<OpenedData> outcome) {
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
            if (!opened->scoresProblem.isEmpty())
                emit message(MessageKind::Warning, opened->scoresProblem);
            if (opened->scores && workspace_->matches(*opened->scores)) {
                workspace_->setScores(opened->scores, opened->scoresPath);
                emit message(
                    MessageKind::Information,
                    tr("Scores of %1 found beside the data: %2")
                        .arg(QFileInfo(QString::fromStdString(opened->scores->provenance().model))
                                 .fileName(),
                             opened->scoresPath));
            }
            emit dataOpened(paths);
        });
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
            return OpenedScores{read_score_file(toPath(path)), LabelState::read(labelPathFor(path)),
                                NoteState::read(notePathFor(path))};
        },
        [this, path](JobOutcome<OpenedScores> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                fail(*error);
            if (auto* opened = std::get_if<0>(&outcome)) {
                // Scores of the open data keep the data's corrections.
                if (!workspace_->dataset() || !workspace_->matches(*opened->scores)) {
                    openLabels(std::move(opened->labels));
                    openNotes(std::move(opened->notes));
                }
                workspace_->setScores(opened->scores, path);
                emit scoresOpened(path);
            }
        });
}

void DocumentController::openModel(const QString& nameOrPath) {
    pool_->start(
        modelChannel,
        [name = QFile::encodeName(nameOrPath).toStdString()](RunControl&) {
            return inspect_model(name);
        },
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
