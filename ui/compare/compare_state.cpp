#include "ui/compare/compare_state.h"

#include <algorithm>
#include <utility>

#include <QLocale>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr int densityPoints = 256;
constexpr int namedSamples = 4;
const QString mapChannel = QStringLiteral("data map");

std::shared_ptr<const ComparedFigures> measure(const ScoreSet& before, const ScoreSet& after,
                                               RunControl& control) {
    auto figures = std::make_shared<ComparedFigures>();
    figures->comparison = compare_scores(before, after);
    control.throw_if_stopped();
    figures->indices.assign(static_cast<std::size_t>(before.sample_count()), -1);
    for (const SampleChange& sample : figures->comparison.samples)
        figures->indices[static_cast<std::size_t>(sample.index_a)] =
            static_cast<int>(sample.index_b);
    const ComparedConfidences tokens = compared_confidences(figures->comparison, before, after);
    control.throw_if_stopped();
    figures->sensitiveAfter = kernel_density(tokens.sensitive_after, densityPoints);
    figures->neutralAfter = kernel_density(tokens.neutral_after, densityPoints);
    figures->sensitiveAfterMoments = moments(tokens.sensitive_after);
    figures->neutralAfterMoments = moments(tokens.neutral_after);
    return figures;
}

QString shownId(const std::string& id) {
    return visibleText(id, 40);
}

// "2 samples ...: a, b"; `ids` in their order, the first few by name.
QString listed(const QString& what, const std::vector<std::string>& ids) {
    QStringList names;
    for (std::size_t i = 0; i < ids.size() && i < namedSamples; ++i)
        names += shownId(ids[i]);
    if (ids.size() > namedSamples)
        names += QStringLiteral("\u2026");
    return what.arg(ids.size()) + names.join(QStringLiteral(", "));
}

} // namespace

CompareState::CompareState(Workspace* workspace, AnalysisState* analysis, JobRunner* pool,
                           QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , analysis_(analysis)
    , pool_(pool) {
    connect(workspace_, &Workspace::samplesReset, this, &CompareState::clear);
    connect(workspace_, &Workspace::scoresChanged, this, &CompareState::baseChanged);
}

QString CompareState::channelOf(int stage) const {
    return QStringLiteral("compare %1").arg(stage);
}

void CompareState::setStages(const QString& name, std::vector<CompareStage> stages, int current) {
    for (int stage = 0; stage < static_cast<int>(stages_.size()); ++stage)
        pool_->abandon(channelOf(stage));
    name_ = name;
    stages_ = std::move(stages);
    current_ = current >= 0 && current < static_cast<int>(stages_.size()) ? current : -1;
    if (std::exchange(map_, nullptr))
        emit dataMapChanged();
    emit stagesChanged();
    showCurrent();
    for (int stage = 0; stage < static_cast<int>(stages_.size()); ++stage)
        if (stages_[static_cast<std::size_t>(stage)].scores)
            compute(stage);
}

void CompareState::clear() {
    if (!stages_.empty())
        setStages({}, {}, -1);
}

void CompareState::setScores(int stage, std::shared_ptr<const ScoreSet> scores) {
    if (stage < 0 || stage >= static_cast<int>(stages_.size()))
        return;
    stages_[static_cast<std::size_t>(stage)].scores = std::move(scores);
    compute(stage);
}

void CompareState::setProblem(int stage, const QString& problem) {
    if (stage < 0 || stage >= static_cast<int>(stages_.size()))
        return;
    CompareStage& entry = stages_[static_cast<std::size_t>(stage)];
    entry.status = CompareStage::Status::Failed;
    entry.problem = problem;
    emit stageChanged(stage);
}

void CompareState::compute(int stage) {
    CompareStage& entry = stages_[static_cast<std::size_t>(stage)];
    const std::shared_ptr<const ScoreSet> before = workspace_->scores();
    if (!before || !entry.scores)
        return;
    entry.status = CompareStage::Status::Computing;
    entry.problem.clear();
    emit stageChanged(stage);
    pool_->start(
        channelOf(stage),
        [before, after = entry.scores](RunControl& control) {
            return measure(*before, *after, control);
        },
        [this, stage](JobOutcome<std::shared_ptr<const ComparedFigures>> outcome) {
            CompareStage& done = stages_[static_cast<std::size_t>(stage)];
            if (const auto* error = std::get_if<1>(&outcome)) {
                setProblem(stage, QString::fromUtf8(error->what()));
                emit failed(done.problem);
                return;
            }
            auto* figures = std::get_if<0>(&outcome);
            if (!figures)
                return;
            done.figures = std::move(*figures);
            done.status = CompareStage::Status::Ready;
            emit stageChanged(stage);
            if (stage == current_)
                showCurrent();
            computeDataMap();
        });
}

void CompareState::setCurrent(int stage) {
    if (stage < 0 || stage >= static_cast<int>(stages_.size()) || stage == current_)
        return;
    current_ = stage;
    showCurrent();
}

void CompareState::showCurrent() {
    if (const auto now = figures())
        analysis_->setCompared(stages_[static_cast<std::size_t>(current_)].scores, now->indices);
    else
        analysis_->setCompared(nullptr, {});
    emit currentChanged();
}

std::shared_ptr<const ComparedFigures> CompareState::figures() const {
    return current_ < 0 ? nullptr : stages_[static_cast<std::size_t>(current_)].figures;
}

int CompareState::readyCount() const {
    return static_cast<int>(
        std::count_if(stages_.begin(), stages_.end(), [](const CompareStage& stage) {
            return stage.status == CompareStage::Status::Ready;
        }));
}

int CompareState::missingCount() const {
    return static_cast<int>(
        std::count_if(stages_.begin(), stages_.end(), [](const CompareStage& stage) {
            return stage.status == CompareStage::Status::Missing;
        }));
}

// The open scores are others, or have other labels: everything is measured again.
void CompareState::baseChanged() {
    if (stages_.empty())
        return;
    for (CompareStage& stage : stages_)
        stage.figures.reset();
    showCurrent();
    if (!workspace_->scores())
        return;
    for (int stage = 0; stage < static_cast<int>(stages_.size()); ++stage)
        if (stages_[static_cast<std::size_t>(stage)].scores)
            compute(stage);
}

void CompareState::setDataMapWanted(bool wanted) {
    mapWanted_ = wanted;
    if (!map_)
        computeDataMap();
}

void CompareState::computeDataMap() {
    std::vector<std::shared_ptr<const ScoreSet>> sets;
    for (const CompareStage& stage : stages_)
        if (stage.status == CompareStage::Status::Ready)
            sets.push_back(stage.scores);
    if (!mapWanted_ || sets.size() < 2)
        return;
    pool_->start(
        mapChannel,
        [sets = std::move(sets)](RunControl&) {
            return std::make_shared<const DataMap>(data_map(sets));
        },
        [this](JobOutcome<std::shared_ptr<const DataMap>> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit failed(QString::fromUtf8(error->what()));
            if (auto* map = std::get_if<0>(&outcome)) {
                map_ = std::move(*map);
                emit dataMapChanged();
            }
        });
}

bool CompareState::isSettled() const {
    return !pool_->isRunning(mapChannel)
        && std::none_of(stages_.begin(), stages_.end(), [](const CompareStage& stage) {
               return stage.status == CompareStage::Status::Computing;
           });
}

QString comparisonWarning(const Comparison& comparison) {
    QStringList parts;
    std::vector<std::string> leftOut;
    for (const LeftOutSample& sample : comparison.left_out)
        leftOut.push_back(sample.id);
    if (!comparison.only_in_a.empty())
        parts += listed(CompareState::tr("%1 samples are only before: "), comparison.only_in_a);
    if (!comparison.only_in_b.empty())
        parts += listed(CompareState::tr("%1 samples are only after: "), comparison.only_in_b);
    if (!leftOut.empty())
        parts += listed(CompareState::tr("%1 samples do not have the same tokens: "), leftOut)
            + CompareState::tr(" (%1)").arg(
                QString::fromStdString(comparison.left_out.front().reason));
    for (const std::string& difference : comparison.differences)
        parts += visibleText(difference, 200);
    if (parts.isEmpty())
        return {};
    return CompareState::tr("Compared %1 samples. %2.")
        .arg(QLocale().toString(static_cast<qlonglong>(comparison.samples.size())),
             parts.join(QStringLiteral("; ")));
}

} // namespace cuset
