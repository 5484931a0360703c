#include "ui/shell/compare_controller.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include <QDir>
#include <QFileInfo>

#include "core/io/score_file.h"
#include "core/train/run_folder.h"
#include "core/train/train_data.h"
#include "ui/shell/document_controller.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

const QString openChannel = QStringLiteral("open comparison");
const QString scoreChannel = QStringLiteral("score comparison");

QString toText(const std::filesystem::path& path) {
    return pathText(path.string());
}

// Every scored sample is one of the data: same id, same response.
bool holdsAll(const Dataset& dataset, const ScoreSet& scores) {
    std::unordered_map<std::string_view, std::string_view> responses;
    for (const Sample& sample : dataset.samples)
        responses.emplace(sample.id, sample.response);
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        const auto found = responses.find(scores.id(n));
        if (found == responses.end() || found->second != scores.response(n))
            return false;
    }
    return true;
}

int keptStages(const std::vector<RunCheckpoint>& checkpoints, const ScoreSet& base) {
    return static_cast<int>(std::count_if(
        checkpoints.begin() + 1, checkpoints.end(),
        [&](const RunCheckpoint& checkpoint) { return kept_scores(checkpoint, base) != nullptr; }));
}

} // namespace

struct CompareController::Opened {
    Kind kind = Kind::Scores;
    QString path;
    std::shared_ptr<const ScoreSet> scores; // of a score file
    std::vector<RunCheckpoint> checkpoints; // of a run
    QString model; // of a run
    std::shared_ptr<const Dataset> dataset; // of a run, if asked for
    QStringList dataPaths;
    std::shared_ptr<const ScoreSet> base; // kept in the run, if it suits better than what is open
};

struct CompareController::Job {
    std::string model;
    ScoringOptions options;
    std::shared_ptr<const Dataset> dataset;
    std::shared_ptr<const ScoreSet> present; // the open scores, without corrections
    std::vector<RunCheckpoint> checkpoints;
    std::vector<int> wanted; // stages without scores
    bool besideData = false;
    std::function<void(int, std::shared_ptr<const ScoreSet>, const QString&)> deliver;
    std::function<void(const QString&)> title;
};

CompareController::CompareController(Workspace* workspace, CompareState* state, ModelLane* lane,
                                     JobRunner* pool, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , state_(state)
    , lane_(lane)
    , pool_(pool) {
    connect(state_, &CompareState::currentChanged, this, &CompareController::warnOnce);
    connect(state_, &CompareState::stagesChanged, this, [this] {
        warned_ = false;
        if (state_->stages().empty()) {
            checkpoints_.clear();
            emit adaptersChanged();
        }
    });
    connect(state_, &CompareState::failed, this,
            [this](const QString& text) { emit message(MessageKind::Error, text); });
}

CompareController::Kind CompareController::kindOf(const QString& path) {
    if (pathExists(path + QStringLiteral("/adapter_config.json")))
        return Kind::Adapter;
    if (is_run_folder(nativePath(path)))
        return Kind::Run;
    return DocumentController::kindOf(path) == FileKind::Scores ? Kind::Scores : Kind::Nothing;
}

void CompareController::setModel(const QString& nameOrPath, const ScoringOptions& options) {
    model_ = nameOrPath;
    options_ = options;
}

bool CompareController::isBusy() const {
    return pool_->isRunning(openChannel) || lane_->isRunning(scoreChannel) || !state_->isSettled();
}

void CompareController::close() {
    pool_->abandon(openChannel);
    lane_->stop(scoreChannel);
    state_->clear();
}

void CompareController::fail(const Error& error) {
    failed_ = true;
    lastError_ = error.code();
    emit message(MessageKind::Error, QString::fromUtf8(error.what()));
}

CompareController::Opened CompareController::read(const QString& path, Kind kind,
                                                  std::shared_ptr<const ScoreSet> present,
                                                  bool needsData, RunControl& control) {
    Opened opened;
    opened.kind = kind;
    opened.path = path;
    if (kind == Kind::Scores) {
        opened.scores = read_score_file(nativePath(path));
        return opened;
    }
    if (kind == Kind::Adapter)
        return opened;
    const TrainConfig config = read_train_config((nativePath(path) / "config.json").string());
    opened.model = pathText(config.model);
    opened.checkpoints = list_run_checkpoints(nativePath(path));
    for (const std::string& file : config.data)
        opened.dataPaths += pathText(file);
    if (needsData && !config.data.empty()) {
        try {
            opened.dataset = std::make_shared<const Dataset>(read_samples(
                {config.data.begin(), config.data.end()}, read_options(config), control));
        } catch (const Error&) {
            if (!present)
                throw;
            opened.dataset = nullptr; // it has moved: the open scores are enough to compare
        }
    }
    // The run's own base scores, if more checkpoints were scored in their way.
    try {
        const auto kept = read_score_file(opened.checkpoints.front().scores);
        const int open = present ? keptStages(opened.checkpoints, *present) : -1;
        if (kept->provenance().adapter.empty() && keptStages(opened.checkpoints, *kept) > open)
            opened.base = kept;
    } catch (const Error&) {
        opened.base = nullptr; // none, or damaged: the lane makes them
    }
    return opened;
}

void CompareController::open(const QString& path) {
    const Kind kind = kindOf(path);
    if (kind == Kind::Nothing)
        return fail(Error(ErrorCode::bad_value,
                          "is no score file, no PEFT adapter's folder (adapter_config.json) and no "
                          "run folder (config.json, events.jsonl)",
                          nativePath(path).string()));
    const bool needsData = !workspace_->dataset();
    pool_->start(
        openChannel,
        [path, kind, needsData, present = workspace_->scores()](RunControl& control) {
            return read(path, kind, present, needsData, control);
        },
        [this](JobOutcome<Opened> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                fail(*error);
            if (auto* found = std::get_if<0>(&outcome))
                opened(std::move(*found));
        });
}

// Takes the run's own samples where none are open. False if nothing can be compared.
bool CompareController::takeData(const Opened& opened) {
    if (opened.dataset && !workspace_->dataset()) {
        if (workspace_->scores() && !holdsAll(*opened.dataset, *workspace_->scores())) {
            fail(Error(ErrorCode::bad_value,
                       "was trained on other samples than the open scores hold; open the samples "
                       "(Ctrl+O) to score them with its checkpoints",
                       nativePath(opened.path).string()));
            return false;
        }
        workspace_->setDataset(opened.dataset, opened.dataPaths);
    }
    if (workspace_->sampleCount() == 0) {
        emit message(MessageKind::Warning,
                     tr("Open samples or a score file first: there is nothing to compare."));
        return false;
    }
    if (opened.base && workspace_->dataset() && workspace_->matches(*opened.base))
        workspace_->setScores(opened.base, toText(opened.checkpoints.front().scores));
    return true;
}

void CompareController::opened(Opened opened) {
    if (!takeData(opened))
        return;
    if (opened.kind == Kind::Scores && !workspace_->scores()) {
        emit message(MessageKind::Warning,
                     tr("The open samples have no scores yet: score them (F5), or open their score "
                        "file, then compare."));
        return;
    }
    if (opened.kind == Kind::Adapter && !workspace_->dataset()) {
        emit message(MessageKind::Warning,
                     tr("Open the samples themselves (Ctrl+O): a score file alone does not hold "
                        "all of their prompts."));
        return;
    }
    show(opened);
}

void CompareController::show(const Opened& opened) {
    std::vector<CompareStage> stages;
    const QString name = QFileInfo(QDir::cleanPath(opened.path)).fileName();
    std::vector<RunCheckpoint> checkpoints = opened.checkpoints;
    if (opened.kind == Kind::Adapter) {
        // The base's scores stand beside the data, the adapter's with its name.
        const QString data = DocumentController::scorePathFor(workspace_->datasetPaths());
        const QString suffix = QStringLiteral(".scores.safetensors");
        const QString stem = data.left(data.size() - suffix.size());
        checkpoints.push_back({0, {}, true, nativePath(data)});
        checkpoints.push_back({1, nativePath(QFileInfo(opened.path).absoluteFilePath()), true,
                               nativePath(QStringLiteral("%1.%2%3").arg(stem, name, suffix))});
    }
    const std::shared_ptr<const ScoreSet> base = workspace_->scores();
    const bool usable = base && base->provenance().adapter.empty();
    for (const RunCheckpoint& checkpoint : checkpoints) {
        CompareStage stage;
        stage.step = checkpoint.step;
        stage.title = checkpoint.step == 0 ? tr("base")
            : opened.kind == Kind::Adapter ? name
                                           : tr("step %1").arg(checkpoint.step);
        if (usable)
            stage.scores = checkpoint.step == 0 ? base : kept_scores(checkpoint, *base);
        if (!stage.scores && !checkpoint.is_there())
            stage.status = CompareStage::Status::Gone;
        stages.push_back(std::move(stage));
    }
    if (opened.kind == Kind::Scores) {
        CompareStage stage;
        stage.title = name;
        stage.scores = opened.scores;
        stages.push_back(std::move(stage));
    }
    runModel_ = opened.model;
    const int last = static_cast<int>(stages.size()) - 1;
    int shown = last; // the newest that is scored, after the base
    while (shown > 0 && !stages[static_cast<std::size_t>(shown)].scores)
        --shown;
    checkpoints_ = std::move(checkpoints);
    besideData_ = opened.kind == Kind::Adapter;
    state_->setStages(name, std::move(stages), shown > 0 ? shown : last);
    emit adaptersChanged();
    if (last == 0 && opened.kind == Kind::Run)
        emit message(MessageKind::Information,
                     tr("%1 has no checkpoint yet. Set \"save every\" steps in its configuration, "
                        "or wait for its end.")
                         .arg(name));
}

std::vector<std::pair<QString, QString>> CompareController::adapters() const {
    std::vector<std::pair<QString, QString>> list;
    for (std::size_t i = checkpoints_.size(); i-- > 0;) // the newest first
        if (checkpoints_[i].is_adapter && !checkpoints_[i].folder.empty())
            list.emplace_back(state_->stages()[i].title, toText(checkpoints_[i].folder));
    return list;
}

bool CompareController::canScore() const {
    return workspace_->dataset() && !checkpoints_.empty() && state_->missingCount() > 0
        && !(runModel_.isEmpty() && model_.isEmpty()) && !lane_->isRunning(scoreChannel);
}

void CompareController::scoreMissing() {
    if (!canScore())
        return;
    Job job;
    // The run's model, unless it has moved: then the open one.
    const bool found = !runModel_.isEmpty() && pathExists(runModel_);
    job.model = nativePath(found || model_.isEmpty() ? runModel_ : model_).string();
    job.options = options_;
    job.options.session.adapter.clear();
    job.dataset = workspace_->dataset();
    job.present = workspace_->scores();
    job.checkpoints = checkpoints_;
    for (int stage = 0; stage < static_cast<int>(state_->stages().size()); ++stage)
        if (state_->stages()[static_cast<std::size_t>(stage)].status
            == CompareStage::Status::Missing)
            job.wanted.push_back(stage);
    auto number = std::make_shared<quint64>(0);
    job.besideData = besideData_;
    job.deliver = [this, number](int stage, std::shared_ptr<const ScoreSet> scores,
                                 const QString& path) {
        QMetaObject::invokeMethod(
            this,
            [this, number, stage, path, scores = std::move(scores)] {
                if (*number == job_ && !checkpoints_.empty())
                    stageScored(stage, scores, path);
            },
            Qt::QueuedConnection);
    };
    job.title = [this](const QString& title) {
        QMetaObject::invokeMethod(
            this, [this, title] { lane_->setTitle(title); }, Qt::QueuedConnection);
    };
    const int wanted = static_cast<int>(job.wanted.size());
    job_ = lane_->start(
        scoreChannel,
        [job = std::move(job)](ModelLane::Holder& holder, RunControl& control) {
            return scoreAll(holder, job, control);
        },
        [this, wanted](JobOutcome<int> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                fail(*error);
            else if (std::holds_alternative<Cancelled>(outcome))
                emit message(MessageKind::Information,
                             tr("Stopped. The checkpoints that were scored are kept."));
            else if (std::get_if<0>(&outcome))
                emit message(MessageKind::Information,
                             wanted == 1 ? tr("1 checkpoint scored.")
                                         : tr("%1 checkpoints scored.").arg(wanted));
            emit finished();
        });
    *number = job_;
}

// The base first if the open scores are not what this model makes, then what is missing.
int CompareController::scoreAll(ModelLane::Holder& holder, const Job& job, RunControl& control) {
    const auto score = [&](InferenceSession& session) {
        ScoreRun run = score_samples(session, job.dataset->samples, job.options.score, {}, control);
        if (run.stopped)
            throw Cancelled();
        if (run.scores->sample_count() == 0)
            throw Error(ErrorCode::bad_value,
                        run.skipped.empty()
                            ? "no sample could be scored"
                            : "no sample could be scored; the first: " + run.skipped.front().reason,
                        job.model);
        return run.scores;
    };
    SessionOptions options = job.options.session;
    RunCheckpoint first = job.checkpoints.front();
    InferenceSession& base = holder.open(job.model, options, control);
    std::shared_ptr<const ScoreSet> before =
        kept_base_scores(first, job.present, base, job.dataset->samples, job.options.score);
    if (!before) {
        job.title(tr("base"));
        before = score(base);
        if (job.besideData) // never over the scores of another model
            first.scores =
                nativePath(ScoringController::freeScorePath(toText(first.scores), *before));
        keep_scores(first, *before);
    } else if (!job.besideData
               && !kept_base_scores(first, nullptr, base, job.dataset->samples,
                                    job.options.score)) {
        keep_scores(first, *before); // the run's scores are whole for `cuset compare`
    }
    if (before != job.present)
        job.deliver(0, before, toText(first.scores));
    int done = 0;
    for (const int stage : job.wanted) {
        const RunCheckpoint& checkpoint = job.checkpoints[static_cast<std::size_t>(stage)];
        if (checkpoint.step == 0)
            continue;
        std::shared_ptr<const ScoreSet> scores = kept_scores(checkpoint, *before);
        if (!scores) {
            job.title(
                tr("step %1, %2 of %3").arg(checkpoint.step).arg(done + 1).arg(job.wanted.size()));
            options.adapter = checkpoint.is_adapter ? checkpoint.folder.string() : std::string();
            scores = score(holder.open(
                checkpoint.is_adapter ? job.model : checkpoint.folder.string(), options, control));
            keep_scores(checkpoint, *scores);
        }
        job.deliver(stage, scores, toText(checkpoint.scores));
        ++done;
    }
    return done;
}

void CompareController::stageScored(int stage, std::shared_ptr<const ScoreSet> scores,
                                    const QString& path) {
    if (stage == 0) {
        if (!workspace_->matches(*scores))
            return;
        if (workspace_->scores())
            emit message(MessageKind::Information,
                         tr("The open scores were made in another way: the base was scored again, "
                            "and its scores are shown."));
        workspace_->setScores(scores, path);
        scores = workspace_->scores();
    }
    state_->setScores(stage, std::move(scores));
}

// What a comparison leaves out is said once for each thing that is opened.
void CompareController::warnOnce() {
    const auto figures = state_->figures();
    if (!figures || warned_)
        return;
    warned_ = true;
    const QString text = comparisonWarning(figures->comparison);
    if (!text.isEmpty())
        emit message(MessageKind::Warning, text);
}

} // namespace cuset
