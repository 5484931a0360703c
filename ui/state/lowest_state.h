// LowestState: the stretches of the whole corpus that the model is least sure of, looked for in the
// pool while somebody shows them.
#pragma once

#include <memory>
#include <vector>

#include <QObject>
#include <QTimer>

#include "core/analysis/lowest_units.h"
#include "ui/async/job_runner.h"
#include "ui/state/analysis_state.h"

namespace cuset {

class LowestState : public QObject {
    Q_OBJECT
public:
    LowestState(AnalysisState* analysis, MaskSettingsState* settings, JobRunner* pool,
                QObject* parent = nullptr);

    // What is looked for; the window is that of the thresholds.
    const LowestQuery& query() const { return query_; }
    void setQuery(const LowestQuery& query);
    // Nothing is looked for while the list is out of sight.
    void setActive(bool active);

    // Lowest first; of `scores()`, null while nothing has been found.
    const std::vector<LowUnit>& units() const { return units_; }
    const std::shared_ptr<const ScoreSet>& scores() const { return scores_; }
    bool isLooking() const;
    bool isSettled() const { return !isLooking(); }

signals:
    void changed(); // units, or whether they are being looked for
    void failed(const QString& message);

private:
    void look();
    void clear();

    AnalysisState* analysis_;
    MaskSettingsState* settings_;
    JobRunner* pool_;
    LowestQuery query_;
    bool active_ = false;
    bool stale_ = true; // what is shown is of another corpus, query or window
    QTimer windowTimer_; // a short rest after the window's slider
    std::vector<LowUnit> units_;
    std::shared_ptr<const ScoreSet> scores_;
};

} // namespace cuset
