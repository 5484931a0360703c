#include "ui/shell/scoring_controller.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include <QFileInfo>

#include "core/io/score_file.h"
#include "ui/shell/document_controller.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

using Clock = std::chrono::steady_clock;

const QString channel = QStringLiteral("score");
const QString verifyChannel = QStringLiteral("verify");
constexpr std::chrono::milliseconds partialInterval{400};
constexpr int partialCostFactor = 20; // a snapshot may take a twentieth of the time

// Hands out the scores so far, seldom enough that copying them costs little.
class PartialScores {
public:
    PartialScores(const InferenceSession& session, const ScoringOptions& options,
                  std::function<void(std::shared_ptr<const ScoreSet>)> deliver)
        : builder_(session.provenance(options.score), options.score.top_k,
                   [&session](std::int32_t id) { return session.tokenizer().token_bytes(id); })
        , deliver_(std::move(deliver)) { }

    void add(const ScoredSample& sample) {
        builder_.add(sample);
        const auto now = Clock::now();
        if (now < next_)
            return;
        deliver_(builder_.snapshot());
        const auto cost = Clock::now() - now;
        next_ = Clock::now() + std::max<Clock::duration>(partialInterval, cost * partialCostFactor);
    }

private:
    ScoreSetBuilder builder_;
    std::function<void(std::shared_ptr<const ScoreSet>)> deliver_;
    Clock::time_point next_{};
};

} // namespace

struct ScoringController::Result {
    ScoreRun run;
    ModelInfo model;
    QString path; // where the scores were saved, "" if there are none
    QString saveError; // why they were not
};

ScoringController::ScoringController(Workspace* workspace, ModelLane* lane, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , lane_(lane) { }

ScoringController::~ScoringController() = default;

bool ScoringController::isRunning() const {
    return lane_->isRunning(channel) || lane_->isRunning(verifyChannel);
}

QString ScoringController::freeScorePath(const QString& wanted, const ScoreSet& scores) {
    const QString suffix = QStringLiteral(".scores.safetensors");
    const QString stem = wanted.left(wanted.size() - suffix.size());
    const QString model =
        QFileInfo(QString::fromStdString(scores.provenance().model)).completeBaseName();
    for (int attempt = 0;; ++attempt) {
        QString path = wanted;
        if (attempt == 1)
            path = QStringLiteral("%1.%2%3").arg(stem, model, suffix);
        else if (attempt > 1)
            path = QStringLiteral("%1.%2.%3%4").arg(stem, model).arg(attempt).arg(suffix);
        if (!pathExists(path))
            return path;
        try {
            const auto old = read_score_file(nativePath(path));
            const bool sameModel =
                old->provenance().model_sha256 == scores.provenance().model_sha256
                && old->provenance().model == scores.provenance().model
                && old->provenance().adapter == scores.provenance().adapter;
            if (sameModel && old->sample_count() <= scores.sample_count())
                return path;
        } catch (const Error&) {
            continue; // not ours to overwrite
        }
    }
}

namespace {

// What the model's own reference says of the session. A reference that cannot be read is no reason
// not to score: the reason is shown instead.
Verification verifyWithOwnReference(InferenceSession& session, RunControl& control) {
    Verification result;
    try {
        if (const auto path = find_reference(session.info().path))
            return verify_session(session, read_reference(*path), control);
        result.reason = "the model has no reference (cuset-reference.json beside it); "
                        "packaging/make_reference.py makes one with transformers";
    } catch (const Error& error) {
        result.reason = error.what();
    }
    return result;
}

} // namespace

ScoringController::OnVerified ScoringController::verifiedHandler(const QString& modelPath) {
    return [this, modelPath](const Verification& verification) {
        QMetaObject::invokeMethod(
            this,
            [this, modelPath, verification] {
                if (modelPath == runningModel_)
                    workspace_->setVerification(verification);
            },
            Qt::QueuedConnection);
    };
}

void ScoringController::verify(const QString& modelPath, const SessionOptions& options) {
    if (modelPath.isEmpty() || lane_->isRunning())
        return;
    runningModel_ = modelPath;
    using Verified = std::pair<ModelInfo, Verification>;
    lane_->start(
        verifyChannel,
        [model = nativePath(modelPath).string(), options](ModelLane::Holder& holder,
                                                          RunControl& control) -> Verified {
            InferenceSession& session = holder.open(model, options, control);
            if (options.adapter.empty())
                holder.takeUnverified();
            return {session.info(), verifyWithOwnReference(session, control)};
        },
        [this](JobOutcome<Verified> outcome) {
            if (const auto* error = std::get_if<1>(&outcome)) {
                emit message(MessageKind::Error, QString::fromUtf8(error->what()));
            } else if (const auto* verified = std::get_if<0>(&outcome)) {
                workspace_->setModel(verified->first);
                workspace_->setVerification(verified->second);
            }
            emit finished();
        });
    lane_->setTitle(tr("Verifying"));
}

ScoringController::Result
ScoringController::work(ModelLane::Holder& holder, const std::string& model,
                        const ScoringOptions& options, const Dataset& dataset, const QString& path,
                        const std::function<void(std::shared_ptr<const ScoreSet>)>& onPartial,
                        const OnVerified& onVerified, RunControl& control) {
    InferenceSession& session = holder.open(model, options.session, control);
    // An adapter's numbers are not the model's.
    if (options.session.adapter.empty() && holder.takeUnverified()
        && find_reference(session.info().path))
        onVerified(verifyWithOwnReference(session, control));
    PartialScores partial(session, options, onPartial);
    Result result;
    result.run = score_samples(
        session, dataset.samples, options.score,
        [&](const ScoredSample& sample) { partial.add(sample); }, control);
    result.model = session.info();
    if (!result.run.scores || result.run.scores->sample_count() == 0)
        return result;
    try {
        const QString target = freeScorePath(path, *result.run.scores);
        std::error_code ignored; // writing says what is wrong
        std::filesystem::create_directories(nativePath(QFileInfo(target).absolutePath()), ignored);
        write_score_file(nativePath(target), *result.run.scores);
        result.path = target;
    } catch (const Error& error) {
        result.saveError = QString::fromUtf8(error.what());
    }
    return result;
}

void ScoringController::start(const QString& modelPath, const ScoringOptions& options) {
    const std::shared_ptr<const Dataset> dataset = workspace_->dataset();
    if (!dataset || dataset->samples.empty() || modelPath.isEmpty())
        return;
    const QString path = DocumentController::scorePathFor(workspace_->datasetPaths());
    // Partial scores come by themselves; those of an older job are not shown.
    auto number = std::make_shared<quint64>(0);
    const auto onPartial = [this, number, dataset](std::shared_ptr<const ScoreSet> scores) {
        QMetaObject::invokeMethod(
            this,
            [this, number, dataset, scores] {
                if (*number == job_ && isRunning() && workspace_->dataset() == dataset)
                    workspace_->setScores(scores, {});
            },
            Qt::QueuedConnection);
    };
    runningModel_ = modelPath;
    job_ = lane_->start(
        channel,
        [model = nativePath(modelPath).string(), options, dataset, path, onPartial,
         onVerified = verifiedHandler(modelPath)](ModelLane::Holder& holder, RunControl& control) {
            return work(holder, model, options, *dataset, path, onPartial, onVerified, control);
        },
        [this](JobOutcome<Result> outcome) { done(std::move(outcome)); });
    *number = job_;
}

void ScoringController::done(JobOutcome<Result> outcome) {
    if (const auto* error = std::get_if<1>(&outcome)) {
        failed_ = true;
        lastError_ = error->code();
        emit message(MessageKind::Error, QString::fromUtf8(error->what()));
    } else if (std::holds_alternative<Cancelled>(outcome)) {
        emit message(MessageKind::Information, tr("Stopped before a sample was scored."));
    } else {
        report(std::get<0>(outcome));
    }
    emit finished();
}

void ScoringController::reportSkipped(const Result& result) {
    const std::size_t count = result.run.skipped.size();
    const QString first =
        QStringLiteral("%1: %2").arg(QString::fromStdString(result.run.skipped.front().id),
                                     QString::fromStdString(result.run.skipped.front().reason));
    emit message(MessageKind::Warning,
                 count == 1 ? tr("A sample could not be scored: %1").arg(first)
                            : tr("%1 samples could not be scored; the first is %2")
                                  .arg(QString::number(count), first));
}

void ScoringController::report(const Result& result) {
    workspace_->setModel(result.model);
    if (result.run.scores && workspace_->matches(*result.run.scores))
        workspace_->setScores(result.run.scores, result.path);
    const std::int64_t scored = result.run.scores ? result.run.scores->sample_count() : 0;
    const QString count = scored == 1 ? tr("1 sample") : tr("%1 samples").arg(scored);
    if (!result.saveError.isEmpty())
        emit message(MessageKind::Error,
                     tr("The scores are shown but not saved: %1").arg(result.saveError));
    else if (result.path.isEmpty())
        emit message(MessageKind::Warning, tr("No sample could be scored."));
    else
        emit message(MessageKind::Information,
                     (result.run.stopped
                          ? tr("Stopped. %1 scored so far with %2 in %3, saved as %4")
                          : tr("%1 scored with %2 in %3, saved as %4"))
                         .arg(count, QString::fromStdString(result.model.name),
                              QString::fromStdString(result.model.dtype), result.path));
    if (!result.run.skipped.empty())
        reportSkipped(result);
    if (result.run.cut_samples > 0)
        emit message(
            MessageKind::Warning,
            result.run.cut_samples == 1
                ? tr("1 sample is longer than the maximum length and was cut at its end.")
                : tr("%1 samples are longer than the maximum length and were cut at their end.")
                      .arg(result.run.cut_samples));
}

} // namespace cuset
