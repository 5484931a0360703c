// RegionPanel: the table of kinds. A chosen row picks its tokens out everywhere.
#pragma once

#include <QLabel>
#include <QTableView>
#include <QToolButton>
#include <QWidget>

#include "ui/regions/kind_table_model.h"

namespace cuset {

class RegionPanel : public QWidget {
    Q_OBJECT
public:
    RegionPanel(KindFigures* figures, SelectionState* selection, QWidget* parent = nullptr);

    QTableView* tableView() { return table_; }
    KindTableModel* model() { return model_; }
    // Writes the table as CSV; beside and renamed. Says how it went through the signals.
    void exportTo(const QString& path);

signals:
    void previousRequested();
    void nextRequested();
    void exported(const QString& path);
    void exportFailed(const QString& message);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    QFontMetrics boldMetrics() const;
    int figureWidth() const; // of a column of figures
    void chooseExport();
    void showSelected();

    KindFigures* figures_;
    SelectionState* selection_;
    KindTableModel* model_;
    QTableView* table_ = nullptr;
    QLabel* hint_ = nullptr;
    QToolButton* previous_ = nullptr;
    QToolButton* next_ = nullptr;
    QToolButton* clear_ = nullptr;
};

} // namespace cuset
