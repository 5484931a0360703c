// Workspace: what is open: a data set, scores, a model. Rows are samples, in the order of the data
// set or of the score file; a row may be unscored.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>

#include "core/data/sample.h"
#include "core/data/score_set.h"
#include "core/model/inference_session.h"

namespace cuset {

class Workspace : public QObject {
    Q_OBJECT
public:
    explicit Workspace(QObject* parent = nullptr);

    // Replaces the data; scores of other data are closed.
    void setDataset(std::shared_ptr<const Dataset> dataset, const QStringList& paths);
    // Scores of the open data set fill its rows; scores of other samples replace it.
    void setScores(std::shared_ptr<const ScoreSet> scores, const QString& path);
    // True if every sample of `scores` is one of the open data set: same id, same response.
    bool matches(const ScoreSet& scores) const { return matchRows(scores).has_value(); }
    void setModel(std::optional<ModelInfo> model);

    int sampleCount() const { return static_cast<int>(rows_.size()); }
    int scoredCount() const;
    QString sampleId(int row) const;
    std::string_view prompt(int row) const;
    std::string_view response(int row) const;
    int scoredIndex(int row) const; // in scores(), or -1
    int rowOfScored(int index) const; // the row of a sample of scores(), or -1

    const std::shared_ptr<const Dataset>& dataset() const { return dataset_; }
    const std::shared_ptr<const ScoreSet>& scores() const { return scores_; }
    const QStringList& datasetPaths() const { return datasetPaths_; }
    const QString& scoresPath() const { return scoresPath_; }
    const std::optional<ModelInfo>& model() const { return model_; }
    // A short name of what is shown, for the title: the data's file, else the score file.
    QString title() const;

signals:
    void samplesReset(); // rows are other rows
    void scoresChanged(); // the rows stand, their scores are others
    void modelChanged();

private:
    struct Row {
        int dataset = -1;
        int scored = -1;
    };
    // The row of each scored sample, or nothing if one of them is not in the data set.
    std::optional<std::vector<int>> matchRows(const ScoreSet& scores) const;
    bool matchScores();

    std::shared_ptr<const Dataset> dataset_;
    std::shared_ptr<const ScoreSet> scores_;
    QStringList datasetPaths_;
    QString scoresPath_;
    std::optional<ModelInfo> model_;
    std::vector<Row> rows_;
    std::vector<int> rowOfScored_;
};

} // namespace cuset
