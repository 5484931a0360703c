#include "ui/state/workspace.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <QFileInfo>

namespace cuset {

Workspace::Workspace(QObject* parent)
    : QObject(parent) { }

void Workspace::setDataset(std::shared_ptr<const Dataset> dataset, const QStringList& paths) {
    dataset_ = std::move(dataset);
    datasetPaths_ = paths;
    rows_.assign(dataset_ ? dataset_->samples.size() : 0, Row{});
    for (std::size_t row = 0; row < rows_.size(); ++row)
        rows_[row].dataset = static_cast<int>(row);
    if (given_ && matchScores()) {
        correct();
    } else {
        given_.reset();
        scores_.reset();
        scoresPath_.clear();
        rowOfScored_.clear();
        for (Row& row : rows_)
            row.scored = -1;
    }
    emit samplesReset();
    emit scoresChanged();
}

void Workspace::setScores(std::shared_ptr<const ScoreSet> scores, const QString& path) {
    given_ = std::move(scores);
    correct();
    scoresPath_ = path;
    if (!scores_ || !dataset_ || !matchScores()) {
        dataset_.reset();
        datasetPaths_.clear();
        rows_.assign(scores_ ? static_cast<std::size_t>(scores_->sample_count()) : 0, Row{});
        rowOfScored_.resize(rows_.size());
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            rows_[row].scored = static_cast<int>(row);
            rowOfScored_[row] = static_cast<int>(row);
        }
        emit samplesReset();
    }
    emit scoresChanged();
}

std::optional<std::vector<int>> Workspace::matchRows(const ScoreSet& scores) const {
    if (!dataset_)
        return std::nullopt;
    std::unordered_multimap<std::string, int> byId;
    for (std::size_t row = dataset_->samples.size(); row-- > 0;)
        byId.emplace(dataset_->samples[row].id, static_cast<int>(row));
    std::vector<int> rows(static_cast<std::size_t>(scores.sample_count()), -1);
    for (int n = 0; n < static_cast<int>(scores.sample_count()); ++n) {
        auto [match, end] = byId.equal_range(scores.id(n));
        while (match != end
               && dataset_->samples[static_cast<std::size_t>(match->second)].response
                   != scores.response(n))
            ++match;
        if (match == end)
            return std::nullopt;
        rows[static_cast<std::size_t>(n)] = match->second;
        byId.erase(match);
    }
    return rows;
}

// Gives the rows of the data set their scores. False if these are scores of other samples.
bool Workspace::matchScores() {
    std::optional<std::vector<int>> matched = matchRows(*given_);
    if (!matched)
        return false;
    for (Row& row : rows_)
        row.scored = -1;
    rowOfScored_ = std::move(*matched);
    for (std::size_t n = 0; n < rowOfScored_.size(); ++n)
        rows_[static_cast<std::size_t>(rowOfScored_[n])].scored = static_cast<int>(n);
    return true;
}

void Workspace::relabel() {
    if (!given_)
        return;
    correct();
    emit scoresChanged();
}

bool Workspace::isPrepared(const std::string& id) const {
    return dataset_
        && std::any_of(dataset_->samples.begin(), dataset_->samples.end(),
                       [&](const Sample& s) { return s.id == id && !s.prepared.ids.empty(); });
}

void Workspace::setModel(std::optional<ModelInfo> model) {
    const bool same = model && model_ && model->path == model_->path
        && model->model_sha256 == model_->model_sha256;
    model_ = std::move(model);
    if (!same)
        verification_.reset();
    emit modelChanged();
}

void Workspace::setVerification(std::optional<Verification> verification) {
    verification_ = std::move(verification);
    emit verificationChanged();
}

int Workspace::scoredCount() const {
    return static_cast<int>(
        std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.scored >= 0; }));
}

QString Workspace::sampleId(int row) const {
    const Row& entry = rows_[static_cast<std::size_t>(row)];
    return QString::fromStdString(
        entry.dataset >= 0 ? dataset_->samples[static_cast<std::size_t>(entry.dataset)].id
                           : scores_->id(entry.scored));
}

std::string_view Workspace::prompt(int row) const {
    const Row& entry = rows_[static_cast<std::size_t>(row)];
    if (entry.dataset >= 0)
        return dataset_->samples[static_cast<std::size_t>(entry.dataset)].prompt;
    return scores_->prompt(entry.scored);
}

std::string_view Workspace::response(int row) const {
    const Row& entry = rows_[static_cast<std::size_t>(row)];
    if (entry.dataset >= 0)
        return dataset_->samples[static_cast<std::size_t>(entry.dataset)].response;
    return scores_->response(entry.scored);
}

int Workspace::scoredIndex(int row) const {
    return row >= 0 && row < sampleCount() ? rows_[static_cast<std::size_t>(row)].scored : -1;
}

int Workspace::rowOfScored(int index) const {
    return index >= 0 && index < static_cast<int>(rowOfScored_.size())
        ? rowOfScored_[static_cast<std::size_t>(index)]
        : -1;
}

QString Workspace::title() const {
    if (!datasetPaths_.isEmpty()) {
        const QString first = QFileInfo(datasetPaths_.first()).fileName();
        return datasetPaths_.size() == 1
            ? first
            : tr("%1 and %2 more").arg(first, QString::number(datasetPaths_.size() - 1));
    }
    return scoresPath_.isEmpty() ? QString() : QFileInfo(scoresPath_).fileName();
}

} // namespace cuset
