// UnitFigures: each sample's lowest token, line, statement, window or region: a column of the
// table. Computed in the pool while somebody shows it.
#pragma once

#include <vector>

#include <QObject>
#include <QTimer>

#include "core/analysis/lowest_units.h"
#include "ui/async/job_runner.h"
#include "ui/state/analysis_state.h"

namespace cuset {

class UnitFigures : public QObject {
    Q_OBJECT
public:
    UnitFigures(AnalysisState* analysis, MaskSettingsState* settings, JobRunner* pool,
                QObject* parent = nullptr);

    void setUnit(TextUnit unit, Aggregate how);
    TextUnit unit() const { return query_.unit; }
    Aggregate how() const { return query_.how; }
    // "lowest line, mean"
    QString title() const;
    // Nothing is computed while the column is out of sight.
    void setWanted(bool wanted);

    // Of a sample of the analyzer's; null while unknown and where it has none.
    const SpanConfidence* lowest(int corpusIndex) const;
    bool isSettled() const;

signals:
    void unitChanged();
    void changed(); // figures of rows
    void failed(const QString& message);

private:
    void forget();
    void compute();

    AnalysisState* analysis_;
    MaskSettingsState* settings_;
    JobRunner* pool_;
    LowestQuery query_;
    bool wanted_ = false;
    bool known_ = false; // of this corpus, unit and window, or on its way
    std::vector<SpanConfidence> lowest_; // [N of the analyzer], or empty
    QTimer windowTimer_; // a short rest after the window's slider
};

} // namespace cuset
