// RunAdvisor: what can be said of a configuration before it runs: whether it is right, what it
// will take, and what it trains of a sample. A short while after the last change, in the pool.
#pragma once

#include <memory>
#include <optional>

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include "core/train/sample_preview.h"
#include "core/train/train_estimate.h"
#include "ui/async/job_runner.h"
#include "ui/state/workspace.h"

namespace cuset {

class RunAdvisor : public QObject {
    Q_OBJECT
public:
    explicit RunAdvisor(Workspace* workspace, QObject* parent = nullptr);
    ~RunAdvisor() override;

    // The check that `cuset train` makes of a file with these settings: "" if it passes.
    static QString check(const TrainConfig& config);

    void setConfig(const TrainConfig& config);
    // The sample to preview, by its place in the data.
    void setSample(int index);
    bool isBusy() const { return timer_.isActive() || !pool_.isIdle(); }

signals:
    void checked(const QString& problem); // paths, model, data; "" if all is well
    void estimated(std::shared_ptr<const cuset::TrainEstimate> estimate);
    void sampleNames(const QStringList& names); // of the data, when they were read
    void previewed(std::shared_ptr<const cuset::SamplePreview> preview);
    void previewFailed(const QString& text);

private:
    struct Source;
    struct Shown;
    void look();
    void preview();

    Workspace* workspace_;
    std::optional<TrainConfig> config_;
    int sample_ = 0;
    QTimer timer_;
    std::shared_ptr<Source> source_; // touched in the preview lane only
    JobRunner pool_{1};
    JobRunner lane_{1}; // last: their destructors wait for jobs
};

} // namespace cuset
