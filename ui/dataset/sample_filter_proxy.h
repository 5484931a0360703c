// SampleFilterProxy: sorts by the numbers behind the cells and filters by words and by expressions
// such as `difficulty > 0.7 and kind.shared_memory < 10%` (core/analysis/sample_filter).
#pragma once

#include <optional>
#include <vector>

#include <QSortFilterProxyModel>
#include <QString>
#include <QStringList>

#include "core/analysis/sample_filter.h"
#include "ui/state/analysis_state.h"
#include "ui/state/note_state.h"

namespace cuset {

class SampleFilterProxy : public QSortFilterProxyModel {
    Q_OBJECT
public:
    SampleFilterProxy(Workspace* workspace, AnalysisState* analysis, NoteState* notes,
                      QObject* parent = nullptr);

    // Parts with semicolons between them, which must all hold. One with a comparison or the word
    // quarantined or noted is an expression; words of any other match id, prompt, response, tags
    // and note without regard to case. Returns what is wrong; the filter stays as it was then. ""
    // if all is well.
    QString setFilterText(const QString& text);
    bool hasExpression() const { return !expressions_.empty(); }
    // The names that expressions may use, for the hint.
    static QStringList fieldNames();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    bool holds(int row) const; // of the expressions

    Workspace* workspace_;
    AnalysisState* analysis_;
    NoteState* notes_;
    QStringList words_;
    std::vector<SampleFilter> expressions_;
};

} // namespace cuset
