// Workspace: what is open: a data set, scores, a model. Rows are samples, in the order of the data
// set or of the score file; a row may be unscored.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>

#include "core/data/sample.h"
#include "core/data/score_set.h"
#include "core/model/inference_session.h"
#include "core/model/verification.h"

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
    // What lays a person's corrections over the labels of scores: scores() is what it makes of
    // those that were set.
    using Corrector =
        std::function<std::shared_ptr<const ScoreSet>(const std::shared_ptr<const ScoreSet>&)>;
    void setCorrector(Corrector corrector) { corrector_ = std::move(corrector); }
    // The corrections are others: corrects the labels again. Emits scoresChanged().
    void relabel();
    // True if the data gave token ids and CUDA flags of its own for the sample.
    bool isPrepared(const std::string& id) const;
    // Another model's verification is dropped.
    void setModel(std::optional<ModelInfo> model);
    void setVerification(std::optional<Verification> verification);

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
    // Of the open model, once it was compared with a reference.
    const std::optional<Verification>& verification() const { return verification_; }
    // A short name of what is shown, for the title: the data's file, else the score file.
    QString title() const;

signals:
    void samplesReset(); // rows are other rows
    void scoresChanged(); // the rows stand, their scores are others
    void modelChanged();
    void verificationChanged();

private:
    struct Row {
        int dataset = -1;
        int scored = -1;
    };
    // The row of each scored sample, or nothing if one of them is not in the data set.
    std::optional<std::vector<int>> matchRows(const ScoreSet& scores) const;
    bool matchScores();
    void correct() { scores_ = corrector_ && given_ ? corrector_(given_) : given_; }

    std::shared_ptr<const Dataset> dataset_;
    std::shared_ptr<const ScoreSet> given_; // as they were set
    std::shared_ptr<const ScoreSet> scores_; // with corrected labels
    Corrector corrector_;
    QStringList datasetPaths_;
    QString scoresPath_;
    std::optional<ModelInfo> model_;
    std::optional<Verification> verification_;
    std::vector<Row> rows_;
    std::vector<int> rowOfScored_;
};

} // namespace cuset
